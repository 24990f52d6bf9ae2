package identity_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Every way in which a request names a person: what it holds, and what ends it.
func TestAPersonIsMadeOnlyFromALiveSignIn(t *testing.T) {
	const ofMaria = ` WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`
	for name, c := range map[string]struct {
		deed string
		want error
	}{
		"nothing happened":       {"", nil},
		"the sign-in ended":      {`UPDATE sign_ins SET ended_at = clock_timestamp()` + ofMaria, identity.ErrUnauthenticated},
		"the sign-in expired":    {`UPDATE sign_ins SET expires_at = clock_timestamp()` + ofMaria, identity.ErrUnauthenticated},
		"the user was disabled":  {`UPDATE users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`, identity.ErrUnauthenticated},
		"the membership is gone": {`DELETE FROM memberships` + ofMaria, identity.ErrNoWorkspace},
		"no workspace is active": {`UPDATE sign_ins SET workspace_id = NULL` + ofMaria, identity.ErrNoWorkspace},
		"another's workspace":    {`UPDATE sign_ins SET workspace_id = (SELECT id FROM workspaces WHERE slug = 'other-site')` + ofMaria, identity.ErrNoWorkspace},
		"the row names another":  {`UPDATE sign_ins SET user_id = (SELECT id FROM users WHERE email = 'paolo@harbor.example')` + ofMaria, identity.ErrForeignCredential},
		"the role is another":    {`UPDATE memberships SET role = 'auditor'` + ofMaria, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			requests := []*http.Request{w.request("", w.browser(maria)), w.request(w.signIn(maria, sqlc.SignInKindBearer).Token)}
			for _, r := range requests {
				person, is := w.wantActor(r, maria, nil).(identity.Person)
				if !is || !person.Live() || person.Role() != sqlc.RoleMember || person.Workspace().Slug != "harbor-mill" || person.Address() != "192.0.2.1" || person.ExpiresAt() == nil {
					t.Fatalf("signed in as %+v", person)
				}
			}
			if c.deed != "" {
				w.sql(c.deed)
			}
			for _, r := range requests {
				after := w.wantActor(r, maria, c.want)
				if name == "the role is another" && after.Role() != sqlc.RoleAuditor {
					t.Fatalf("the role is still %s", after.Role())
				}
			}
		})
	}
}

func TestWhatATokenIsTakenFor(t *testing.T) {
	w := open(t)
	signIn := w.signIn(maria, sqlc.SignInKindBearer).Token
	token := w.db.APIToken(t, paolo, "read")
	cookie := w.browser(olu)
	for name, c := range map[string]struct {
		header []string
		email  string // of whom it acts for; empty for nobody
	}{
		"no header":               {nil, olu},
		"a sign-in":               {[]string{"Bearer " + signIn}, maria},
		"in small letters":        {[]string{"bearer " + signIn}, maria},
		"two spaces":              {[]string{"Bearer  " + signIn}, maria},
		"an API token":            {[]string{"Bearer " + token}, paolo},
		"an empty header":         {[]string{""}, ""},
		"no scheme":               {[]string{signIn}, ""},
		"another scheme":          {[]string{"Basic " + signIn}, ""},
		"no token":                {[]string{"Bearer "}, ""},
		"a token and more":        {[]string{"Bearer " + signIn + " " + token}, ""},
		"two headers":             {[]string{"Bearer " + signIn, "Bearer " + signIn}, ""},
		"cut":                     {[]string{"Bearer " + signIn[:len(signIn)-1]}, ""},
		"mistyped":                {[]string{"Bearer " + signIn[:20] + "-" + signIn[21:]}, ""},
		"unknown":                 {[]string{"Bearer " + identity.NewSignInSecret(w.maria())}, ""},
		"an unknown API token":    {[]string{"Bearer " + identity.NewTokenSecret(w.maria())}, ""},
		"of the other kind":       {[]string{"Bearer csa_" + signIn[4:]}, ""},
		"of the other kind still": {[]string{"Bearer css_" + token[4:]}, ""},
		"another token's end":     {[]string{"Bearer " + signIn[:len(signIn)-6] + token[len(token)-6:]}, ""},
		"a cookie's value":        {[]string{"Bearer " + cookie.Value}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.request("", cookie) // good, and not read where there is a header
			if c.header != nil {
				r.Header["Authorization"] = c.header
			}
			who, err := w.service.Authenticate(r)
			switch {
			case c.email == "" && !errors.Is(err, identity.ErrUnauthenticated):
				t.Fatalf("acts for %v, error %v", who, err)
			case c.email != "" && (err != nil || who.User().Email != c.email):
				t.Fatalf("acts for %v, error %v; want %s", who, err, c.email)
			}
			if w.service.ByCookie(r) != (c.header == nil) {
				t.Fatal("what the request acts by is taken for something else")
			}
		})
	}
}

