package server_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
)

// What the logins that do not decide are refused, whatever the statement.
func TestTheAgentAndTheReaderWriteNoProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	harbor := w.workspace("harbor-mill")
	for login, pool := range map[string]*pgxpool.Pool{"agent": w.db.Pools.Agent, "reader": w.db.Pools.Reader} {
		for _, table := range []string{"proposals", "proposal_records", "proposal_created", "proposal_decisions", "events", "audit_events", "tool_calls", "users", "memberships", "sign_ins", "api_tokens", "sessions", "workspaces"} {
			for _, statement := range []string{"INSERT INTO " + table + " DEFAULT VALUES", "DELETE FROM " + table, "TRUNCATE " + table} {
				if code := sqlstate(t, pool, harbor, statement); code != "42501" {
					t.Errorf("%s: %s: %q", login, statement, code)
				}
			}
			if n := w.sql(`SELECT count(*) FROM pg_attribute WHERE attrelid = ('countersign.' || $2)::regclass AND attnum > 0 AND NOT attisdropped
				AND has_column_privilege('countersign_' || $1, attrelid, attnum, 'UPDATE, INSERT, REFERENCES')`, login, table); n != "0" {
				t.Errorf("%s may write %s columns of %s", login, n, table)
			}
		}
		for _, statement := range []string{`UPDATE proposals SET status = 'applied'`, `UPDATE proposals SET share_lock = true`, `SELECT FROM proposals FOR UPDATE`, `SELECT FROM proposals FOR SHARE`} {
			if code := sqlstate(t, pool, harbor, statement); code != "42501" && code != "42703" {
				t.Errorf("%s: %s: %q", login, statement, code)
			}
		}
	}
	for _, statement := range []string{`UPDATE conversations SET title = 'x'`, `UPDATE messages SET content = 'x'`, `UPDATE turns SET status = 'complete'`, `INSERT INTO conversations SELECT * FROM conversations`,
		`DELETE FROM turns`, `SELECT withdraw(gen_random_uuid(), NULL, NULL)`, `SELECT finish_tool_call(gen_random_uuid(), 'failed', NULL, NULL, NULL, NULL)`} {
		if code := sqlstate(t, w.db.Pools.Reader, harbor, statement); code != "42501" {
			t.Errorf("reader: %s: %q", statement, code)
		}
	}
}

// proposing are the arguments of the function propose, by name.
type proposing map[string]any

func (p proposing) but(with proposing) proposing {
	changed := maps.Clone(p)
	maps.Copy(changed, with)
	return changed
}

// call gives the statement and its arguments, in the order of their names.
func (p proposing) call() (statement string, args []any) {
	statement = "SELECT countersign.propose("
	for i, name := range slices.Sorted(maps.Keys(p)) {
		if i > 0 {
			statement += ", "
		}
		statement += name + " => $" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		args = append(args, p[name])
	}
	return statement + ")", args
}

const aRecord = `[{"position": 1, "entity": "core.role", "operation": "update", "key": "4", "label": "editor", "version": "0000000000000000000000000000000000000000000000000000000000000000", "before": {}, "changes": []}]`

// legitimate makes a tool call of Maria's and gives arguments with which propose takes it.
func (w *world) legitimate() proposing {
	w.t.Helper()
	p := proposing{"new_id": id.NewProposal().UUID(), "with_tool": "core_role_update", "on_entity": "core.role", "does": "update", "kind": "record_update", "with_headline": "x", "note": nil,
		"card_fingerprint": "0000000000000000000000000000000000000000000000000000000000000000", "card_salt": []byte("0123456789abcdef"), "actor": w.user("maria"), "by_sign_in": w.signInOf("maria"), "by_token": nil,
		"through": "api", "client": nil, "in_conversation": nil, "in_turn": nil, "approvals": 0, "approvers": "approver", "approval_lives": "7 days", "preview": false, "shares": false, "lives": "30 minutes", "once_key": nil, "once_hash": nil,
		"with_matched": nil, "with_changes": nil, "rehearsed": nil, "warns": "[]", "with_conflicts": "[]", "with_intent": nil, "rejected_within": nil, "revises": nil, "reverts": nil, "besides": nil, "most_of_turn": nil, "under_policies": 0, "records": aRecord}
	p["in_call"] = w.toolCall(p["actor"], p["by_sign_in"], nil)
	return p
}

func (w *world) user(name string) string {
	return w.sql(`SELECT id FROM countersign.users WHERE email LIKE $1 || '@%'`, name)
}

func (w *world) signInOf(name string) string {
	return w.sql(`SELECT s.id FROM countersign.sign_ins s JOIN countersign.users u ON u.id = s.user_id WHERE u.email LIKE $1 || '@%' ORDER BY s.created_at DESC LIMIT 1`, name)
}

// toolCall is a call that has begun in Harbor Mill, also one that record_tool_call would refuse.
func (w *world) toolCall(actor, signIn, token any) string {
	w.t.Helper()
	call := id.NewToolCall().UUID().String()
	w.exec(`INSERT INTO countersign.tool_calls (id, workspace_id, user_id, sign_in_id, token_id, tool, entity)
		SELECT $1::text::uuid, w.id, $2::text::uuid, $3::text::uuid, $4::text::uuid, 'core_role_update', 'core.role' FROM countersign.workspaces w WHERE w.slug = 'harbor-mill'`, call, actor, signIn, token)
	return call
}

// agentDoes runs a statement for good, as the agent's login in Harbor Mill.
func (w *world) agentDoes(statement string, args ...any) {
	w.t.Helper()
	tx, err := w.db.Pools.Agent.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if code := inside(w.t, tx, w.workspace("harbor-mill"), statement, args...); code != "" {
		w.t.Fatalf("%s: %s", statement, code)
	}
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}
