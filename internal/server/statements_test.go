package server_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/server"
)

// statements counts what a server sends to the database, but for what finds out who asks and for saying in
// which workspace.
type statements struct{ atomic.Int64 }

func (s *statements) add(conn *pgx.Conn, sql string) {
	behind := conn.Config().User == "countersign_identity" || conn.Config().User == "countersign_worker" // signs in; orders events when it likes
	if !behind && !strings.Contains(sql, "set_config('countersign.workspace'") {
		s.Add(1)
	}
}

func (s *statements) TraceQueryStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.add(conn, d.SQL)
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchQuery(_ context.Context, conn *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.add(conn, d.SQL)
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// hundred copies the only turn, with its messages, its proposal and that one's record, a hundred times, each
// with a decision that is not final; every other copy is in a conversation of its own.
const hundred = `
	WITH n AS (SELECT i, gen_random_uuid() AS conversation, gen_random_uuid() AS turn, gen_random_uuid() AS proposal FROM generate_series(1, 100) i),
	u AS (SELECT user_id, row_number() OVER (ORDER BY user_id) AS i FROM memberships WHERE workspace_id = (SELECT workspace_id FROM proposals)),
	c AS (INSERT INTO conversations (id, workspace_id, user_id, title) SELECT n.conversation, c.workspace_id, c.user_id, 'talk ' || i FROM n, conversations c WHERE i % 2 = 1),
	t AS (INSERT INTO turns (id, workspace_id, conversation_id, user_id, request_hash, status, lease_until, finished_at)
		SELECT n.turn, t.workspace_id, CASE WHEN i % 2 = 0 THEN t.conversation_id ELSE n.conversation END, t.user_id, t.request_hash, t.status, t.lease_until, t.finished_at FROM n, turns t),
	m AS (INSERT INTO messages (id, workspace_id, conversation_id, turn_id, role, content, citations)
		SELECT gen_random_uuid(), m.workspace_id, CASE WHEN i % 2 = 0 THEN m.conversation_id ELSE n.conversation END, n.turn, m.role, m.content, m.citations FROM n, messages m),
	p AS (INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id, channel, conversation_id, turn_id, approvals_needed, preview_only, lifetime, expires_at, record_count)
		SELECT n.proposal, p.workspace_id, tool, entity, operation, action_kind, headline, fingerprint, salt, CASE WHEN n.i % 2 = 0 THEN p.acting_user_id ELSE u.user_id END, channel, CASE WHEN n.i % 2 = 0 THEN p.conversation_id ELSE n.conversation END, n.turn, 1, false, lifetime, p.expires_at, 1
		FROM n JOIN u ON u.i = 1 + n.i % 5, proposals p),
	r AS (INSERT INTO proposal_records (proposal_id, workspace_id, position, entity, operation, key, label, url, version, before, changes)
		SELECT n.proposal, r.workspace_id, position, entity, operation, key, label, url, version, before, changes FROM n, proposal_records r)
	INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, fingerprint)
		SELECT n.proposal, p.workspace_id, 'approve', false, s.user_id, s.id, p.fingerprint FROM n, proposals p JOIN sign_ins s ON s.user_id = p.acting_user_id`

func TestStatementsDoNotGrowWithThePage(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	w := start(t, func(c *server.Config) { c.Tracer, c.TimersOff = sent, true })
	maria := w.signIn("maria@harbor.example")
	maria.say("Rename role 4 to reviewer").want(vars{"sendMessage.message.writes.0.status": "PENDING"})
	talk := maria.gql(`{ conversations { edges { node { id } } } }`, nil).text("conversations.edges.0.node.id")
	w.exec(hundred)
	sam := w.signIn("sam@harbor.example")
	all := `edges { node { ` + card + ` assistantNote clientName conversation { title } approval { needed given by { name } } } } pageInfo { hasNextPage endCursor }`
	for name, c := range map[string]struct {
		who   *client
		query string
		most  int64
	}{
		"inbox":            {maria, `query($n: Int!) { proposals(first: $n, filter: {actionable: true}) { edges { node { id headline actingUser { name } conversation { title } summary { record { label } changes { field from { text } to { text } } } } } } }`, 4},
		"workspace":        {sam, `query($n: Int!) { proposals(first: $n) { edges { node { id actingUser { name } conversation { title } summary { changes { field } } } } } }`, 4},
		"soonest":          {maria, `query($n: Int!) { proposals(first: $n, orderBy: EXPIRES_SOONEST) { edges { node { id actingUser { name } } } } actionableCount }`, 3},
		"every field":      {sam, `query($n: Int!) { proposals(first: $n) { ` + all + ` } }`, 7},
		"the last":         {sam, `query($n: Int!) { proposals(last: $n) { ` + all + ` } }`, 7},
		"what was said":    {maria, `query($n: Int!, $c: ID!) { conversation(id: $c) { title messages(first: $n) { edges { node { id content citations { label } conversation { title } writes { ` + card + ` } } } } } }`, 9},
		"what was changed": {maria, `query($n: Int!, $c: ID!) { conversation(id: $c) { proposals(first: $n) { ` + all + ` } } }`, 8},
		"conversations":    {maria, `query($n: Int!) { conversations(first: $n) { edges { node { id title updatedAt } } } }`, 1},
		"conversations, inside": {maria, `query($n: Int!) { conversations(first: $n) { edges { node { id title messages(last: 3) { edges { node { id content writes { id status actingUser { name } } } } }
			first: messages(first: 1) { edges { node { id } } } proposals(first: 2) { edges { node { id actingUser { name } } } } } } } }`, 8},
		"conversations, beside": {sam, `query($n: Int!) { proposals(first: $n) { edges { node { id conversation { messages(first: 2) { edges { node { id } } } } } } } }`, 3},
	} {
		count := func(n int) int64 {
			before := sent.Load()
			a := c.who.gql(c.query, vars{"n": n, "c": talk})
			a.want(nil)
			if rows := strings.Count(a.raw, `"node":`); rows < min(n, 40) {
				t.Errorf("%s: %d rows of %d", name, rows, n)
			}
			return sent.Load() - before
		}
		if one, hundred := count(1), count(100); one > c.most || hundred > c.most {
			t.Errorf("%s: %d statements for 1 row, %d for 100, want at most %d", name, one, hundred, c.most)
		}
	}
}

func TestThePagesOfTheConsoleAreFewStatements(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	w := start(t, func(c *server.Config) { c.Tracer, c.TimersOff = sent, true })
	maria := w.signIn("maria@harbor.example")
	maria.say("Rename role 4 to reviewer")
	talk := maria.gql(`{ conversations { edges { node { id } } } }`, nil).text("conversations.edges.0.node.id")
	few := map[string]int64{}
	pages := []string{"/inbox", "/history", "/conversations/" + talk, "/conversations", "/assistant"}
	count := func(page string) int64 {
		before := sent.Load()
		if status, body := maria.get(page); status != 200 {
			t.Fatalf("%s: %d %s", page, status, body)
		}
		return sent.Load() - before
	}
	for _, page := range pages {
		few[page] = count(page)
	}
	w.exec(hundred)
	for _, page := range pages {
		most := int64(7) // with the policies
		if page == "/inbox" {
			most += 4 // to look again at the records of the card beside the list
		}
		if n := count(page); n > few[page]+1 || n > most {
			t.Errorf("%s: %d statements for little, %d for much", page, few[page], n)
		}
	}
}
