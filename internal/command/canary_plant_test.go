package command

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
)

// planted are the places that a canary was put into; never those of which none may come out by any way.
var (
	never   = []string{"hidden", "masked", "raised", "detail", "hint", "password", "email", "user agent", "credential", "cookie", "path", "query", "key", "deep key", "value of an unknown", "note", "idempotency", "entity", "record id", "where", "action", "operation name", "body", "variables", "cursor", "turn key"}
	planted = append([]string{"record", "input", "nested", "failing", "said", "title", "reason", "token name", "sample"}, never...)
)

// holds tells whether a canary of a place is in a text, whichever of the two it is.
func holds(text, where string) bool {
	return strings.Contains(text, bird(where)) || strings.Contains(text, plain(where))
}

func around(text, where string) string {
	at := max(strings.Index(text, bird(where)), strings.Index(text, plain(where)))
	return text[max(0, at-200):min(len(text), at+200)]
}

func valuesOf(m map[string]string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// people sign in wrongly, with credentials that are none.
func people(t *testing.T, s *surface) {
	t.Helper()
	s.send(http.MethodPost, "/session", fmt.Sprintf(`{"email": "maria@harbor.example", "password": %q}`, plain("password")), "User-Agent", bird("user agent"))
	s.send(http.MethodPost, "/session", fmt.Sprintf(`{"email": "%s@harbor.example", "password": "x", "workspace": %q}`, plain("email"), plain("email")))
	s.send(http.MethodPost, "/session", `{"email": "maria@harbor.example", "password": "harbor-mill"}`, "User-Agent", "curl "+bird("user agent")) // is answered a token
	s.answers = s.answers[:len(s.answers)-1]
	for _, bad := range []string{"css_", "csa_", ""} {
		s.send(http.MethodPost, "/graphql", `{"query": "{ viewer { role } }"}`, "Authorization", "Bearer "+bad+bird("credential"))
	}
	s.send(http.MethodGet, "/inbox", "", "Authorization", "", "Cookie", "countersign="+bird("cookie"))
	s.send(http.MethodGet, "/"+bird("path")+"?x="+bird("query"), "")
	s.send(http.MethodGet, "/conversations/"+bird("path"), "")
	for _, body := range []string{`{"query": "{ viewer { role } }", "variables": {"token": "` + bird("body") + `"`, bird("body"), `{"query": {"` + bird("body") + `": 1}}`, `{"query": "{ viewer { ` + bird("body") + ` } }"}`, `{"query": "query($n: Int!) { proposals(first: $n) { edges { cursor } } }", "variables": {"n": "` + bird("variables") + `"}}`,
		`{"query": "{ proposals(first: \"` + bird("variables") + `\") { edges { cursor } } }"}`, `{"query": "query ` + bird("operation name") + ` { viewer { role } ", "operationName": "` + bird("operation name") + `"}`, `{"query": "{ viewer { role } }", "operationName": "` + bird("operation name") + `"}`,
		`{"query": "{ node(id: \"` + bird("variables") + `\") { id } }"}`} {
		s.send(http.MethodPost, "/graphql", body)
		s.send(http.MethodPost, "/graphql", body, "Accept", "text/event-stream")
	}
	s.send(http.MethodPost, "/session", `{"email": "`+bird("body"))
	s.send(http.MethodGet, "/graphql?query={viewer{role}}&variables="+bird("variables"), "")
	s.send(http.MethodGet, "/events?after="+bird("cursor"), "")
	s.gql(`query($c: String) { proposalEvents(after: $c) { cursor } }`, fmt.Sprintf(`{"c": %q}`, bird("cursor")))
}

// inputs are what can be proposed and is refused, at every depth.
func inputs(s, person *surface) {
	s.t.Helper()
	more := fmt.Sprintf(`, "note": "for %s", "idempotencyKey": "%s-%.3s"`, bird("note"), bird("idempotency"), s.token)
	id, _ := s.proposed(role("4", fmt.Sprintf(`{"description": "now %s %.4s", "papers": {"a": [{"b": %q}]}}`, bird("input"), s.token, bird("nested")), more))
	person.gql(`mutation($in: RejectProposalInput!) { rejectProposal(input: $in) { result { __typename } } }`, fmt.Sprintf(`{"in": {"id": %q, "reason": "%s"}}`, id, bird("reason")))
	s.proposed(fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": {"notes": %q}, "changes": {"notes": "%s %.4s"}}`, bird("record"), bird("input"), s.token))
	for _, in := range []string{
		role("4", fmt.Sprintf(`{%q: 1}`, bird("key"))), role("4", fmt.Sprintf(`{"secret_note": %q}`, bird("value of an unknown"))), role("4", fmt.Sprintf(`{"unheard": {"a": [%q]}}`, bird("value of an unknown"))),
		role("4", fmt.Sprintf(`{"name": {%q: [%q]}}`, bird("deep key"), bird("value of an unknown"))), role("4", fmt.Sprintf(`%q`, bird("value of an unknown"))), role(bird("record id"), `{"name": "x"}`),
		fmt.Sprintf(`{"entity": %q, "operation": "UPDATE", "recordId": "4", "changes": {"name": "x"}}`, bird("entity")),
		fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": {%q: %q}, "changes": {"priority": 2}}`, bird("where"), bird("where")),
		fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": {"item": %q}, "changes": {"priority": 2}}`, bird("where")),
		fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": {"unit_cost": %q}, "changes": {"priority": "%s"}}`, bird("where"), bird("where")),
		fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "ACTION", "action": %q, "input": {"deep": [{"x": %q}]}}`, bird("action"), bird("action")),
		fmt.Sprintf(`{"entity": "mrp.production_order", "operation": "ACTION", "action": "mrp.adjust_order", "input": {"order": %q, %q: {"x": [%q]}}}`, bird("action"), bird("action"), bird("action")),
	} {
		s.gql(proposing, `{"in": `+in+`}`)
	}
}

// talks are what a person writes, and what a model reads and does then.
func talks(s *surface) {
	s.t.Helper()
	a := s.gql(`mutation($t: String) { createConversation(input: {title: $t}) { conversation { id } } }`, fmt.Sprintf(`{"t": %q}`, bird("title")))
	conversation := between(a, `"id":"`)
	for i, said := range []string{"Show role 4", "What is the badge of role 4?", "Set the secret note of role 4 to x", "Which roles are there?", "Rename role 9999 to " + bird("said"), "Show me " + bird("said")} {
		s.gql(`mutation($c: ID!, $m: String!, $k: String) { sendMessage(input: {conversationId: $c, content: $m, idempotencyKey: $k}) { failure { code message } message { content citations { label } } userMessage { content } } }`,
			fmt.Sprintf(`{"c": %q, "m": %q, "k": "%s-%d"}`, conversation, said, bird("turn key"), i))
	}
	b := s.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, `{}`)
	s.gql(`mutation($c: ID!, $m: String!) { sendMessage(input: {conversationId: $c, content: $m}) { userMessage { content } } }`, fmt.Sprintf(`{"c": %q, "m": "Find %s"}`, between(b, `"id":"`), bird("said")))
}

// databases are what PostgreSQL says when it refuses, on the rehearsal, on the write, and on our own rows.
func databases(t *testing.T, db *pgtest.DB, s *surface) {
	t.Helper()
	s.gql(proposing, `{"in": `+role("4", fmt.Sprintf(`{"description": "%s%s"}`, bird("failing"), strings.Repeat("x", 100)))+`}`) // DETAIL: Failing row contains (…)
	change(t, db.SuperuserURL, `ALTER TABLE core.roles DISABLE TRIGGER ALL`)
	for i, sqlstate := range []string{"P0001", "23514", "22P02", "42501", "XX000"} {
		s.gql(proposing, `{"in": `+role("7", fmt.Sprintf(`{"description": "%d %s"}`, i, bird("failing")))+`}`)
		in := role("7", fmt.Sprintf(`{"description": "once more %d %s"}`, i, bird("failing")))
		id, fingerprint := s.proposed(in)
		change(t, db.SuperuserURL, raising(sqlstate))
		s.gql(proposing, `{"in": `+role("4", fmt.Sprintf(`{"description": "would %d %s"}`, i, bird("failing")))+`}`) // WOULD_FAIL
		if answer := s.gql(confirming, fmt.Sprintf(`{"in": {"id": %q, "fingerprint": %q}}`, id, fingerprint)); !strings.Contains(answer, "FAILED") {
			t.Errorf("%s: %s", sqlstate, answer)
		}
		change(t, db.SuperuserURL, `DROP TRIGGER tell ON core.roles`)
	}
	s.confirmed(role("7", fmt.Sprintf(`{"description": "applied %s"}`, bird("input"))), "APPLIED")
	change(t, db.SuperuserURL, raising("P0001")) // to have the function
	for _, table := range []string{"events", "tool_calls", "turns", "proposal_decisions"} {
		change(t, db.SuperuserURL, `CREATE TRIGGER tell BEFORE INSERT ON countersign.`+table+` FOR EACH ROW EXECUTE FUNCTION public.tell()`)
		s.gql(proposing, `{"in": `+role("4", `{"name": "x"}`)+`}`)
		s.gql(`mutation($in: RejectProposalInput!) { rejectProposal(input: $in) { result { __typename } } }`, fmt.Sprintf(`{"in": {"id": %q}}`, "prop_01h455vb4pex5vsknk084sn02q"))
		b := s.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, `{}`)
		s.gql(`mutation($c: ID!) { sendMessage(input: {conversationId: $c, content: "Show role 4"}) { message { content } } }`, fmt.Sprintf(`{"c": %q}`, between(b, `"id":"`)))
		change(t, db.SuperuserURL, `DROP TRIGGER tell ON countersign.`+table)
	}
	change(t, db.SuperuserURL, `DROP TRIGGER tell ON core.roles`)
}

