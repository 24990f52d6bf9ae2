package server_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/pgtest"
)

// fenced are the tables of ours that row-level security divides by workspace.
var fenced = []string{"conversations", "turns", "messages", "tool_calls", "proposals", "proposal_records", "proposal_created", "proposal_decisions", "events", "audit_events", "idempotency_keys", "policies", "budgets", "usage", "redaction_patterns"}

// busy is a world in which each workspace has rows in every fenced table.
func busy(t *testing.T) *world {
	w := start(t)
	for email, order := range map[string]string{"maria@harbor.example": "Rename role 4 to reviewer", "olu@othersite.example": "Rename role 10 to buyer"} {
		who := w.signIn(email)
		said := who.say(order)
		who.gql(reject, vars{"in": vars{"id": said.text("sendMessage.message.writes.0.id")}}).want(vars{"rejectProposal.result.status": "REJECTED"})
		who.applied(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	}
	w.exec(`INSERT INTO countersign.policies (id, workspace_id, entity, preview_only) SELECT gen_random_uuid(), id, 'core.user', true FROM countersign.workspaces;
		INSERT INTO countersign.budgets (id, workspace_id, subject, measure, period, soft_limit) SELECT gen_random_uuid(), id, 'workspace', 'tool_calls', 'day', 0 FROM countersign.workspaces;
		INSERT INTO countersign.redaction_patterns (id, workspace_id, name, pattern, samples) SELECT gen_random_uuid(), id, 'orders', 'PO-[0-9]+', '{"matches": ["PO-1"], "others": []}' FROM countersign.workspaces;
		INSERT INTO countersign.idempotency_keys (workspace_id, user_id, key, request_hash, proposal_id) SELECT workspace_id, acting_user_id, 'again', sha256('x'), id FROM countersign.proposals WHERE status = 'rejected'`)
	return w
}

func (w *world) workspace(slug string) string {
	w.t.Helper()
	return w.sql(`SELECT id FROM countersign.workspaces WHERE slug = $1`, slug)
}

// sqlstate runs a statement in a transaction that is undone, as a pool's login in a workspace ("" for none),
// and gives the code it is refused with; "" where it is not.
func sqlstate(t testing.TB, pool *pgxpool.Pool, workspace, statement string, args ...any) string {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	return inside(t, tx, workspace, statement, args...)
}

// inside is sqlstate in a transaction that goes on.
func inside(t testing.TB, tx pgx.Tx, workspace, statement string, args ...any) string {
	t.Helper()
	if _, err := tx.Exec(t.Context(), `SELECT set_config('countersign.workspace', $1, true)`, workspace); err != nil {
		t.Fatal(err)
	}
	_, err := tx.Exec(t.Context(), statement, args...)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	} else if err != nil {
		t.Fatal(err)
	}
	return ""
}

