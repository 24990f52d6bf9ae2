package identity

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Cookie is how the console's session cookie is called. The zero value stands for no cookie: then only
// bearer tokens count.
type Cookie struct {
	// Name tells two servers on one host apart.
	Name string
	// Secure is for everywhere but loopback. The name then begins with __Host-, which no subdomain
	// can set.
	Secure bool
}

// FullName is the name that browsers see; empty for no cookie.
func (c Cookie) FullName() string {
	if c.Secure && c.Name != "" {
		return "__Host-" + c.Name
	}
	return c.Name
}

// What a session holds: a sign-in, and whose it is. Whether it still counts is in our own row.
const (
	signInKey = "sign_in"
	userKey   = "user"
)

func newSessions(db *pgxpool.Pool, cookie Cookie) *scs.SessionManager {
	// Not scs.New, which starts a goroutine for a store that is not used here.
	return &scs.SessionManager{
		Store:            store{db: db, queries: sqlc.New()},
		Codec:            codec{},
		HashTokenInStore: true,
		Lifetime:         Lifetime, // and no IdleTimeout, which would write the session at every request
		Cookie: scs.SessionCookie{
			Name: cookie.FullName(), Path: "/", Secure: cookie.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode, Persist: true,
		},
	}
}

// store keeps sessions in our table, under their hashes. A session that ended stays ended: see
// CommitSession.
type store struct {
	db      *pgxpool.Pool
	queries *sqlc.Queries
}

var _ scs.CtxStore = store{}

// FindCtx gives a session that has not ended.
func (s store) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, err := s.queries.FindSession(ctx, s.db, token)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx stores a session, unless it has ended.
func (s store) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return s.queries.CommitSession(ctx, s.db, sqlc.CommitSessionParams{Token: token, Data: data, Expiry: expiry})
}

// DeleteCtx ends a session, also for a client that has gone.
func (s store) DeleteCtx(ctx context.Context, token string) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	return s.queries.DestroySession(ctx, s.db, token)
}

// Find is not called where there is FindCtx; the same holds for Commit and Delete.
func (s store) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx.
func (s store) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx.
func (s store) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// codec takes a session that cannot be read for one that holds nothing.
type codec struct{ scs.GobCodec }

// Decode gives what was stored.
func (c codec) Decode(stored []byte) (time.Time, map[string]any, error) {
	if deadline, values, err := c.GobCodec.Decode(stored); err == nil && values != nil {
		return deadline, values, nil
	}
	return time.Time{}, map[string]any{}, nil
}

// finishing is for what must be ended although its client has gone.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// loaded gives a context with the session of the request's cookie, an empty one where there is none.
func (s *Service) loaded(ctx context.Context, r *http.Request) (context.Context, error) {
	token := ""
	if cookie, err := r.Cookie(s.sessions.Cookie.Name); err == nil {
		token = cookie.Value
	}
	ctx, err := s.sessions.Load(ctx, token)
	if err != nil {
		return nil, unavailable(err)
	}
	return ctx, nil
}

// held gives what a loaded session holds; zero values for an empty one.
func (s *Service) held(ctx context.Context) (signIn id.SignIn, user id.User) {
	signIn, _ = id.ParseSignIn(s.sessions.GetString(ctx, signInKey))
	user, _ = id.ParseUser(s.sessions.GetString(ctx, userKey))
	return signIn, user
}

// OpenSession hands a cookie sign-in to the browser, under a token that nobody knew before. A sign-in
// that the browser had until now ends.
func (s *Service) OpenSession(w http.ResponseWriter, r *http.Request, in *SignedIn) error {
	ctx, err := s.loaded(r.Context(), r)
	if err != nil {
		return err
	}
	if before, _ := s.held(ctx); !before.IsZero() && before != in.SignIn {
		if _, err := s.queries.EndSignIn(ctx, s.db, before); err != nil {
			return unavailable(err)
		}
	}
	return s.renew(ctx, w, in)
}

func (s *Service) renew(ctx context.Context, w http.ResponseWriter, in *SignedIn) error {
	if err := s.sessions.RenewToken(ctx); err != nil {
		return unavailable(err)
	}
	_ = s.sessions.Clear(ctx) // never fails
	s.sessions.Put(ctx, signInKey, in.SignIn.String())
	s.sessions.Put(ctx, userKey, in.User.ID.String())
	token, expiry, err := s.sessions.Commit(ctx)
	if err != nil {
		return unavailable(err)
	}
	s.sessions.WriteSessionCookie(ctx, w, token, expiry)
	return nil
}
