package identity

import (
	"context"
	"net/http"
	"time"

	"github.com/countersign/countersign/sqlc"
)

// SignOut ends the sign-in that the request acts by: no later request acts by it. The cookie, if that
// is what it acts by, is taken from the browser. No workspace need be active.
func (s *Service) SignOut(w http.ResponseWriter, r *http.Request) error {
	row, err := s.signedIn(r)
	if err != nil {
		return err
	}
	ctx, cancel := finishing(r.Context())
	defer cancel()
	if _, err := s.queries.EndSignIn(ctx, s.db, row.SignInID); err != nil {
		return unavailable(err)
	}
	if !s.ByCookie(r) {
		return nil
	}
	return s.closeSession(ctx, w, r)
}

// closeSession leaves a tombstone where the session was.
func (s *Service) closeSession(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	ctx, err := s.loaded(ctx, r)
	if err != nil {
		return err
	}
	if err := s.sessions.Destroy(ctx); err != nil {
		return unavailable(err)
	}
	s.sessions.WriteSessionCookie(ctx, w, "", time.Time{})
	return nil
}

// SwitchWorkspace makes another workspace the active one of the request's sign-in. Where that is by
// cookie, the browser gets a new one, as when signing in. ErrNotMember changes nothing.
func (s *Service) SwitchWorkspace(w http.ResponseWriter, r *http.Request, slug string) (*SignedIn, error) {
	row, err := s.signedIn(r)
	if err != nil {
		return nil, err
	}
	in, err := s.move(r.Context(), row, slug)
	if err != nil || !s.ByCookie(r) {
		return in, err
	}
	ctx, err := s.loaded(r.Context(), r)
	if err != nil {
		return nil, err
	}
	return in, s.renew(ctx, w, in)
}

func (s *Service) move(ctx context.Context, row *sqlc.PersonBySignInRow, slug string) (*SignedIn, error) {
	if slug == "" {
		return nil, invalid("workspace", "Say which workspace.")
	}
	list, err := s.Memberships(ctx, row.UserID)
	if err != nil {
		return nil, err
	}
	to, err := choose(list, slug)
	if err != nil {
		return nil, err
	}
	moved, err := s.queries.SwitchWorkspace(ctx, s.db, sqlc.SwitchWorkspaceParams{
		ID: row.SignInID, UserID: row.UserID, WorkspaceID: to.Workspace.ID})
	switch {
	case err != nil:
		return nil, unavailable(err)
	case moved == 0: // signed out or removed in this very moment
		return nil, ErrUnauthenticated
	}
	return &SignedIn{
		SignIn: row.SignInID, ExpiresAt: row.ExpiresAt, User: User{row.UserID, row.Name, row.Email},
		Workspace: to.Workspace, Role: to.Role, Workspaces: workspaces(list),
	}, nil
}
