package server_test

import (
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// The worker stores that something has lapsed; what it deletes is in TestTheWorkerDeletesOnlyWhatIsOver.
func TestTheWorkerOnlyExpires(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	harbor := w.workspace("harbor-mill")
	for _, statement := range []string{
		`UPDATE proposals SET resolved_at = clock_timestamp()`,
		`UPDATE proposals SET expires_at = clock_timestamp()`, `UPDATE proposals SET status = 'applied', outcome_affected = 1`, `UPDATE core.roles SET name = 'x'`, `SELECT FROM core.roles`,
		`UPDATE tool_calls SET status = 'succeeded'`, `UPDATE turns SET status = 'running'`,
		`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final) SELECT id, workspace_id, 'withdraw', true FROM proposals`,
		`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, fingerprint) SELECT id, workspace_id, 'confirm', true, acting_user_id, gen_random_uuid(), fingerprint FROM proposals`,
	} {
		if code := sqlstate(t, w.db.Pools.Worker, harbor, statement); code != "42501" {
			t.Errorf("%s: %q", statement, code)
		}
	}
	for _, lapsed := range []bool{false, true} {
		code := map[bool]string{false: "42501", true: ""}[lapsed]
		tx, err := w.db.Pools.Worker.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lapsed {
			w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
		}
		if got := inside(t, tx, harbor, `INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final) SELECT id, workspace_id, 'expire', true FROM proposals`); got != "" {
			t.Errorf("lapsed %v: the decision: %q", lapsed, got)
		}
		if got := inside(t, tx, harbor, `UPDATE proposals SET status = 'expired', resolved_at = expires_at`); got != code {
			t.Errorf("lapsed %v: %q, want %q", lapsed, got, code)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []string{"withdrawn", "rejected", "applied"} {
		if code := sqlstate(t, w.db.Pools.Worker, harbor, `UPDATE proposals SET status = $1::text::proposal_status, resolved_at = clock_timestamp()`, status); code != "CS002" && code != "42501" {
			t.Errorf("%s: %q", status, code)
		}
	}
}