// followed is what GET /events says from the beginning on.
func followed(t *testing.T, s *surface) string {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
	defer leave()
	begins := between(s.gql(`{ proposalEvents(first: 1) { edges { cursor } } }`, `{}`), `"cursor":"`)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.origin+"/events?after="+begins, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var text strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan() && strings.Count(text.String(), "\ndata:") < 8; {
		text.WriteString(lines.Text() + "\n")
	}
	return text.String()
}

// rows are the texts of every column of every table of ours, whatever its type.
func rows(t *testing.T, db *pgtest.DB) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	columns, err := conn.Query(t.Context(), `SELECT c.relname, a.attname, a.atttypid = 'bytea'::regtype FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(columns, pgx.RowToStructByPos[struct {
		Table, Column string
		Bytes         bool
	}])
	if err != nil || len(list) < 100 {
		t.Fatalf("%d columns: %v", len(list), err)
	}
	found := map[string]string{}
	for _, c := range list {
		text := `%s::text`
		if c.Bytes {
			text = `encode(%s, 'escape')`
		}
		name := pgx.Identifier{c.Column}.Sanitize()
		found[c.Table+"."+c.Column] = ask(t, db.OwnerURL, `SELECT coalesce(string_agg(`+fmt.Sprintf(text, name)+`, ' '), '') FROM `+pgx.Identifier{"countersign", c.Table}.Sanitize())
	}
	return found
}

// dumped is our schema as pg_dump writes it; "" where that is not installed.
func dumped(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	dump, err := exec.LookPath("pg_dump")
	if err != nil {
		return ""
	}
	text, err := exec.CommandContext(t.Context(), dump, "--inserts", "--schema=countersign", db.OwnerURL).Output()
	if err != nil || !strings.Contains(string(text), "INSERT INTO countersign.tool_calls") {
		t.Fatalf("the dump holds no rows: %v", err)
	}
	return string(text)
}