// seen counts a table's rows, in all and of one workspace, as a login sees them; none where it may not look.
func seen(t *testing.T, pool *pgxpool.Pool, workspace, table string) (all, of int) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if workspace != "" {
			if _, err := tx.Exec(t.Context(), `SELECT set_config('countersign.workspace', $1, true)`, workspace); err != nil {
				return err
			}
		}
		return tx.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE workspace_id::text = $1) FROM countersign.`+table, workspace).Scan(&all, &of)
	})
	if refused := (*pgconn.PgError)(nil); err != nil && (!errors.As(err, &refused) || refused.Code != "42501") {
		t.Fatalf("%s: %v", table, err)
	}
	return all, of
}

// unread are the fenced tables that a login does not read.
var unread = map[string][]string{"agent": {"audit_events"}, "gate": {"audit_events"}, "reader": {"redaction_patterns"},
	"worker": {"audit_events", "idempotency_keys", "policies", "budgets", "redaction_patterns"}}

func TestALoginSeesOneWorkspaceOrNothing(t *testing.T) {
	t.Parallel()
	w := busy(t)
	harbor, pools := w.workspace("harbor-mill"), w.db.Pools
	for login, pool := range map[string]*pgxpool.Pool{"reader": pools.Reader, "agent": pools.Agent, "gate": pools.Gate, "worker": pools.Worker} {
		for _, table := range fenced {
			if login == "worker" && slices.Contains([]string{"proposals", "turns", "tool_calls", "events"}, table) {
				continue // it finds what has lapsed, and orders events, in every workspace
			}
			if all, _ := seen(t, pool, "", table); all != 0 {
				t.Errorf("%s sees %d rows of %s without a workspace", login, all, table)
			}
			all, of := seen(t, pool, harbor, table)
			if all != of {
				t.Errorf("%s sees %d rows of %s, and %d are the workspace's", login, all, table, of)
			}
			if (all == 0) != slices.Contains(unread[login], table) {
				t.Errorf("%s sees %d rows of %s in its workspace", login, all, table)
			}
		}
	}
}

// Whoever owns the tables is held to it too, unless it has BYPASSRLS, as the owner of ours has.
func TestRowLevelSecurityIsForced(t *testing.T) {
	t.Parallel()
	w := busy(t)
	harbor := w.workspace("harbor-mill")
	admin, err := pgx.Connect(t.Context(), w.db.SuperuserURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(t.Context())) }()
	for _, table := range fenced {
		if _, err := admin.Exec(t.Context(), `ALTER TABLE countersign.`+table+` OWNER TO countersign_identity`); err != nil {
			t.Fatal(err)
		}
		if all, _ := seen(t, w.db.Pools.Identity, "", table); all != 0 {
			t.Errorf("the owner of %s sees %d rows without a workspace", table, all)
		}
		if all, of := seen(t, w.db.Pools.Identity, harbor, table); all == 0 || all != of {
			t.Errorf("the owner of %s sees %d rows, and %d are the workspace's", table, all, of)
		}
	}
}

func TestEveryTableOfAWorkspaceIsFenced(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	got := w.sql(`SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace_id'
		WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`)
	if got != "api_tokens memberships sign_ins" {
		t.Errorf("not fenced: %s", got)
	}
	if got := w.sql(`SELECT count(*) FROM pg_class WHERE relnamespace = 'countersign'::regnamespace AND relforcerowsecurity AND relname = ANY ($1)`, fenced); got != strconv.Itoa(len(fenced)) {
		t.Errorf("%s of %s are fenced", got, strings.Join(fenced, ", "))
	}
}

func TestARowForAnotherWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	w := busy(t)
	harbor, other := w.workspace("harbor-mill"), w.workspace("other-site")
	for table, pool := range map[string]*pgxpool.Pool{"conversations": w.db.Pools.Agent, "events": w.db.Pools.Gate, "proposal_created": w.db.Pools.Gate, "audit_events": w.db.Pools.Gate, "proposal_decisions": w.db.Pools.Gate} {
		statement := map[string]string{
			"conversations":      `INSERT INTO conversations (id, workspace_id, user_id, title) SELECT gen_random_uuid(), $1, id, 'x' FROM users LIMIT 1`,
			"events":             `INSERT INTO events (id, workspace_id, proposal_id, type, status) VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'applied', 'applied')`,
			"proposal_created":   `INSERT INTO proposal_created (proposal_id, workspace_id, position, version) VALUES (gen_random_uuid(), $1, 1, repeat('0', 64))`,
			"audit_events":       `INSERT INTO audit_events (id, workspace_id, verb, outcome) VALUES (gen_random_uuid(), $1, 'confirm', 'applied')`,
			"proposal_decisions": `INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final) VALUES (gen_random_uuid(), $1, 'expire', true)`,
		}[table]
		for _, in := range []string{"", harbor} {
			if code := sqlstate(t, pool, in, statement, other); code != "42501" {
				t.Errorf("in workspace %q a row of another in %s: %q", in, table, code)
			}
		}
	}
	if code := sqlstate(t, w.db.Pools.Agent, harbor, `UPDATE conversations SET workspace_id = $1`, other); code != "42501" {
		t.Errorf("a conversation was moved to another workspace: %q", code)
	}
}
