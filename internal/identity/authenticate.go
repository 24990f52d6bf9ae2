package identity

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/sqlc"
)

// Authenticate says who a request acts for: a Person for a live sign-in with a membership in its
// workspace, an Agent for an API token. Where there is an Authorization header it alone counts, and a
// cookie is not read. Otherwise the answer is ErrUnauthenticated, ErrNoWorkspace, ErrForeignCredential,
// or UNAVAILABLE where the database did not answer.
func (s *Service) Authenticate(r *http.Request) (Actor, error) {
	if secret, ok := bearer(r); ok && strings.HasPrefix(secret, tokenPrefix) {
		return s.agent(r, secret)
	}
	row, err := s.signedIn(r)
	if err != nil {
		return nil, err
	}
	if row.Role == nil || row.Slug == nil || row.WorkspaceName == nil {
		return nil, ErrNoWorkspace
	}
	return Person{
		actor: actor{
			user:      User{row.UserID, row.Name, row.Email},
			workspace: Workspace{row.WorkspaceID, *row.Slug, *row.WorkspaceName},
			role:      *row.Role,
			address:   Address(r),
			expiresAt: &row.ExpiresAt,
		},
		signIn: row.SignInID,
	}, nil
}

// ByCookie tells whether the session cookie is what a request would act by. Such a request may have been
// sent by another site.
func (s *Service) ByCookie(r *http.Request) bool {
	if _, there := r.Header["Authorization"]; there {
		return false
	}
	_, err := r.Cookie(s.sessions.Cookie.Name)
	return err == nil
}

// signedIn gives the live sign-in of a request, whether or not a workspace is active in it.
func (s *Service) signedIn(r *http.Request) (*sqlc.PersonBySignInRow, error) {
	if _, there := r.Header["Authorization"]; !there {
		return s.byCookie(r.Context(), r)
	}
	secret, ok := bearer(r)
	switch {
	case ok && strings.HasPrefix(secret, tokenPrefix):
		if _, err := s.agent(r, secret); err != nil {
			return nil, err
		}
		return nil, ErrNotSignIn
	case ok:
		return s.byBearer(r.Context(), secret)
	}
	return nil, ErrUnauthenticated
}

func (s *Service) byBearer(ctx context.Context, secret string) (*sqlc.PersonBySignInRow, error) {
	owner, ok := ownerOf(signInPrefix, secret)
	if !ok {
		return nil, ErrUnauthenticated
	}
	row, err := s.queries.PersonByToken(ctx, s.db, secretHash(secret))
	return live((*sqlc.PersonBySignInRow)(row), err, owner)
}

func (s *Service) byCookie(ctx context.Context, r *http.Request) (*sqlc.PersonBySignInRow, error) {
	ctx, err := s.loaded(ctx, r)
	if err != nil {
		return nil, err
	}
	signIn, user := s.held(ctx)
	if signIn.IsZero() {
		return nil, ErrUnauthenticated
	}
	row, err := s.queries.PersonBySignIn(ctx, s.db, signIn)
	return live(row, err, user.UUID())
}

// live refuses a sign-in that is not there, and one whose row names somebody else than its credential.
func live(row *sqlc.PersonBySignInRow, err error, owner uuid.UUID) (*sqlc.PersonBySignInRow, error) {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrUnauthenticated
	case err != nil:
		return nil, unavailable(err)
	case row.UserID.UUID() != owner:
		return nil, ErrForeignCredential
	}
	return row, nil
}

// agent gives whom an API token acts for. That it was used is noted at most once a minute.
func (s *Service) agent(r *http.Request, secret string) (Actor, error) {
	ctx := r.Context()
	owner, ok := ownerOf(tokenPrefix, secret)
	if !ok {
		return nil, ErrUnauthenticated
	}
	row, err := s.queries.AgentByToken(ctx, s.db, secretHash(secret))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrUnauthenticated
	case err != nil:
		return nil, unavailable(err)
	case row.UserID.UUID() != owner:
		return nil, ErrForeignCredential
	}
	if row.Stale {
		if err := s.queries.TouchToken(ctx, s.db, row.TokenID); err != nil {
			return nil, unavailable(err)
		}
	}
	return Agent{
		actor: actor{
			user:      User{row.UserID, row.Name, row.Email},
			workspace: Workspace{row.WorkspaceID, row.Slug, row.WorkspaceName},
			role:      row.Role,
			address:   Address(r),
			expiresAt: row.ExpiresAt,
		},
		token:  row.TokenID,
		scopes: row.Scopes,
		name:   row.TokenName,
	}, nil
}

// bearer gives the token of the Authorization header; false where there is none, or anything else.
func bearer(r *http.Request) (string, bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, found && strings.EqualFold(scheme, "Bearer") && token != ""
}

// Address is where a request came from: the other end of the connection, without its port.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
