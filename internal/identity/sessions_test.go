package identity_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/sqlc"
)

func TestTheCookie(t *testing.T) {
	for name, secure := range map[string]bool{"test": false, "__Host-test": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.service = identity.New(w.db.Pools.Identity, identity.Cookie{Name: "test", Secure: secure})
			cookie := w.browser(maria)
			if cookie.Name != name || cookie.Secure != secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("the cookie is %+v", cookie)
			}
		})
	}
}

func TestSessionsAreStoredAsHashes(t *testing.T) {
	w := open(t)
	cookie, bearer := w.browser(maria), w.signIn(paolo, sqlc.SignInKindBearer).Token
	token := w.db.APIToken(t, olu, "read")
	for _, secret := range []string{cookie.Value, bearer, token} {
		for _, table := range []string{"sessions", "sign_ins", "api_tokens"} {
			if n := w.count(`SELECT count(*) FROM `+table+` AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, encode($1::bytea, 'hex')) > 0`, secret); n != 0 {
				t.Errorf("%s holds a secret: %.8s…", table, secret)
			}
		}
	}
}

// A cookie that somebody planted before signing in is worth nothing after it, whether or not it is one of ours.
func TestSigningInGivesANewToken(t *testing.T) {
	w := open(t)
	ofPaolo := w.browser(paolo)
	for name, planted := range map[string]*http.Cookie{
		"made up":              {Name: "test", Value: "planted"},
		"of another's session": ofPaolo,
	} {
		cookie := w.browser(maria, planted)
		if cookie.Value == planted.Value {
			t.Errorf("%s: it stays", name)
		}
		w.wantActor(w.request("", planted), "", identity.ErrUnauthenticated)
		w.wantActor(w.request("", cookie), maria, nil)
	}
	if n := w.count(`SELECT count(*) FROM sign_ins s JOIN users u ON u.id = s.user_id WHERE u.email = $1 AND s.ended_at IS NULL`, paolo); n != 0 {
		t.Error("the sign-in that the browser had before goes on")
	}
}

