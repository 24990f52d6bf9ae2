package identity_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// wantInvalid checks that an error names the field that is wrong.
func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var refused *identity.Error
	if !errors.As(err, &refused) || refused.Code != "INVALID_INPUT" || refused.Field != field {
		t.Errorf("%v, want INVALID_INPUT on %q", err, field)
	}
}

func TestANewUserSignsIn(t *testing.T) {
	w := open(t)
	user, err := identity.CreateUser(t.Context(), w.db.Owner, " Nina@Harbor.example ", "Nina Koch", "harbor-mill")
	if err != nil || user.Email != "nina@harbor.example" {
		t.Fatalf("%+v, %v", user, err)
	}
	made, err := identity.Join(t.Context(), w.db.Owner, user.ID, "third-site", "Third Site", sqlc.RoleApprover)
	if err != nil || made.Name != "Third Site" {
		t.Fatalf("%+v, %v", made, err)
	}
	if in := w.signIn("nina@harbor.example", sqlc.SignInKindBearer); in.Workspace != made || in.Role != sqlc.RoleApprover {
		t.Fatalf("signed in to %+v as %s", in.Workspace, in.Role)
	}
	there, err := identity.Join(t.Context(), w.db.Owner, user.ID, "harbor-mill", "Another Name", sqlc.RoleMember)
	if err != nil || there.Name != "Harbor Mill" {
		t.Fatalf("joining what is there: %+v, %v", there, err)
	}
}

func TestWhatAnAccountMayNotBe(t *testing.T) {
	w := open(t)
	for field, c := range map[string]struct{ email, name, password string }{
		"email":    {"MARIA@harbor.example", "Maria", "harbor-mill"},
		"name":     {"new@harbor.example", " ", "harbor-mill"},
		"password": {"new@harbor.example", "New", "short"},
	} {
		_, err := identity.CreateUser(t.Context(), w.db.Owner, c.email, c.name, c.password)
		wantInvalid(t, err, field)
	}
	for _, c := range []struct {
		field, slug, name string
		role              sqlc.Role
	}{
		{"role", "harbor-mill", "Harbor Mill", "admin"},
		{"workspace", "Harbor Mill", "Harbor Mill", sqlc.RoleMember},
		{"workspace", "new", "", sqlc.RoleMember},
		{"workspace", "harbor-mill", "Harbor Mill", sqlc.RoleMember},
	} {
		_, err := identity.Join(t.Context(), w.db.Owner, w.maria(), c.slug, c.name, c.role)
		wantInvalid(t, err, c.field)
	}
}

func TestWhatATokenMayNotBe(t *testing.T) {
	w := open(t)
	w.sql(`INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, w.id, 'member' FROM users u, workspaces w WHERE u.email = $1 AND w.slug = 'other-site'`, paolo)
	w.sql(`UPDATE users SET disabled_at = clock_timestamp() WHERE email = 'aiko@harbor.example'`)
	for name, c := range map[string]struct {
		token       identity.NewToken
		code, field string
	}{
		"no scope":            {identity.NewToken{Email: maria, Name: "n"}, "INVALID_INPUT", "scopes"},
		"no such scope":       {identity.NewToken{Email: maria, Name: "n", Scopes: []string{"read", "decide"}}, "INVALID_INPUT", "scopes"},
		"no name":             {identity.NewToken{Email: maria, Scopes: []string{"read"}}, "INVALID_INPUT", "name"},
		"no such user":        {identity.NewToken{Email: "x@y", Name: "n", Scopes: []string{"read"}}, "INVALID_INPUT", "user"},
		"a disabled user":     {identity.NewToken{Email: "aiko@harbor.example", Name: "n", Scopes: []string{"read"}}, "INVALID_INPUT", "user"},
		"which workspace":     {identity.NewToken{Email: paolo, Name: "n", Scopes: []string{"read"}}, "INVALID_INPUT", "workspace"},
		"another's workspace": {identity.NewToken{Email: maria, Name: "n", Scopes: []string{"read"}, Workspace: "other-site"}, "FORBIDDEN", "workspace"},
		"a past":              {identity.NewToken{Email: maria, Name: "n", Scopes: []string{"read"}, Lifetime: -time.Second}, "INVALID_INPUT", "lifetime"},
	} {
		secret, err := identity.CreateToken(t.Context(), w.db.Owner, c.token)
		var refused *identity.Error
		if secret != "" || !errors.As(err, &refused) || refused.Code != c.code || refused.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenInOneOfTwoWorkspacesForAnHour(t *testing.T) {
	w := open(t)
	w.sql(`INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, w.id, 'auditor' FROM users u, workspaces w WHERE u.email = $1 AND w.slug = 'other-site'`, paolo)
	secret, err := identity.CreateToken(t.Context(), w.db.Owner, identity.NewToken{
		Email: paolo, Name: "erp", Workspace: "other-site", Scopes: []string{"read", "propose", "read"}, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	who := w.wantActor(w.request(secret), paolo, nil)
	if who.Workspace().Slug != "other-site" || who.Role() != sqlc.RoleAuditor || time.Until(*who.ExpiresAt()) > time.Hour+time.Minute {
		t.Fatalf("it acts in %s as %s until %s", who.Workspace().Slug, who.Role(), who.ExpiresAt())
	}
	if !slices.Equal(identity.Scopes, []identity.Scope{"read", "propose", "subscribe"}) {
		t.Fatal("there are other scopes: is each of them unable to decide?")
	}
}