func TestWhatACookieIsTakenFor(t *testing.T) {
	w := open(t)
	cookie := w.browser(maria)
	with := func(name, value string) *http.Cookie { return &http.Cookie{Name: name, Value: value} }
	for name, c := range map[string]struct {
		cookie *http.Cookie
		email  string
	}{
		"good":              {cookie, maria},
		"another name":      {with("session", cookie.Value), ""},
		"changed":           {with("test", cookie.Value[1:]+cookie.Value[:1]), ""},
		"empty":             {with("test", ""), ""},
		"a bearer token":    {with("test", w.signIn(maria, sqlc.SignInKindBearer).Token), ""},
		"the hash of it":    {with("test", w.text(`SELECT token FROM sessions`)), ""},
		"NUL, percent, %00": {with("test", "%00%s"), ""},
	} {
		r := w.request("", c.cookie)
		who, err := w.service.Authenticate(r)
		if c.email == "" && !errors.Is(err, identity.ErrUnauthenticated) || c.email != "" && (err != nil || who.User().Email != c.email) {
			t.Errorf("%s: acts for %v, error %v", name, who, err)
		}
	}
}

// What stands in the session is only a pointer: to change it does not make another person.
func TestATamperedSessionIsNobody(t *testing.T) {
	w := open(t)
	cookie, other := w.browser(maria), w.signIn(paolo, sqlc.SignInKindBearer)
	bearerOfMaria := w.signIn(maria, sqlc.SignInKindBearer)
	cookieOfPaolo := w.signIn(paolo, sqlc.SignInKindCookie)
	for name, c := range map[string]struct {
		signIn, user string
		want         error
	}{
		"another's sign-in":     {cookieOfPaolo.SignIn.String(), bearerOfMaria.User.ID.String(), identity.ErrForeignCredential},
		"another's bearer":      {other.SignIn.String(), other.User.ID.String(), identity.ErrUnauthenticated},
		"one's own bearer":      {bearerOfMaria.SignIn.String(), bearerOfMaria.User.ID.String(), identity.ErrUnauthenticated},
		"no sign-in":            {"", bearerOfMaria.User.ID.String(), identity.ErrUnauthenticated},
		"an id of another noun": {bearerOfMaria.User.ID.String(), bearerOfMaria.User.ID.String(), identity.ErrUnauthenticated},
	} {
		manager := w.service.SessionManager()
		ctx, err := manager.Load(t.Context(), cookie.Value)
		if err != nil {
			t.Fatal(err)
		}
		manager.Put(ctx, "sign_in", c.signIn)
		manager.Put(ctx, "user", c.user)
		if _, _, err := manager.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := w.service.Authenticate(w.request("", cookie)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	w.sql(`UPDATE sessions SET data = 'not a session'`)
	w.wantActor(w.request("", cookie), "", identity.ErrUnauthenticated)
	w.wantActor(w.request("", w.browser(maria, cookie)), maria, nil)
}

func TestAnAgentIsMadeOnlyFromALiveToken(t *testing.T) {
	const ofMaria = ` WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`
	for name, c := range map[string]struct {
		deed string
		want error
	}{
		"nothing happened":       {"", nil},
		"it was revoked":         {`UPDATE api_tokens SET revoked_at = clock_timestamp()`, identity.ErrUnauthenticated},
		"it expired":             {`UPDATE api_tokens SET expires_at = clock_timestamp()`, identity.ErrUnauthenticated},
		"the user was disabled":  {`UPDATE users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`, identity.ErrUnauthenticated},
		"the membership is gone": {`DELETE FROM memberships` + ofMaria, identity.ErrUnauthenticated},
		"the row names another":  {`UPDATE api_tokens SET user_id = (SELECT id FROM users WHERE email = 'paolo@harbor.example')`, identity.ErrForeignCredential},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			r := w.request(w.db.APIToken(t, maria, "read", "propose"))
			agent, is := w.wantActor(r, maria, nil).(identity.Agent)
			if !is || agent.Token().IsZero() || !agent.SignIn().IsZero() || agent.Name() != "pgtest" || agent.ExpiresAt() != nil {
				t.Fatalf("the token acts as %+v", agent)
			}
			if !agent.May(identity.ScopeRead) || !agent.May(identity.ScopePropose) || agent.May(identity.ScopeSubscribe) {
				t.Fatal("it has other scopes")
			}
			if c.deed != "" {
				w.sql(c.deed)
			}
			w.wantActor(r, maria, c.want)
		})
	}
}

