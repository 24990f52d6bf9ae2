package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/sqlc"
)

const (
	maria = "maria@harbor.example"
	paolo = "paolo@harbor.example"
	olu   = "olu@othersite.example"
)

// door is a server with /session, and with /who, which says who acts.
type door struct {
	*testing.T
	db      *pgtest.DB
	service *identity.Service
	server  *httptest.Server
}

func openDoor(t *testing.T) door {
	t.Helper()
	t.Parallel()
	db := pgtest.New(t)
	service := identity.New(db.Pools.Identity, identity.Cookie{Name: "test"})
	guard := web.NewAuthenticator(service, slog.New(slog.DiscardHandler))
	mux := http.NewServeMux()
	mux.Handle("/session", guard.Session())
	mux.Handle("/session/", guard.Session())
	mux.Handle("/who", guard.Middleware(http.HandlerFunc(sayWho)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return door{t, db, service, server}
}

func sayWho(w http.ResponseWriter, r *http.Request) {
	actor, err := identity.Who(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprint(w, actor.User().Email)
}

type header map[string]string

// send gives the status, the headers and the body of an answer.
func (s door) send(method, path, body string, headers header) (int, http.Header, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := s.server.Client().Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// cookie signs someone in as the console does and gives the Cookie header.
func (s door) cookie(email string) string {
	s.Helper()
	in, err := s.service.SignIn(s.Context(), identity.Attempt{Email: email, Password: demo.Password, Kind: sqlc.SignInKindCookie, Address: "192.0.2.1"})
	if err != nil {
		s.Fatal(err)
	}
	answer := httptest.NewRecorder()
	if err := s.service.OpenSession(answer, httptest.NewRequestWithContext(s.Context(), http.MethodPost, "/", nil), in); err != nil {
		s.Fatal(err)
	}
	cookie := answer.Result().Cookies()[0]
	return cookie.Name + "=" + cookie.Value
}

func credentials(email, password string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
}

type session struct {
	Token     string
	ExpiresAt time.Time
	Viewer    struct {
		User       struct{ ID, Name, Email string }
		Workspace  struct{ ID, Slug, Name string }
		Role       string
		Workspaces []struct{ ID, Slug, Name string }
	}
}

func decode(t *testing.T, text string) (s session) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

func TestASessionFromItsBeginningToItsEnd(t *testing.T) {
	s := openDoor(t)
	if _, err := s.db.Owner.Exec(t.Context(), `INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, w.id, 'operator' FROM users u, workspaces w WHERE u.email = $1 AND w.slug = 'other-site'`, maria); err != nil {
		t.Fatal(err)
	}
	code, headers, text := s.send("POST", "/session", `{"email":"maria@harbor.example","password":"harbor-mill","workspace":"harbor-mill"}`, nil)
	if code != http.StatusCreated || headers.Get("Cache-Control") != "no-store" || headers.Get("Set-Cookie") != "" {
		t.Fatalf("%d %v %s", code, headers, text)
	}
	in := decode(t, text)
	if v := in.Viewer; !strings.HasPrefix(in.Token, "css_") || time.Until(in.ExpiresAt) < 11*time.Hour || v.User.Email != maria || v.User.Name != "Maria Rossi" ||
		!strings.HasPrefix(v.User.ID, "user_") || !strings.HasPrefix(v.Workspace.ID, "ws_") || v.Workspace.Slug != "harbor-mill" || v.Role != "MEMBER" || len(v.Workspaces) != 2 {
		t.Fatalf("the answer is %s", text)
	}
	bearer := header{"Authorization": "Bearer " + in.Token}
	if _, _, text := s.send("GET", "/who", "", bearer); text != maria {
		t.Fatalf("acts for %s", text)
	}
	code, _, text = s.send("POST", "/session/workspace", `{"workspace":"other-site"}`, bearer)
	if to := decode(t, text); code != http.StatusOK || to.Viewer.Workspace.Slug != "other-site" || to.Viewer.Role != "OPERATOR" || to.Token != "" {
		t.Fatalf("%d %s", code, text)
	}
	if code, headers, text := s.send("DELETE", "/session", "", bearer); code != http.StatusNoContent || text != "" || headers.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", code, text)
	}
	if code, _, _ := s.send("DELETE", "/session", "", bearer); code != http.StatusUnauthorized {
		t.Fatalf("ending it again: %d", code)
	}
	if code, _, _ := s.send("GET", "/who", "", bearer); code != http.StatusUnauthorized {
		t.Fatalf("and still it acts: %d", code)
	}
}

func TestWhatSessionRefuses(t *testing.T) {
	s := openDoor(t)
	agent := "Bearer " + s.db.APIToken(t, maria, "read")
	person := "Bearer " + s.db.Bearer(t, maria)
	for name, c := range map[string]struct {
		method, path, body string
		headers            header
		status             int
		code, field        string
	}{
		"no such field":        {"POST", "/session", `{"email":"a@b","password":"x","remember":true}`, nil, 400, "INVALID_INPUT", "remember"},
		"another type":         {"POST", "/session", `{"email":1,"password":"x"}`, nil, 400, "INVALID_INPUT", "email"},
		"no email":             {"POST", "/session", `{"password":"x"}`, nil, 400, "INVALID_INPUT", "email"},
		"no password":          {"POST", "/session", `{"email":"a@b"}`, nil, 400, "INVALID_INPUT", "password"},
		"null":                 {"POST", "/session", `null`, nil, 400, "INVALID_INPUT", "email"},
		"a list":               {"POST", "/session", `[]`, nil, 400, "INVALID_INPUT", ""},
		"two objects":          {"POST", "/session", `{"email":"a@b","password":"x"}{}`, nil, 400, "INVALID_INPUT", ""},
		"half an object":       {"POST", "/session", `{"email":`, nil, 400, "INVALID_INPUT", ""},
		"no JSON":              {"POST", "/session", `email=a`, header{"Content-Type": "application/x-www-form-urlencoded"}, 400, "INVALID_INPUT", ""},
		"JSON as text":         {"POST", "/session", credentials(maria, "harbor-mill"), header{"Content-Type": "text/plain"}, 400, "INVALID_INPUT", ""},
		"nothing":              {"POST", "/session", "", nil, 400, "INVALID_INPUT", ""},
		"too much":             {"POST", "/session", credentials(maria, strings.Repeat("x", 4096)), nil, 413, "LIMIT_EXCEEDED", ""},
		"a wrong password":     {"POST", "/session", credentials(maria, "harbor"), nil, 401, "UNAUTHENTICATED", ""},
		"another's workspace":  {"POST", "/session", `{"email":"maria@harbor.example","password":"harbor-mill","workspace":"other-site"}`, nil, 403, "FORBIDDEN", "workspace"},
		"signing out nobody":   {"DELETE", "/session", "", nil, 401, "UNAUTHENTICATED", ""},
		"signing out an agent": {"DELETE", "/session", "", header{"Authorization": agent}, 403, "FORBIDDEN", ""},
		"moving an agent":      {"POST", "/session/workspace", `{"workspace":"harbor-mill"}`, header{"Authorization": agent}, 403, "FORBIDDEN", ""},
		"moving nobody":        {"POST", "/session/workspace", `{"workspace":"harbor-mill"}`, nil, 401, "UNAUTHENTICATED", ""},
		"moving nowhere":       {"POST", "/session/workspace", `{}`, header{"Authorization": person}, 400, "INVALID_INPUT", "workspace"},
		"moving to another's":  {"POST", "/session/workspace", `{"workspace":"other-site"}`, header{"Authorization": person}, 403, "FORBIDDEN", "workspace"},
		"another method":       {"GET", "/session", "", nil, 405, "INVALID_INPUT", ""},
		"another one there":    {"DELETE", "/session/workspace", "", nil, 405, "INVALID_INPUT", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, headers, text := s.send(c.method, c.path, c.body, c.headers)
			var got struct {
				Error struct{ Code, Message, Field string }
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if e := got.Error; status != c.status || e.Code != c.code || e.Field != c.field || e.Message == "" {
				t.Fatalf("%d %s; want %d %s on %q", status, text, c.status, c.code, c.field)
			}
			if (status == 405) != (headers.Get("Allow") != "") || headers.Get("Cache-Control") != "no-store" || (status == 401) != (headers.Get("WWW-Authenticate") != "") {
				t.Fatalf("headers %v", headers)
			}
		})
	}
}

var digits = regexp.MustCompile(`\d+ s\.`)

// Byte for byte, wrong and slowed.
func TestAMissingAccountIsAnsweredLikeAnother(t *testing.T) {
	s := openDoor(t)
	if _, err := s.db.Owner.Exec(t.Context(), `UPDATE users SET disabled_at = clock_timestamp() WHERE email = $1`, paolo); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		status int
		text   string
		names  string
	}
	var first []answer
	for _, email := range []string{maria, "nobody@harbor.example", paolo} {
		var all []answer
		for range 9 {
			status, headers, text := s.send("POST", "/session", credentials(email, "harbor mill"), nil)
			if slowed := status == http.StatusTooManyRequests; slowed != (headers.Get("Retry-After") != "") {
				t.Fatalf("%d with Retry-After %q", status, headers.Get("Retry-After"))
			}
			// However slow the machine, the wait that has begun is not over yet.
			if _, err := s.db.Owner.Exec(t.Context(), `UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour' WHERE blocked_until > last_at + interval '1 second'`); err != nil {
				t.Fatal(err)
			}
			headers.Del("Date")
			headers.Del("Retry-After")
			headers.Del("Content-Length")
			all = append(all, answer{status, digits.ReplaceAllString(text, "… s."), fmt.Sprint(headers)})
		}
		if first == nil {
			first = all
		}
		if fmt.Sprint(all) != fmt.Sprint(first) {
			t.Errorf("%s: %v\nand %s: %v", email, all, maria, first)
		}
	}
	if first[0].status != http.StatusUnauthorized || first[8].status != http.StatusTooManyRequests {
		t.Fatalf("%v", first)
	}
}
