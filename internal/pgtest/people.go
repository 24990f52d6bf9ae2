package pgtest

import (
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Bearer signs someone of Harbor Mill in and gives their token, for a client to send.
func (d *DB) Bearer(t testing.TB, email string) string {
	t.Helper()
	in, err := d.identity().SignIn(t.Context(), identity.Attempt{
		Email: email, Password: demo.Password, Kind: sqlc.SignInKindBearer, Address: "192.0.2.1", UserAgent: "pgtest"})
	if err != nil {
		t.Fatalf("sign %s in: %v", email, err)
	}
	return in.Token
}

// Person signs someone of Harbor Mill in.
func (d *DB) Person(t testing.TB, email string) identity.Person {
	t.Helper()
	person, is := d.acting(t, d.Bearer(t, email)).(identity.Person)
	if !is {
		t.Fatalf("%s signed in and is no person", email)
	}
	return person
}

// APIToken makes a token for someone of Harbor Mill and gives it, for a client to send.
func (d *DB) APIToken(t testing.TB, email string, scopes ...string) string {
	t.Helper()
	token, err := identity.CreateToken(t.Context(), d.Owner, identity.NewToken{Email: email, Name: "pgtest", Scopes: scopes})
	if err != nil {
		t.Fatalf("make a token for %s: %v", email, err)
	}
	return token
}

// Agent gives an API token, at work for someone of Harbor Mill.
func (d *DB) Agent(t testing.TB, email string, scopes ...string) identity.Agent {
	t.Helper()
	agent, is := d.acting(t, d.APIToken(t, email, scopes...)).(identity.Agent)
	if !is {
		t.Fatalf("a token of %s is no agent", email)
	}
	return agent
}

func (d *DB) identity() *identity.Service { return identity.New(d.Pools.Identity, identity.Cookie{}) }

func (d *DB) acting(t testing.TB, token string) identity.Actor {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	request.Header.Set("Authorization", "Bearer "+token)
	who, err := d.identity().Authenticate(request)
	if err != nil {
		t.Fatalf("act by a token: %v", err)
	}
	return who
}
