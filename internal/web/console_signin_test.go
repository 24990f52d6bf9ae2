package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/demo"
)

func TestWhoIsNotSignedInIsAskedToAndComesBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	b := s.browser()
	door := b.get(path).is(http.StatusOK)
	door.says("Sign in")
	door.saysNot("session has ended")
	wrong := b.press(door, "/sign-in", "email", "maria@harbor.example", "password", "no")
	wrong.is(http.StatusUnauthorized).says("The e-mail address or the password is wrong.")
	if got := wrong.form("/sign-in"); got.Get("email") != "maria@harbor.example" || got.Get("password") != "" || got.Get("next") != path {
		t.Errorf("the form is filled in with %v", got)
	}
	in := b.press(wrong, "/sign-in", "password", demo.Password)
	if in.is(http.StatusOK); in.path != path {
		t.Errorf("it went on at %s", in.path)
	}
	if again := b.get("/sign-in"); again.path != "/inbox" {
		t.Errorf("who is signed in is shown %s", again.path)
	}
}

func TestTheSameAnswerWhetherOrNotThereIsAnAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.browser().post("/sign-in", url.Values{"email": {"maria@harbor.example"}, "password": {"no"}})
	b := s.browser().post("/sign-in", url.Values{"email": {"nobody@harbor.example"}, "password": {"no"}})
	if a.status != b.status || len(a.body) != len(b.body)-1 {
		t.Errorf("%d with %d bytes, and %d with %d", a.status, len(a.body), b.status, len(b.body))
	}
}

func TestTooManyWrongPasswordsHaveToWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, form := s.browser(), url.Values{"email": {"maria@harbor.example"}, "password": {"no"}}
	for range 10 {
		if page := b.post("/sign-in", form); page.status == http.StatusTooManyRequests {
			page.says("Try again in")
			if page.header.Get("Retry-After") == "" {
				t.Error("it does not say when")
			}
			return
		}
	}
	t.Error("ten wrong passwords went through")
}

func TestSigningOutEndsAllOfIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria, other := s.as("maria@harbor.example"), s.as("maria@harbor.example")
	tab := maria.get(path)
	stays := &browser{s: s, header: maria.header, client: &http.Client{
		Jar: maria.client.Jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	out := stays.press(tab, "/sign-out").is(http.StatusSeeOther)
	if got := out.header.Get("Location") + " " + out.header.Get("Clear-Site-Data"); got != `/sign-in "cache"` {
		t.Errorf("signing out answers %s", got)
	}
	maria.get(path).says("Sign in")
	late := maria.press(tab, path+"/confirm")
	late.is(http.StatusOK).says("Sign in")
	if got := late.form("/sign-in").Get("next"); got != path {
		t.Errorf("after signing in it would go on at %s", got)
	}
	other.get(path).says("Confirm")
	s.exec(`UPDATE countersign.sign_ins SET ended_at = clock_timestamp() WHERE ended_at IS NULL`)
	other.get(path).says("Your session has ended.")
	if n := s.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "0" {
		t.Errorf("%s decisions", n)
	}
}

func TestWorkspacesAreChosenAndLost(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.exec(`INSERT INTO countersign.memberships (user_id, workspace_id, role)
		SELECT u.id, w.id, 'member' FROM countersign.users u, countersign.workspaces w WHERE u.email = 'maria@harbor.example' AND w.slug = 'other-site'`)
	b := s.browser()
	asked := b.post("/sign-in", url.Values{"email": {"maria@harbor.example"}, "password": {demo.Password}})
	asked.is(http.StatusBadRequest).says("several workspaces")
	in := b.press(asked, "/sign-in", "password", demo.Password, "workspace", "harbor-mill")
	in.says("Harbor Mill", "Switch to")
	b.press(in, "/workspace").is(http.StatusOK).says("You are in another workspace now.")
	b.post("/workspace", url.Values{"workspace": {"nowhere"}}).is(http.StatusForbidden)
	b.get("/workspace").is(http.StatusOK).says("Choose a workspace")
	s.exec(`DELETE FROM countersign.memberships WHERE workspace_id = (SELECT id FROM countersign.workspaces WHERE slug = 'other-site')`)
	lost := b.get("/inbox")
	lost.says("no workspace is active")
	b.press(lost, "/workspace", "workspace", "harbor-mill").is(http.StatusOK).says("Waiting for you")
}
