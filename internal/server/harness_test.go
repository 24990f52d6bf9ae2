package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is a database of its own with one server on it.
type world struct {
	t   testing.TB
	db  *pgtest.DB
	url string
}

func start(t testing.TB, change ...func(*server.Config)) *world {
	t.Helper()
	w := &world{t: t, db: pgtest.New(t)}
	w.url = w.serve(change...)
	return w
}

// serve starts one more server on the same database.
func (w *world) serve(change ...func(*server.Config)) string {
	w.t.Helper()
	_, url := w.launch(change...)
	return url
}

func (w *world) launch(change ...func(*server.Config)) (*server.Server, string) {
	w.t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	c := server.Config{OwnerURL: w.db.OwnerURL, Registry: yaml, CookieName: "countersign", GraphiQL: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, do := range change {
		do(&c)
	}
	s, err := server.New(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler)
	w.t.Cleanup(func() { h.Close(); s.Close() })
	return s, h.URL
}

// client is somebody with a bearer token.
type client struct {
	w     *world
	url   string
	token string
	http  *http.Client // nil for the usual
}

func (w *world) as(token string) *client { return &client{w: w, url: w.url, token: token} }

// signIn signs somebody in through POST /session.
func (w *world) signIn(email string) *client {
	w.t.Helper()
	status, body := w.post("/session", "", map[string]string{"email": email, "password": "harbor-mill"})
	if status != http.StatusCreated {
		w.t.Fatalf("POST /session as %s: %d %s", email, status, body)
	}
	var in struct{ Token string }
	if err := json.Unmarshal(body, &in); err != nil || in.Token == "" {
		w.t.Fatalf("POST /session answered %s", body)
	}
	return w.as(in.Token)
}

func (w *world) post(path, token string, body any) (int, []byte) {
	return (&client{w: w, url: w.url, token: token}).post(path, body)
}

func (c *client) post(path string, body any) (int, []byte) {
	c.w.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodPost, c.url+path, bytes.NewReader(b))
	if err != nil {
		c.w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.w.t.Error(err)
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		c.w.t.Error(err)
	}
	return res.StatusCode, answer
}

type vars = map[string]any

// answer is a GraphQL response.
type answer struct {
	t      testing.TB
	Data   map[string]any
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
	raw string
}

// gql sends one document.
func (c *client) gql(query string, v vars) *answer {
	c.w.t.Helper()
	_, body := c.post("/graphql", map[string]any{"query": query, "variables": v})
	a := &answer{t: c.w.t, raw: string(body)}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(a); err != nil {
		c.w.t.Errorf("GraphQL answered %s", body)
	}
	return a
}

// at walks into the data: "confirmProposal.result.status"; a number is an index.
func (a *answer) at(path string) any {
	a.t.Helper()
	var v any = a.Data
	for _, step := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i := int(step[0] - '0')
			if i >= len(in) {
				a.t.Fatalf("%s: no element %s in %s", path, step, a.raw)
			}
			v = in[i]
		default:
			a.t.Fatalf("%s: nothing at %s in %s", path, step, a.raw)
		}
	}
	return v
}

func (a *answer) text(path string) string {
	a.t.Helper()
	s, ok := a.at(path).(string)
	if !ok {
		a.t.Fatalf("%s is %v in %s", path, a.at(path), a.raw)
	}
	return s
}

// want compares what is at each path, as JSON.
func (a *answer) want(expected vars) {
	a.t.Helper()
	if len(a.Errors) > 0 {
		a.t.Fatalf("errors: %s", a.raw)
	}
	for path, value := range expected {
		got, _ := json.Marshal(a.at(path))
		want, _ := json.Marshal(value)
		if !bytes.Equal(got, want) {
			a.t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// refused wants one top-level error with this code.
func (a *answer) refused(code string) {
	a.t.Helper()
	if len(a.Errors) == 0 || a.Errors[0].Extensions["code"] != code {
		a.t.Errorf("want %s, got %s", code, a.raw)
	}
}

// sql reads one value as the owner, past row-level security.
func (w *world) sql(query string, args ...any) string {
	w.t.Helper()
	var s *string
	if err := w.db.Owner.QueryRow(w.t.Context(), "SELECT ("+query+")::text", args...).Scan(&s); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	if s == nil {
		return "null"
	}
	return *s
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Owner.Exec(w.t.Context(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// invariants finds what may never be: see the guarantees.
func (w *world) invariants() {
	w.t.Helper()
	for what, query := range map[string]string{
		"final without its decision": `SELECT count(*) FROM countersign.proposals p WHERE status NOT IN ('pending', 'awaiting_approval')
			AND NOT EXISTS (SELECT FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id AND d.final)`,
		"decision without its status": `SELECT count(*) FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id
			WHERE d.final AND p.status IN ('pending', 'awaiting_approval')`,
		"tool call still running":    `SELECT count(*) FROM countersign.tool_calls WHERE status = 'started'`,
		"event missing or doubled":   `SELECT count(*) FROM countersign.proposals p WHERE (SELECT count(*) FROM countersign.events e WHERE e.proposal_id = p.id AND e.status NOT IN ('pending', 'awaiting_approval')) <> (p.status NOT IN ('pending', 'awaiting_approval'))::int`,
		"applied without an outcome": `SELECT count(*) FROM countersign.proposals WHERE (status = 'applied') <> (outcome_affected IS NOT NULL)`,
	} {
		if n := w.sql(query); n != "0" {
			w.t.Errorf("%s: %s", what, n)
		}
	}
}

// registryWith is the demo's registry with one text in it replaced.
func registryWith(t testing.TB, from, to string) func(*server.Config) {
	t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(yaml, []byte(from)) {
		t.Fatalf("countersign.yaml does not hold %q", from)
	}
	return func(c *server.Config) { c.Registry = bytes.Replace(yaml, []byte(from), []byte(to), 1) }
}

// replaced is a text with a part of it that it has to hold replaced.
func replaced(t testing.TB, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in the text", from)
	}
	return strings.Replace(text, from, to, 1)
}
