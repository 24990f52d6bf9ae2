package identity_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

func TestSignIn(t *testing.T) {
	w := open(t)
	w.sql(`UPDATE users SET disabled_at = clock_timestamp() WHERE email = 'aiko@harbor.example'`)
	w.sql(`UPDATE users SET password_hash = NULL WHERE email = 'sam@harbor.example'`)
	w.sql(`DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'rosa@harbor.example')`)
	w.sql(`INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, w.id, 'auditor' FROM users u, workspaces w WHERE u.email = $1 AND w.slug = 'other-site'`, paolo)

	type want struct {
		workspace, code, field string
		role                   sqlc.Role
	}
	for name, c := range map[string]struct {
		email, password, workspace string
		want                       want
	}{
		"the only workspace":    {maria, "harbor-mill", "", want{workspace: "harbor-mill", role: sqlc.RoleMember}},
		"a workspace by slug":   {maria, "harbor-mill", "harbor-mill", want{workspace: "harbor-mill", role: sqlc.RoleMember}},
		"an address shouted":    {"  MARIA@Harbor.example", "harbor-mill", "", want{workspace: "harbor-mill", role: sqlc.RoleMember}},
		"one of two":            {paolo, "harbor-mill", "other-site", want{workspace: "other-site", role: sqlc.RoleAuditor}},
		"none of two":           {paolo, "harbor-mill", "", want{code: "INVALID_INPUT", field: "workspace"}},
		"another's workspace":   {maria, "harbor-mill", "other-site", want{code: "FORBIDDEN", field: "workspace"}},
		"no such workspace":     {maria, "harbor-mill", "no-such", want{code: "FORBIDDEN", field: "workspace"}},
		"a workspace with NUL":  {maria, "harbor-mill", "a\x00b", want{code: "FORBIDDEN", field: "workspace"}},
		"no membership":         {"rosa@harbor.example", "harbor-mill", "", want{code: "FORBIDDEN"}},
		"a wrong password":      {olu, "harbor-mil", "", want{code: "UNAUTHENTICATED"}},
		"no such account":       {"nobody@harbor.example", "harbor-mill", "", want{code: "UNAUTHENTICATED"}},
		"a disabled account":    {"aiko@harbor.example", "harbor-mill", "", want{code: "UNAUTHENTICATED"}},
		"a passwordless one":    {"sam@harbor.example", "harbor-mill", "", want{code: "UNAUTHENTICATED"}},
		"no address":            {"", "harbor-mill", "", want{code: "INVALID_INPUT", field: "email"}},
		"no e-mail address":     {"maria", "harbor-mill", "", want{code: "INVALID_INPUT", field: "email"}},
		"an address with NUL":   {"maria\x00@harbor.example", "harbor-mill", "", want{code: "INVALID_INPUT", field: "email"}},
		"no password":           {maria, "", "", want{code: "INVALID_INPUT", field: "password"}},
		"a wrong one elsewhere": {maria, "harbor-mil", "no-such", want{code: "UNAUTHENTICATED"}},
	} {
		w.Run(name, func(t *testing.T) {
			in, err := w.service.SignIn(t.Context(), identity.Attempt{Email: c.email, Password: c.password, Workspace: c.workspace,
				Kind: sqlc.SignInKindBearer, Address: "192.0.2.1", UserAgent: "agent \xff"})
			got := want{}
			var refused *identity.Error
			switch {
			case errors.As(err, &refused):
				got.code, got.field = refused.Code, refused.Field
			case err != nil:
				t.Fatal(err)
			default:
				got.workspace, got.role = in.Workspace.Slug, in.Role
			}
			if got != c.want {
				t.Fatalf("got %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}

func TestASignInLastsTwelveHoursByTheDatabasesClock(t *testing.T) {
	w := open(t)
	w.signIn(maria, sqlc.SignInKindBearer)
	if n := w.count(`SELECT count(*) FROM sign_ins WHERE expires_at - created_at BETWEEN interval '11:59:59' AND interval '12:00:01'`); n != 1 {
		t.Fatal("it lasts another time")
	}
}

// A missing account is worth as much work as another: with no place free to compare a password in, both wait.
func TestAMissingAccountCostsAComparison(t *testing.T) {
	w := open(t)
	w.service.Occupy()
	for _, email := range []string{maria, "nobody@harbor.example"} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := w.service.SignIn(ctx, attempt(email, sqlc.SignInKindBearer))
			done <- err
		}()
		for w.count(`SELECT count(*) FROM sign_in_failures`) == 0 && len(done) == 0 {
			if err := context.Cause(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		var refused *identity.Error
		if err := <-done; !errors.As(err, &refused) || refused.Code != "UNAVAILABLE" {
			t.Errorf("%s: %v", email, err)
		}
		w.sql(`DELETE FROM sign_in_failures`)
	}
}

func guess(w world, email, address, password string) error {
	a := attempt(email, sqlc.SignInKindBearer)
	a.Address, a.Password = address, password
	_, err := w.service.SignIn(w.Context(), a)
	return err
}

// answers counts wrong passwords, refusals to look and successes.
type answers struct{ wrong, slowed, right int }

func (a *answers) add(t *testing.T, err error) {
	t.Helper()
	var slow *identity.TooManyAttempts
	switch {
	case err == nil:
		a.right++
	case errors.Is(err, identity.ErrWrongPassword):
		a.wrong++
	case errors.As(err, &slow) && slow.RetryAfter > 0:
		a.slowed++
	default:
		t.Errorf("a guess was answered %v", err)
	}
}

func TestTwentyGuessesAtOnceAreSlowedLikeTwentyInARow(t *testing.T) {
	w := open(t)
	w.service.WaitAfter(5, 1000, time.Hour)
	var got answers
	var lock sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := guess(w, maria, "192.0.2.7", "not it")
			lock.Lock()
			defer lock.Unlock()
			got.add(t, err)
		})
	}
	all.Wait()
	if want := (answers{wrong: 6, slowed: 14}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if err := guess(w, maria, "198.51.100.1", "harbor-mill"); !errors.As(err, new(*identity.TooManyAttempts)) {
		t.Fatalf("a right password, from elsewhere, while the account has to wait: %v", err)
	}
	if err := guess(w, paolo, "192.0.2.7", "harbor-mill"); err != nil {
		t.Fatalf("another account: %v", err)
	}
}

func TestTwentyRightPasswordsAtOnceAllPass(t *testing.T) {
	w := open(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := guess(w, maria, "192.0.2.7", "harbor-mill"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestAnAddressIsSlowedOverManyAccounts(t *testing.T) {
	w := open(t)
	w.service.WaitAfter(1000, 3, time.Hour)
	var got answers
	for _, email := range []string{maria, paolo, olu, "a@b", "c@d", "e@f"} {
		got.add(t, guess(w, email, "2001:db8::1", "not it"))
	}
	if want := (answers{wrong: 4, slowed: 2}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if err := guess(w, maria, "2001:db8::ffff:2", "harbor-mill"); !errors.As(err, new(*identity.TooManyAttempts)) {
		t.Fatalf("from the same network: %v", err)
	}
	if err := guess(w, maria, "2001:db8:0:1::1", "harbor-mill"); err != nil {
		t.Fatalf("from another network: %v", err)
	}
}

func TestARefusedGuessCountsNothing(t *testing.T) {
	w := open(t)
	w.service.WaitAfter(1000, 0, time.Hour)
	for range 3 {
		_ = guess(w, maria, "192.0.2.7", "not it")
	}
	if n := w.count(`SELECT sum(failures) FROM sign_in_failures`); n != 2 {
		t.Fatalf("%d were counted for account and address together, not 2", n)
	}
}

// Signing in clears one's account, and gives the address back that one attempt and no more.
func TestASuccessClearsTheAccountNotTheAddress(t *testing.T) {
	w := open(t)
	w.service.WaitAfter(2, 4, time.Hour)
	const address = "192.0.2.7"
	var got answers
	for range 2 {
		got.add(t, guess(w, maria, address, "not it"))
		got.add(t, guess(w, maria, address, "not it"))
		got.add(t, guess(w, maria, address, "harbor-mill"))
	}
	if want := (answers{wrong: 4, right: 2}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for range 8 { // an office full of people
		if err := guess(w, paolo, address, "harbor-mill"); err != nil {
			t.Fatalf("right passwords count: %v", err)
		}
	}
	got = answers{}
	got.add(t, guess(w, olu, address, "not it"))
	got.add(t, guess(w, olu, address, "not it"))
	if want := (answers{wrong: 1, slowed: 1}); got != want {
		t.Fatalf("after four wrong ones from the address: got %+v, want %+v", got, want)
	}
}

func TestWaitsDoubleAndAreForgottenAfterAnHour(t *testing.T) {
	w := open(t)
	w.service.WaitAfter(1, 1000, time.Hour)
	for _, want := range []int{0, 1, 2, 4} {
		_ = guess(w, maria, "192.0.2.7", "not it")
		if got := w.count(`SELECT round(extract(epoch FROM max(blocked_until - last_at)) / 3600)::int FROM sign_in_failures`); got != want {
			t.Fatalf("a wait of %d h, not %d", got, want)
		}
		w.sql(`UPDATE sign_in_failures SET blocked_until = clock_timestamp()`)
	}
	w.sql(`UPDATE sign_in_failures SET last_at = last_at - interval '61 minutes'`)
	_ = guess(w, maria, "192.0.2.7", "not it")
	if got := w.count(`SELECT max(failures) FROM sign_in_failures`); got != 1 {
		t.Fatalf("%d failures after an hour of silence", got)
	}
}

func TestNoAddressOrAccountCanBeReadFromTheCounts(t *testing.T) {
	w := open(t)
	_ = guess(w, maria, "192.0.2.7", "not it")
	if n := w.count(`SELECT count(*) FROM sign_in_failures WHERE length(subject) = 32`); n != 2 {
		t.Fatalf("%d hashes, not 2", n)
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8::1": "2001:db8::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "@": "@",
	} {
		if got := identity.Network(address); got != want {
			t.Errorf("Network(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestSweepRemovesWhatHasNoEffect(t *testing.T) {
	w := open(t)
	w.browser(maria)
	w.browser(paolo)
	_ = guess(w, maria, "192.0.2.7", "not it")
	w.sql(`UPDATE sessions SET expiry = clock_timestamp() - interval '1 second' WHERE token = (SELECT min(token) FROM sessions)`)
	w.sql(`UPDATE sign_in_failures SET last_at = last_at - interval '2 hours'`)
	if err := w.service.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sessions, failures := w.count(`SELECT count(*) FROM sessions`), w.count(`SELECT count(*) FROM sign_in_failures`); sessions != 1 || failures != 0 {
		t.Fatalf("%d sessions and %d counts are left", sessions, failures)
	}
}