func TestThatATokenWasUsedIsNotedOnceAMinute(t *testing.T) {
	w := open(t)
	r := w.request(w.db.APIToken(t, maria, "read"))
	w.wantActor(r, maria, nil)
	first := w.text(`SELECT last_used_at::text FROM api_tokens`)
	w.wantActor(r, maria, nil)
	if again := w.text(`SELECT last_used_at::text FROM api_tokens`); again != first {
		t.Fatalf("noted at %s and at %s", first, again)
	}
	w.sql(`UPDATE api_tokens SET last_used_at = last_used_at - interval '61 seconds'`)
	w.wantActor(r, maria, nil)
	if again := w.text(`SELECT last_used_at::text FROM api_tokens`); again <= first {
		t.Fatalf("not noted again after a minute: %s", again)
	}
}

func TestNobodyActs(t *testing.T) {
	reason := errors.New("because")
	for name, c := range map[string]struct {
		ctx  func() context.Context
		want error
	}{
		"nothing known":   {t.Context, identity.ErrUnauthenticated},
		"refused":         {func() context.Context { return identity.WithRefusal(t.Context(), reason) }, reason},
		"the zero Person": {func() context.Context { return identity.With(t.Context(), identity.Person{}) }, identity.ErrUnauthenticated},
		"the zero Agent":  {func() context.Context { return identity.With(t.Context(), identity.Agent{}) }, identity.ErrUnauthenticated},
		"zero, and a reason": {func() context.Context {
			return identity.WithRefusal(identity.With(t.Context(), identity.Person{}), reason)
		}, reason},
	} {
		if who, err := identity.Who(c.ctx()); who != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v acts, error %v", name, who, err)
		}
	}
	if (identity.Person{}).May(identity.ScopeRead) || (identity.Agent{}).May(identity.ScopeRead) {
		t.Error("nobody may read")
	}
}

func TestWithoutADatabaseNobodyActs(t *testing.T) {
	w := open(t)
	cookie, bearer := w.browser(maria), w.signIn(maria, sqlc.SignInKindBearer).Token
	token := w.db.APIToken(t, maria, "read")
	w.db.Pools.Identity.Close()
	for _, r := range []*http.Request{w.request("", cookie), w.request(bearer), w.request(token)} {
		var refused *identity.Error
		if who, err := w.service.Authenticate(r); who != nil || !errors.As(err, &refused) || refused.Code != "UNAVAILABLE" || refused.Cause == nil {
			t.Errorf("%v acts, error %v", who, err)
		}
	}
}
