package identity

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/countersign/countersign/sqlc"
)

// Credential names what somebody acts by: a sign-in or an API token.
type Credential uuid.UUID

// CredentialOf gives what someone acts by; the zero Credential for nobody.
func CredentialOf(who Actor) Credential {
	if !who.Token().IsZero() {
		return Credential(who.Token().UUID())
	}
	return Credential(who.SignIn().UUID())
}

// Standing is someone as they are now, or why they act no longer: ErrUnauthenticated where the credential
// has ended, ErrNoWorkspace where they are no longer a member or act in another workspace.
type Standing struct {
	Who Actor
	Err error
}

// Standing tells what has become of people and tokens who acted before, in one query for all of them. It is
// for what goes on after the request that was authenticated.
func (s *Service) Standing(ctx context.Context, before []Actor) (map[Credential]Standing, error) {
	params := sqlc.StandingParams{SignIns: []uuid.UUID{}, Tokens: []uuid.UUID{}}
	now := make(map[Credential]Standing, len(before))
	acting := make(map[Credential]Actor, len(before))
	for _, who := range before {
		c := CredentialOf(who)
		now[c], acting[c] = Standing{Err: ErrUnauthenticated}, who
		if who.Token().IsZero() {
			params.SignIns = append(params.SignIns, uuid.UUID(c))
		} else {
			params.Tokens = append(params.Tokens, uuid.UUID(c))
		}
	}
	rows, err := s.queries.Standing(ctx, s.db, params)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, row := range rows {
		c := Credential(row.Credential)
		who, err := again(acting[c], row)
		now[c] = Standing{Who: who, Err: err}
	}
	return now, nil
}

// StandingOf tells what has become of one.
func (s *Service) StandingOf(ctx context.Context, before Actor) (Actor, error) {
	now, err := s.Standing(ctx, []Actor{before})
	if err != nil {
		return nil, err
	}
	one := now[CredentialOf(before)]
	return one.Who, one.Err
}

var errNoActor = errors.New("identity: an actor of an unknown kind")

// again makes an actor anew from what its row says now.
func again(before Actor, row *sqlc.StandingRow) (Actor, error) {
	switch {
	case !row.Live || row.OfUser != before.User().ID.UUID():
		return nil, ErrUnauthenticated
	case row.Role == "" || row.InWorkspace != before.Workspace().ID.UUID():
		return nil, ErrNoWorkspace
	}
	switch now := before.(type) {
	case Person:
		now.role = sqlc.Role(row.Role)
		return now, nil
	case Agent:
		now.role, now.scopes = sqlc.Role(row.Role), row.Scopes
		return now, nil
	}
	return nil, errNoActor
}
