package server_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// No login of the application changes what was audited. The owner trims it, and cannot rewrite it either.
func TestTheAuditTrailIsTheOperatorsToTrim(t *testing.T) {
	t.Parallel()
	w := busy(t)
	harbor, pools := w.workspace("harbor-mill"), w.db.Pools
	for login, pool := range map[string]*pgxpool.Pool{"gate": pools.Gate, "agent": pools.Agent, "reader": pools.Reader, "worker": pools.Worker, "identity": pools.Identity} {
		for _, statement := range []string{
			`DELETE FROM audit_events`, `DELETE FROM audit_events WHERE at < now() - interval '1 year'`, `TRUNCATE audit_events`, `UPDATE audit_events SET outcome = 'x'`, `UPDATE audit_events SET at = at - interval '10 years'`,
			`SELECT FROM audit_events FOR UPDATE`, `MERGE INTO audit_events USING (SELECT 1) AS o ON true WHEN MATCHED THEN DELETE`, `ALTER TABLE audit_events DISABLE TRIGGER ALL`, `DROP TABLE audit_events`,
			`SET LOCAL session_replication_role = replica`, `SET LOCAL ROLE countersign_owner`, `SET LOCAL ROLE countersign_definer`,
		} {
			if code := sqlstate(t, pool, harbor, statement); code != "42501" {
				t.Errorf("%s: %s: %q", login, statement, code)
			}
		}
	}
	before := w.sql(`SELECT count(*) FROM audit_events`)
	w.exec(`DELETE FROM countersign.audit_events WHERE at < now() - interval '2 years'`)
	if after := w.sql(`SELECT count(*) FROM audit_events`); before == "0" || after != before {
		t.Errorf("of %s young entries %s are left", before, after)
	}
	if code := sqlstate(t, w.db.Owner, "", `UPDATE countersign.audit_events SET at = at - interval '3 years'`); code != "CS002" {
		t.Errorf("the owner rewrites it: %q", code)
	}
	w.exec(`DELETE FROM countersign.audit_events WHERE at < now()`)
	if after := w.sql(`SELECT count(*) FROM audit_events`); after != "0" {
		t.Errorf("trimmed, and %s are left", after)
	}
}

// deletes counts what a login's statement would delete.
func (w *world) deletes(pool *pgxpool.Pool, workspace, statement string) int64 {
	w.t.Helper()
	tx, err := pool.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(w.t.Context()) }()
	if _, err := tx.Exec(w.t.Context(), `SELECT set_config('countersign.workspace', $1, true)`, workspace); err != nil {
		w.t.Fatal(err)
	}
	tag, err := tx.Exec(w.t.Context(), statement)
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	return tag.RowsAffected()
}

// The worker deletes what is over, of the workspace it works in, and nothing that belongs to a proposal by itself.
func TestTheWorkerDeletesOnlyWhatIsOver(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria, olu := w.signIn("maria@harbor.example"), w.signIn("olu@othersite.example")
	maria.rename("4", "reviewer")
	maria.waiting(w.spare())
	lapsed, _ := maria.rename("5", "onlooker")
	w.aged(31, lapsed)
	rejected, _ := maria.rename("6", "shopper")
	theirs, _ := olu.rename("10", "boss")
	for who, one := range map[*client]string{maria: rejected, olu: theirs} {
		who.gql(reject, vars{"in": vars{"id": one}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	}
	w.exec(`INSERT INTO countersign.usage (workspace_id, user_id, measure, amount, at) SELECT w.id, u.id, 'tool_calls', 1, now() - months * interval '1 month' FROM countersign.workspaces w, (SELECT id FROM countersign.users LIMIT 1) AS u, unnest(ARRAY[1, 3]) AS months WHERE w.slug IN ('harbor-mill', 'other-site')`)
	worker, harbor := w.db.Pools.Worker, w.workspace("harbor-mill")
	for statement, want := range map[string]int64{`DELETE FROM proposals`: 2, `DELETE FROM tool_calls`: 0, `DELETE FROM usage`: 1} {
		if got := w.deletes(worker, harbor, statement); got != want {
			t.Errorf("%s: %d, want %d", statement, got, want)
		}
		if got := w.deletes(worker, "", statement); got != 0 {
			t.Errorf("without a workspace: %s: %d", statement, got)
		}
	}
	for _, table := range []string{"proposal_records", "proposal_created", "proposal_decisions", "events", "feed", "feed_floor", "idempotency_keys", "audit_events", "conversations", "messages", "turns", "memberships", "users", "workspaces", "budgets", "policies"} {
		if code := sqlstate(t, worker, harbor, `DELETE FROM `+table); code != "42501" {
			t.Errorf("%s: %q", table, code)
		}
	}
	for login, pool := range map[string]*pgxpool.Pool{"gate": w.db.Pools.Gate, "agent": w.db.Pools.Agent, "reader": w.db.Pools.Reader, "identity": w.db.Pools.Identity} {
		for _, statement := range []string{`DELETE FROM proposals`, `DELETE FROM tool_calls`, `DELETE FROM usage`, `DELETE FROM river_job`, `SELECT FROM river_job`, `INSERT INTO river_job DEFAULT VALUES`, `SELECT FROM river_leader`} {
			if code := sqlstate(t, pool, harbor, statement); code != "42501" {
				t.Errorf("%s: %s: %q", login, statement, code)
			}
		}
	}
	if n := w.sweeps(); n != 1 || w.sql(`SELECT count(*) FROM countersign.usage WHERE at < now() - interval '2 months'`) != "0" || w.sql(`SELECT count(*) FROM countersign.usage WHERE at < now() - interval '1 day'`) != "2" {
		t.Errorf("%d proposals were deleted, and of what was used %s rows are left", n, w.sql(`SELECT count(*) FROM countersign.usage`))
	}
}

// Whoever signed in is audited with the address they had.
func TestWhatAPersonDoesIsAuditedWithTheirAddress(t *testing.T) {
	t.Parallel()
	w := busy(t)
	w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose")).rename("5", "onlooker")
	verbs := w.sql(`SELECT string_agg(DISTINCT verb, ' ' ORDER BY verb) FROM audit_events WHERE sign_in_id IS NOT NULL`)
	if n := w.sql(`SELECT count(*) FROM audit_events a WHERE sign_in_id IS NOT NULL AND address IS DISTINCT FROM (SELECT s.address FROM sign_ins s WHERE s.id = a.sign_in_id)`); n != "0" || verbs != "confirm propose reject" {
		t.Errorf("%s entries (of %s) have another address than the sign-in", n, verbs)
	}
	if n := w.sql(`SELECT count(*) FROM audit_events WHERE sign_in_id IS NOT NULL AND address IS NULL`); n != "0" {
		t.Errorf("%s entries have no address", n)
	}
	if n := w.sql(`SELECT count(*) FROM audit_events WHERE sign_in_id IS NULL AND (token_id IS NULL OR address IS NOT NULL)`); n != "0" {
		t.Errorf("%s entries of a token say where somebody signed in", n)
	}
}
