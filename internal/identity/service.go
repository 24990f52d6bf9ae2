package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Lifetime is how long a sign-in lasts, however much it is used.
const Lifetime = 12 * time.Hour

// Service signs people in and says who a request acts for.
type Service struct {
	db        *pgxpool.Pool
	queries   *sqlc.Queries
	passwords verifier
	byAccount limit
	byAddress limit
	waiting   *queue
	sessions  *scs.SessionManager
}

// New gives the service on the identity login's pool, with the console's cookie as said.
func New(db *pgxpool.Pool, cookie Cookie) *Service {
	return &Service{
		db:        db,
		queries:   sqlc.New(),
		waiting:   newQueue(),
		passwords: newVerifier(),
		byAccount: limit{free: 5, first: 2 * time.Second, longest: 5 * time.Minute},
		byAddress: limit{free: 20, first: 2 * time.Second, longest: 5 * time.Minute},
		sessions:  newSessions(db, cookie),
	}
}

// Membership is a workspace of which someone is a member, and as what.
type Membership struct {
	Workspace Workspace
	Role      sqlc.Role
}

// Memberships lists a user's, by slug.
func (s *Service) Memberships(ctx context.Context, user id.User) ([]Membership, error) {
	return memberships(ctx, s.db, user)
}

func memberships(ctx context.Context, db sqlc.DBTX, user id.User) ([]Membership, error) {
	rows, err := sqlc.New().ListMembershipsOfUser(ctx, db, user)
	if err != nil {
		return nil, unavailable(err)
	}
	list := make([]Membership, len(rows))
	for i, row := range rows {
		list[i] = Membership{Workspace{row.WorkspaceID, row.Slug, row.Name}, row.Role}
	}
	return list, nil
}

// choose picks the membership with this slug, or the only one there is where slug is empty.
func choose(list []Membership, slug string) (Membership, error) {
	if slug == "" {
		switch len(list) {
		case 0:
			return Membership{}, ErrNoWorkspace
		case 1:
			return list[0], nil
		}
		return Membership{}, invalid("workspace", "There are several workspaces to choose from: say which.")
	}
	for _, one := range list {
		if one.Workspace.Slug == slug {
			return one, nil
		}
	}
	return Membership{}, ErrNotMember
}

// Sweep removes sessions that have expired and counts of wrong passwords that no longer matter. What it
// removes was without effect already.
func (s *Service) Sweep(ctx context.Context) error {
	_, sessions := s.queries.SweepSessions(ctx, s.db)
	_, failures := s.queries.SweepSignInFailures(ctx, s.db)
	if err := errors.Join(sessions, failures); err != nil {
		return fmt.Errorf("sweep sessions: %w", err)
	}
	return nil
}
