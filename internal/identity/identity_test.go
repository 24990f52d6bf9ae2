package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/sqlc"
)

const (
	maria = "maria@harbor.example"
	paolo = "paolo@harbor.example"
	olu   = "olu@othersite.example"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is a database with Harbor Mill in it and the service on it.
type world struct {
	*testing.T
	db      *pgtest.DB
	service *identity.Service
}

func open(t *testing.T) world {
	t.Helper()
	t.Parallel()
	db := pgtest.New(t)
	return world{t, db, identity.New(db.Pools.Identity, identity.Cookie{Name: "test"})}
}

// sql runs a statement as the owner and insists that it changes something.
func (w world) sql(statement string, arguments ...any) {
	w.Helper()
	tag, err := w.db.Owner.Exec(w.Context(), statement, arguments...)
	if err != nil || tag.RowsAffected() == 0 {
		w.Fatalf("%s: %d rows, %v", statement, tag.RowsAffected(), err)
	}
}

// count gives the one number that a query answers.
func (w world) count(query string, arguments ...any) (n int) {
	w.Helper()
	if err := w.db.Owner.QueryRow(w.Context(), query, arguments...).Scan(&n); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	return n
}

func attempt(email string, kind sqlc.SignInKind) identity.Attempt {
	return identity.Attempt{Email: email, Password: demo.Password, Kind: kind, Address: "192.0.2.1", UserAgent: "test"}
}

func (w world) signIn(email string, kind sqlc.SignInKind) *identity.SignedIn {
	w.Helper()
	in, err := w.service.SignIn(w.Context(), attempt(email, kind))
	if err != nil {
		w.Fatalf("sign %s in: %v", email, err)
	}
	return in
}

// browser signs someone in by cookie and gives it.
func (w world) browser(email string, had ...*http.Cookie) *http.Cookie {
	w.Helper()
	answer := httptest.NewRecorder()
	if err := w.service.OpenSession(answer, w.request("", had...), w.signIn(email, sqlc.SignInKindCookie)); err != nil {
		w.Fatal(err)
	}
	cookies := answer.Result().Cookies()
	if len(cookies) != 1 {
		w.Fatalf("signing in set %d cookies", len(cookies))
	}
	return cookies[0]
}

func (w world) request(bearer string, cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "/", nil)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	for _, one := range cookies {
		r.AddCookie(one)
	}
	return r
}

// wantActor checks who a request acts for: an e-mail address, or the error where nobody.
func (w world) wantActor(r *http.Request, email string, refusal error) identity.Actor {
	w.Helper()
	who, err := w.service.Authenticate(r)
	if !errors.Is(err, refusal) {
		w.Fatalf("the request acts for %v, error %v; want error %v", who, err, refusal)
	}
	if refusal != nil {
		if who != nil {
			w.Fatalf("a refused request acts for %v", who)
		}
		return nil
	}
	if who.User().Email != email {
		w.Fatalf("the request acts for %s, not for %s", who.User().Email, email)
	}
	return who
}

// text gives the one text that a query answers.
func (w world) text(query string) (s string) {
	w.Helper()
	if err := w.db.Owner.QueryRow(w.Context(), query).Scan(&s); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	return s
}

func (w world) maria() id.User {
	w.Helper()
	found, err := identity.FindUser(w.Context(), w.db.Owner, maria)
	if err != nil {
		w.Fatal(err)
	}
	return found.ID
}
