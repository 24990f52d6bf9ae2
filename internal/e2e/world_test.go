package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

const (
	maria = "maria@harbor.example"
	paolo = "paolo@harbor.example"
	jonas = "jonas@harbor.example"
	aiko  = "aiko@harbor.example"
	rosa  = "rosa@harbor.example"
	sam   = "sam@harbor.example"
	olu   = "olu@othersite.example"
)

// world is Harbor Mill on a database of the test's own, with a server on it.
type world struct {
	t   testing.TB
	db  *pgtest.DB
	url string
}

func start(t testing.TB) *world {
	t.Helper()
	return startWith(t, func(registry []byte) []byte { return registry })
}

// startWith starts it with another registry than the demo's.
func startWith(t testing.TB, change func(registry []byte) []byte) *world {
	t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: pgtest.New(t)}
	s, err := server.New(t.Context(), server.Config{
		OwnerURL: w.db.OwnerURL, Registry: change(yaml), CookieName: "countersign", GraphiQL: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s.Handler)
	t.Cleanup(func() { listening.Close(); s.Close() })
	w.url = listening.URL
	return w
}

type fields = map[string]any

// rename proposes another name for a role, as an assistant of that person would, and gives the path of the
// card.
func (w *world) rename(email, role, name string) string {
	w.t.Helper()
	return w.propose(email, fields{"entity": "core.role", "operation": "UPDATE", "recordId": role, "changes": fields{"name": name}})
}

func (w *world) propose(email string, change fields) string {
	w.t.Helper()
	var made struct {
		ProposeChange struct {
			Result struct{ ID, Code, Message string }
		}
	}
	w.graphql(email, `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result {
		... on Proposal { id } ... on ProposalRefused { code message } } } }`, fields{"in": change}, &made)
	if made.ProposeChange.Result.ID == "" {
		w.t.Fatalf("no card was made: %+v", made)
	}
	return "/proposals/" + made.ProposeChange.Result.ID
}

func (w *world) reject(email, card string) { w.t.Helper(); w.decide(email, card, "reject", "Reject") }

func (w *world) extend(email, card string) { w.t.Helper(); w.decide(email, card, "extend", "Extend") }

// decide does something with a card elsewhere, by the API.
func (w *world) decide(email, card, verb, input string) {
	w.t.Helper()
	var done any
	w.graphql(email, `mutation($in: `+input+`ProposalInput!) { `+verb+`Proposal(input: $in) { result { __typename } } }`, fields{"in": fields{"id": path.Base(card)}}, &done)
}

func (w *world) graphql(email, query string, variables fields, into any) {
	w.t.Helper()
	sent, err := json.Marshal(fields{"query": query, "variables": variables})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/graphql", bytes.NewReader(sent))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+w.db.Bearer(w.t, email))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var envelope struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Errors != nil {
		w.t.Fatalf("GraphQL answered %s", body)
	}
	if err := json.Unmarshal(envelope.Data, into); err != nil {
		w.t.Fatal(err)
	}
}

// sql reads one value as the owner, past row-level security.
func (w *world) sql(query string, args ...any) string {
	w.t.Helper()
	var value *string
	if err := w.db.Owner.QueryRow(w.t.Context(), "SELECT ("+query+")::text", args...).Scan(&value); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return "null"
	}
	return *value
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Owner.Exec(w.t.Context(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// has checks one value in the database.
func (w *world) has(want, query string, args ...any) {
	w.t.Helper()
	if got := w.sql(query, args...); got != want {
		w.t.Errorf("%s: %s, want %s", query, got, want)
	}
}

const (
	nameOfRole4 = `SELECT name FROM core.roles WHERE id = 4`
	decisions   = `SELECT string_agg(kind::text, ' ' ORDER BY at) FROM countersign.proposal_decisions`
)
