package server_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A right that a decision goes by is not lost before that has committed: who takes it away waits.
func TestRightsHoldStillUntilADecisionCommits(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	held := func(role string, decide func() *answer, losses map[string]string) {
		_, release := w.hold(`SELECT FROM core.roles WHERE id = $1::text::bigint FOR UPDATE`, role)
		w.together(1, 1, func() {
			for what, loss := range losses {
				if code := w.impatient(t, loss); code != "55P03" {
					t.Errorf("%s, while a decision that goes by it is being written: %q, and did not wait", what, code)
				}
			}
			release()
		}, func(int) *answer { return decide() })
	}
	id, fingerprint := maria.rename("4", "reviewer")
	held("4", func() *answer { return maria.confirm(id, fingerprint) }, map[string]string{
		"a sign-in ends":        `UPDATE sign_ins SET ended_at = clock_timestamp() WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`,
		"a membership goes":     `DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`,
		"a member is no member": `UPDATE memberships SET role = 'auditor' WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`,
	})
	id, fingerprint = maria.waiting("7")
	held("7", func() *answer { return jonas.approve(id, fingerprint) }, map[string]string{
		"an approver's membership goes": `DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'jonas@harbor.example')`,
		"the confirmer's goes":          `DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'maria@harbor.example')`,
	})
	if got := w.sql(`SELECT string_agg(status::text, ' ' ORDER BY number) FROM countersign.proposals`); got != "applied applied" {
		t.Errorf("they ended %s", got)
	}
	w.invariants()
}

// impatient runs a statement as the owner that waits for no lock, undoes it, and gives the code it is refused with.
func (w *world) impatient(t *testing.T, statement string) string {
	t.Helper()
	tx, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `SET LOCAL lock_timeout = '50ms'`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return inside(t, tx, "", statement)
}
