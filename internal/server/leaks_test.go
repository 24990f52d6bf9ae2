package server_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// logged is a log that is read while it is written.
type logged struct {
	lock sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

func keeps(l *logged) func(*server.Config) {
	return func(c *server.Config) {
		c.Logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

// A secret in what cannot be read comes out nowhere.
func TestWhatCannotBeReadIsNotRepeated(t *testing.T) {
	t.Parallel()
	log := &logged{}
	w := start(t, keeps(log))
	maria := w.signIn("maria@harbor.example")
	const secret = "css_5up3r53cr3t"
	for name, c := range map[string]struct{ path, body string }{
		"cut off": {"/graphql", `{"query": "{ viewer { role } }", "variables": {"token": "` + secret + `"`}, "no JSON": {"/graphql", secret}, "a wrong type": {"/graphql", `{"query": {"` + secret + `": 1}}`},
		"behind": {"/graphql", query + secret}, "variables": {"/graphql", `{"query": "{ viewer { role } }", "variables": "` + secret + `"}`}, "extensions": {"/graphql", `{"query": "{ viewer { role } }", "extensions": "` + secret + `"}`},
		"session": {"/session", `{"email": "` + secret}, "session's type": {"/session", `{"email": {"` + secret + `": 1}}`},
	} {
		got := maria.send("POST", c.path, c.body, jsonBody)
		if got.status != http.StatusBadRequest || strings.Contains(got.body, secret) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	got := maria.send("GET", "/graphql?query={viewer{role}}&variables="+secret, "")
	if got.status != http.StatusBadRequest || strings.Contains(got.body, secret) {
		t.Errorf("in the address: %d %s", got.status, got.body)
	}
	if text := log.String(); strings.Contains(text, secret) || strings.Contains(text, maria.token) || strings.Contains(text, "harbor-mill") {
		t.Errorf("the log: %s", text)
	}
}

// Where the explorer is off, nothing tells of the schema.
func TestTheSchemaIsNotTold(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.GraphiQL = false })
	maria := w.signIn("maria@harbor.example")
	for _, asked := range []string{`{ __schema { types { name } } }`, `{ __type(name: "Mutation") { fields { name } } }`} {
		if a := maria.gql(asked, nil); len(a.Errors) == 0 || strings.Contains(a.raw, "confirmProposal") {
			t.Errorf("%s: %.300s", asked, a.raw)
		}
	}
	for _, wrong := range []string{`{ viewr { role } }`, `{ viewer { rol } }`, `{ viewer }`, `{ proposals(firs: 1) { edges { cursor } } }`, `{ proposals(orderBy: NEWST) { edges { cursor } } }`, `{ proposals(orderBy: "NEWEST") { edges { cursor } } }`,
		`{ proposals(filter: {stats: PENDING}) { edges { cursor } } }`, `query($f: ProposalFiltr) { proposals(filter: $f) { edges { cursor } } }`, `{ node(id: "x") { ... on Proposl { id } } }`, `{ node(id: "x") { headline } }`, `mutation { confirmPropsal { result } }`, `{ viewer { role @ski } }`} {
		if a := maria.gql(wrong, nil); len(a.Errors) == 0 || strings.Contains(a.raw, "mean") {
			t.Errorf("%s: %s", wrong, a.raw)
		}
	}
	if status, _ := maria.get("/graphiql"); status != http.StatusNotFound {
		t.Errorf("the explorer answers %d", status)
	}
}

// What breaks inside is one error with its code and a number to ask about; the log has the rest.
func TestAFaultInsideSaysNothing(t *testing.T) {
	t.Parallel()
	log := &logged{}
	w := start(t, keeps(log))
	maria := w.signIn("maria@harbor.example")
	id, _ := maria.rename("4", "reviewer")
	w.exec(`INSERT INTO countersign.proposal_records SELECT proposal_id, workspace_id, 2, entity, operation, key, label, url, version, before, '["` + canary + `"]' FROM countersign.proposal_records`)
	a := maria.gql(show, vars{"id": id})
	a.refused("INTERNAL")
	reference, _ := a.Errors[0].Extensions["requestId"].(string)
	for _, word := range []string{canary, "json", "card.", "Go ", "pgx", "SELECT"} {
		if strings.Contains(a.raw, word) {
			t.Errorf("%s is in the answer: %s", word, a.raw)
		}
	}
	if text := log.String(); reference == "" || !strings.Contains(text, reference) {
		t.Errorf("the log does not hold %q: %s", reference, text)
	}
	maria.gql(`{ viewer { role } }`, nil).want(vars{"viewer.role": "MEMBER"})
}
