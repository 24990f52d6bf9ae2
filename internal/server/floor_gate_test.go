package server_test

import (
	"context"
	"testing"
)

const (
	// decideAs inserts a decision of a kind on the only proposal, by its acting user in their live sign-in.
	decideAs = `INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, fingerprint)
		SELECT p.id, p.workspace_id, $1::text::decision_kind, $2::boolean, p.acting_user_id, s.id, p.fingerprint FROM proposals p JOIN sign_ins s ON s.user_id = p.acting_user_id`
	moveTo = `UPDATE proposals SET status = $1::text::proposal_status, resolved_at = clock_timestamp(),
		outcome_affected = CASE WHEN $1::text = 'applied' THEN 1 END, failure_code = CASE WHEN $1::text = 'failed' THEN 'internal'::failure_code END, failure_message = CASE WHEN $1::text = 'failed' THEN 'x' END`
)

// step is a statement and the code it is refused with; "" where it is not.
type step struct {
	statement string
	args      []any
	code      string
}

func decides(kind string, final bool, code string) step {
	return step{decideAs, []any{kind, final}, code}
}
func moves(status, code string) step { return step{moveTo, []any{status}, code} }

// takes runs steps in one transaction, which is undone.
func (w *world) takes(t *testing.T, steps []step) {
	t.Helper()
	tx, err := w.db.Pools.Gate.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	for _, s := range steps {
		savepoint, err := tx.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if code := inside(t, savepoint, w.workspace("harbor-mill"), s.statement, s.args...); code != s.code {
			t.Errorf("%s %v: %q, want %q", s.statement, s.args, code, s.code)
		}
		if s.code == "" {
			err = savepoint.Commit(t.Context())
		} else {
			err = savepoint.Rollback(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What the gate's own login cannot do, were the program wrong.
func TestTheDatabaseHoldsTheGateToTheDiagram(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	const check, unique, reference, guard, right = "23514", "23505", "23503", "CS002", "42501"
	for name, steps := range map[string][]step{
		"confirm without a sign-in": {{`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, fingerprint) SELECT id, workspace_id, 'confirm', true, fingerprint FROM proposals`, nil, check}},
		"confirm without a card":    {{`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id) SELECT p.id, p.workspace_id, 'confirm', true, s.user_id, s.id FROM proposals p, sign_ins s`, nil, check}},
		"confirm by a token":        {{`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, fingerprint, token_id) SELECT id, workspace_id, 'confirm', true, fingerprint, gen_random_uuid() FROM proposals`, nil, check}},
		"in another's sign-in": {{`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, fingerprint)
			SELECT p.id, p.workspace_id, 'confirm', true, u.id, s.id, p.fingerprint FROM proposals p, sign_ins s, users u WHERE u.email = 'paolo@harbor.example'`, nil, reference}},
		"two final ones":         {decides("confirm", true, ""), decides("reject", true, unique)},
		"two confirms":           {decides("confirm", false, ""), decides("confirm", true, unique)},
		"two votes":              {decides("approve", false, ""), decides("approve", false, unique)},
		"a vote for and against": {decides("approve", false, ""), decides("disapprove", true, unique)},
		"an open disapproval":    {decides("disapprove", false, check)},
		"waiting for nobody":     {decides("confirm", false, ""), {`UPDATE proposals SET status = 'awaiting_approval'`, nil, check}, {`UPDATE proposals SET status = 'awaiting_approval', approvals_raised = 21`, nil, check}},
		"waiting unconfirmed":    {{`UPDATE proposals SET status = 'awaiting_approval', approvals_raised = 1`, nil, guard}, decides("confirm", true, ""), {`UPDATE proposals SET status = 'awaiting_approval', approvals_raised = 1`, nil, guard}},
		"an approval that waits": {decides("confirm", false, ""), {`UPDATE proposals SET status = 'awaiting_approval', approvals_raised = 2`, nil, ""}, decides("approve", false, ""), moves("applied", guard), moves("failed", guard), moves("disapproved", guard), moves("rejected", guard), moves("superseded", guard)},
		"approvals once applied": {decides("confirm", false, ""), {`UPDATE proposals SET status = 'awaiting_approval', approvals_raised = 1`, nil, ""}, decides("approve", true, ""), moves("applied", ""), {`UPDATE proposals SET approvals_raised = 0`, nil, guard}},
		"an open reject":         {decides("reject", false, check)},
		"no decision":            {moves("applied", guard), moves("rejected", guard), moves("failed", guard), moves("expired", guard), moves("withdrawn", guard), moves("superseded", guard)},
		"another's decision":     {decides("reject", true, ""), moves("applied", guard), moves("withdrawn", guard), moves("rejected", "")},
		"a confirm that waits":   {decides("confirm", false, ""), moves("applied", guard), moves("failed", guard)},
		"off the diagram":        {decides("confirm", true, ""), moves("disapproved", guard), moves("applied", ""), moves("pending", guard), moves("failed", guard), moves("rejected", guard)},
		"applied, no outcome":    {decides("confirm", true, ""), {`UPDATE proposals SET status = 'applied', resolved_at = clock_timestamp()`, nil, check}},
		"another outcome later":  {decides("confirm", true, ""), moves("applied", ""), {`UPDATE proposals SET outcome_affected = 2`, nil, guard}, {`UPDATE proposals SET expires_at = expires_at + interval '1 day'`, nil, guard}},
		"another reason later": {decides("confirm", true, ""), moves("failed", ""), {`UPDATE proposals SET failure_message = 'another'`, nil, guard}, {`UPDATE proposals SET failure_field = 'name'`, nil, guard},
			{`UPDATE proposals SET failure_code = 'switched_off'`, nil, guard}},
		"another approver":  {{`UPDATE proposals SET approver_role = 'member'`, nil, right}, {`UPDATE proposals SET approvals_needed = 0`, nil, right}, {`UPDATE proposals SET shared = true`, nil, right}, {`UPDATE proposals SET approval_lifetime = interval '1 day'`, nil, right}},
		"another card":      {{`UPDATE proposals SET headline = 'x'`, nil, right}, {`UPDATE proposals SET fingerprint = salt::text`, nil, right}, {`UPDATE proposal_records SET changes = '[]'`, nil, right}},
		"another past":      {{`UPDATE proposal_decisions SET kind = 'reject'`, nil, right}, {`DELETE FROM proposal_decisions`, nil, right}, {`UPDATE audit_events SET verb = 'x'`, nil, right}, {`DELETE FROM audit_events`, nil, right}, {`UPDATE events SET type = 'applied'`, nil, right}, {`DELETE FROM events`, nil, right}, {`DELETE FROM proposals`, nil, right}, {`TRUNCATE audit_events`, nil, right}},
		"a card of its own": {{`INSERT INTO proposals (id) VALUES (gen_random_uuid())`, nil, right}, {`INSERT INTO proposal_records (proposal_id) VALUES (gen_random_uuid())`, nil, right}},
		"decisions of its own making": {{`CREATE TEMP TABLE proposal_decisions ON COMMIT DROP AS SELECT id AS proposal_id, 'confirm'::decision_kind AS kind, true AS final FROM proposals`, nil, ""}, moves("applied", guard),
			{`CREATE TYPE pg_temp.decision_kind AS ENUM ('confirm')`, nil, ""}, moves("applied", guard)},
	} {
		t.Run(name, func(t *testing.T) { w.takes(t, steps) })
	}
}

// In the setting of another workspace the gate's login sees no proposal of this one, and writes nothing that belongs to
// it: neither a decision, which would block it, nor a record or an event.
func TestNothingIsWrittenToAnotherWorkspacesProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	tx, err := w.db.Pools.Gate.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	theirs := w.sql(`SELECT id FROM countersign.proposals`)
	for _, insert := range []string{
		`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final) VALUES ('` + theirs + `', $1::text::uuid, 'expire', true)`,
		`INSERT INTO events (id, workspace_id, proposal_id, type, status) VALUES (gen_random_uuid(), $1::text::uuid, '` + theirs + `', 'expired', 'expired')`,
	} {
		savepoint, err := tx.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		other := w.workspace("other-site")
		if code := inside(t, savepoint, other, insert, other); code != "23503" {
			t.Errorf("%s: %q", insert, code)
		}
		if err := savepoint.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
}