func TestSigningOutEndsItAtOnce(t *testing.T) {
	w := open(t)
	cookie, bearer, others := w.browser(maria), w.signIn(maria, sqlc.SignInKindBearer).Token, w.browser(maria)
	for name, r := range map[string]*http.Request{"by cookie": w.request("", cookie), "by bearer": w.request(bearer)} {
		answer := httptest.NewRecorder()
		if err := w.service.SignOut(answer, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.wantActor(r, "", identity.ErrUnauthenticated)
		if err := w.service.SignOut(httptest.NewRecorder(), r); !errors.Is(err, identity.ErrUnauthenticated) {
			t.Errorf("%s, again: %v", name, err)
		}
		set := answer.Result().Cookies()
		if byCookie := name == "by cookie"; byCookie && (len(set) != 1 || set[0].MaxAge >= 0 || set[0].Value != "") || !byCookie && len(set) != 0 {
			t.Errorf("%s: it sets %v", name, set)
		}
	}
	w.wantActor(w.request("", others), maria, nil) // the other browser
}

func TestSigningOutByABearerTokenLeavesTheCookieAlone(t *testing.T) {
	w := open(t)
	cookie, bearer := w.browser(maria), w.signIn(paolo, sqlc.SignInKindBearer).Token
	answer := httptest.NewRecorder()
	if err := w.service.SignOut(answer, w.request(bearer, cookie)); err != nil || len(answer.Result().Cookies()) != 0 {
		t.Fatal(err, answer.Result().Cookies())
	}
	w.wantActor(w.request("", cookie), maria, nil)
}

// The client goes while its sign-in is being ended, in a workspace that is gone.
func TestSigningOutNeedsNeitherWorkspaceNorClient(t *testing.T) {
	w := open(t)
	cookie := w.browser(maria)
	w.sql(`UPDATE sign_ins SET workspace_id = NULL`)
	lock, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := lock.Exec(t.Context(), `SELECT FROM sign_ins FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	ctx, gone := context.WithCancel(t.Context())
	r := w.request("", cookie).WithContext(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.service.SignOut(httptest.NewRecorder(), r) }()
	pgtest.WaitBlocked(t, w.db, 1)
	gone()
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	w.wantActor(w.request("", cookie), "", identity.ErrUnauthenticated)
	if n := w.count(`SELECT length(data) FROM sessions`); n != 0 {
		t.Fatal("the session is still there")
	}
}

func TestAnAPITokenSignsNobodyOut(t *testing.T) {
	w := open(t)
	r := w.request(w.db.APIToken(t, maria, "read"))
	if err := w.service.SignOut(httptest.NewRecorder(), r); !errors.Is(err, identity.ErrNotSignIn) {
		t.Fatal(err)
	}
	if _, err := w.service.SwitchWorkspace(httptest.NewRecorder(), r, "harbor-mill"); !errors.Is(err, identity.ErrNotSignIn) {
		t.Fatal(err)
	}
	w.wantActor(r, maria, nil)
}

// A request that began before the sign-out, and writes the session after it, does not bring it back.
func TestASlowRequestDoesNotBringASessionBack(t *testing.T) {
	w := open(t)
	cookie := w.browser(maria)
	sessions := w.service.SessionManager()
	sessions.IdleTimeout = time.Hour // so that every request writes the session
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	slow := sessions.LoadAndSave(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-release
		sessions.Put(r.Context(), "flash", "saved")
		w.WriteHeader(http.StatusOK)
	}))
	go func() {
		defer close(ended)
		slow.ServeHTTP(httptest.NewRecorder(), w.request("", cookie))
	}()
	<-began
	if err := w.service.SignOut(httptest.NewRecorder(), w.request("", cookie)); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-ended
	w.wantActor(w.request("", cookie), "", identity.ErrUnauthenticated)
	if n := w.count(`SELECT length(data) FROM sessions`); n != 0 {
		t.Fatalf("the session holds %d bytes again", n)
	}
}

func TestManyRequestsWriteNoSession(t *testing.T) {
	w := open(t)
	cookie := w.browser(maria)
	before := w.text(`SELECT xmin::text FROM sessions`)
	for range 5 {
		w.wantActor(w.request("", cookie), maria, nil)
	}
	if after := w.text(`SELECT xmin::text FROM sessions`); after != before {
		t.Fatal("reading a session writes it")
	}
}

// A client that has gone does not wait for a connection.
func TestAuthenticatingEndsWithItsRequest(t *testing.T) {
	w := open(t)
	cookie, bearer := w.browser(maria), w.signIn(maria, sqlc.SignInKindBearer).Token
	pool := w.db.Pools.Identity
	for range pool.Config().MaxConns {
		held, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release()
	}
	for _, r := range []*http.Request{w.request("", cookie), w.request(bearer)} {
		ctx, gone := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		go func() {
			_, err := w.service.Authenticate(r.WithContext(ctx))
			answered <- err
		}()
		gone()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("answered %v", err)
		}
	}
}

func TestSwitchingWorkspace(t *testing.T) {
	w := open(t)
	w.sql(`INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, w.id, 'operator' FROM users u, workspaces w WHERE u.email = $1 AND w.slug = 'harbor-mill'`, olu)
	signIn := func(kind sqlc.SignInKind) *http.Request {
		a := attempt(olu, kind)
		a.Workspace = "other-site"
		in, err := w.service.SignIn(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if kind == sqlc.SignInKindBearer {
			return w.request(in.Token)
		}
		answer := httptest.NewRecorder()
		if err := w.service.OpenSession(answer, w.request(""), in); err != nil {
			t.Fatal(err)
		}
		return w.request("", answer.Result().Cookies()...)
	}
	for _, kind := range sqlc.AllSignInKindValues() {
		r := signIn(kind)
		answer := httptest.NewRecorder()
		in, err := w.service.SwitchWorkspace(answer, r, "harbor-mill")
		if err != nil || in.Workspace.Slug != "harbor-mill" || in.Role != sqlc.RoleOperator || len(in.Workspaces) != 2 || in.Token != "" {
			t.Fatalf("%s: %+v, %v", kind, in, err)
		}
		cookies := answer.Result().Cookies()
		if kind == sqlc.SignInKindCookie {
			w.wantActor(r, "", identity.ErrUnauthenticated) // the old cookie
			r = w.request("", cookies...)
		} else if len(cookies) != 0 {
			t.Errorf("%s: it sets %v", kind, cookies)
		}
		if who := w.wantActor(r, olu, nil); who.Workspace().Slug != "harbor-mill" || who.Role() != sqlc.RoleOperator {
			t.Errorf("%s: acts in %s as %s", kind, who.Workspace().Slug, who.Role())
		}
		for slug, want := range map[string]string{"no-such": "FORBIDDEN", "": "INVALID_INPUT", "a\x00": "FORBIDDEN"} {
			var refused *identity.Error
			if _, err := w.service.SwitchWorkspace(httptest.NewRecorder(), r, slug); !errors.As(err, &refused) || refused.Code != want {
				t.Errorf("%s, to %q: %v", kind, slug, err)
			}
		}
		w.wantActor(r, olu, nil)
	}
}

// Who is a member of something, but of the active workspace no longer, gets on by switching.
func TestSwitchingFromAWorkspaceThatIsGone(t *testing.T) {
	w := open(t)
	r := w.request(w.signIn(maria, sqlc.SignInKindBearer).Token)
	w.sql(`UPDATE memberships SET workspace_id = (SELECT id FROM workspaces WHERE slug = 'other-site') WHERE user_id = $1`, w.maria())
	w.wantActor(r, "", identity.ErrNoWorkspace)
	if _, err := w.service.SwitchWorkspace(httptest.NewRecorder(), r, "other-site"); err != nil {
		t.Fatal(err)
	}
	if who := w.wantActor(r, maria, nil); who.Workspace().Slug != "other-site" {
		t.Fatalf("acts in %s", who.Workspace().Slug)
	}
}

func TestErrorsShowNoCauseToPeople(t *testing.T) {
	e := &identity.Error{Code: "UNAVAILABLE", Message: "Try again.", Cause: errors.New("password=secret")}
	if strings.Contains(e.Message, "secret") || !strings.Contains(e.Error(), "secret") {
		t.Fatal(e)
	}
}
