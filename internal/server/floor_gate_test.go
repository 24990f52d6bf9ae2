package server_test

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/server"
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
		"two final ones":        {decides("confirm", true, ""), decides("reject", true, unique)},
		"two confirms":          {decides("confirm", false, ""), decides("confirm", true, unique)},
		"two votes":             {decides("approve", false, ""), decides("approve", false, unique)},
		"an open reject":        {decides("reject", false, check)},
		"no decision":           {moves("applied", guard), moves("rejected", guard), moves("failed", guard), moves("expired", guard), moves("withdrawn", guard), moves("superseded", guard)},
		"another's decision":    {decides("reject", true, ""), moves("applied", guard), moves("withdrawn", guard), moves("rejected", "")},
		"a confirm that waits":  {decides("confirm", false, ""), moves("applied", guard), moves("failed", guard)},
		"off the diagram":       {decides("confirm", true, ""), moves("disapproved", guard), moves("applied", ""), moves("pending", guard), moves("failed", guard), moves("rejected", guard)},
		"applied, no outcome":   {decides("confirm", true, ""), {`UPDATE proposals SET status = 'applied', resolved_at = clock_timestamp()`, nil, check}},
		"another outcome later": {decides("confirm", true, ""), moves("applied", ""), {`UPDATE proposals SET outcome_affected = 2`, nil, guard}, {`UPDATE proposals SET expires_at = expires_at + interval '1 day'`, nil, guard}},
		"another reason later": {decides("confirm", true, ""), moves("failed", ""), {`UPDATE proposals SET failure_message = 'another'`, nil, guard}, {`UPDATE proposals SET failure_field = 'name'`, nil, guard},
			{`UPDATE proposals SET failure_code = 'switched_off'`, nil, guard}},
		"another card":      {{`UPDATE proposals SET headline = 'x'`, nil, right}, {`UPDATE proposals SET fingerprint = salt::text`, nil, right}, {`UPDATE proposal_records SET changes = '[]'`, nil, right}},
		"another past":      {{`UPDATE proposal_decisions SET kind = 'reject'`, nil, right}, {`DELETE FROM proposal_decisions`, nil, right}, {`UPDATE audit_events SET verb = 'x'`, nil, right}, {`DELETE FROM audit_events`, nil, right}, {`UPDATE events SET type = 'applied'`, nil, right}, {`DELETE FROM events`, nil, right}, {`DELETE FROM proposals`, nil, right}, {`TRUNCATE audit_events`, nil, right}},
		"a card of its own": {{`INSERT INTO proposals (id) VALUES (gen_random_uuid())`, nil, right}, {`INSERT INTO proposal_records (proposal_id) VALUES (gen_random_uuid())`, nil, right}},
		"decisions of its own making": {{`CREATE TEMP TABLE proposal_decisions ON COMMIT DROP AS SELECT id AS proposal_id, 'confirm'::decision_kind AS kind, true AS final FROM proposals`, nil, ""}, moves("applied", guard),
			{`CREATE TYPE pg_temp.decision_kind AS ENUM ('confirm')`, nil, ""}, moves("applied", guard)},
	} {
		t.Run(name, func(t *testing.T) { w.takes(t, steps) })
	}
}

// Nor can who owns the tables rewrite what was.
func TestThePastIsAppendOnly(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.confirm(maria.rename("4", "reviewer")).want(vars{"confirmProposal.result.status": "APPLIED"})
	for _, statement := range []string{
		`UPDATE audit_events SET outcome = 'x'`, `UPDATE events SET type = 'failed'`, `UPDATE proposal_decisions SET reason = 'x'`, `UPDATE proposal_records SET label = 'x'`,
		`UPDATE proposals SET headline = 'x'`, `UPDATE proposals SET fingerprint = repeat('0', 64)`, `UPDATE proposals SET assistant_note = 'x'`, `UPDATE proposals SET status = 'pending', resolved_at = NULL, outcome_affected = NULL`,
	} {
		if code := sqlstate(t, w.db.Owner, "", statement); code != "CS002" {
			t.Errorf("%s: %q", statement, code)
		}
	}
}

func TestARecordToChangeHasItsVersion(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	for values, code := range map[string]string{
		`'update', '4', NULL`: "23514", `'delete', '4', NULL`: "23514", `'update', NULL, repeat('a', 64)`: "23514", `'update', '4', 'editor'`: "23514",
		`'bulk_update', '4', repeat('a', 64)`: "23514", `'create', NULL, NULL`: "", `'update', '4', repeat('a', 64)`: "",
	} {
		statement := `INSERT INTO proposal_records (proposal_id, workspace_id, position, entity, label, before, changes, operation, key, version)
			SELECT id, workspace_id, 2, 'core.role', 'editor', '{}', '[]', ` + values + ` FROM proposals`
		if got := sqlstate(t, w.db.Owner, "", statement); got != code {
			t.Errorf("%s: %q, want %q", values, got, code)
		}
	}
}

func TestIndexesAndWhatGoesWithAProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	for like, what := range map[string]string{
		`% ON countersign.proposals % (acting_user_id, status%`:                                "by owner and status",
		`% ON countersign.proposals % (created_at%`:                                            "by time",
		`CREATE UNIQUE INDEX % ON countersign.proposal_decisions % (proposal_id) WHERE final`:  "one final decision",
		`CREATE UNIQUE INDEX % ON countersign.proposal_decisions % (proposal_id) WHERE (kind%`: "one confirm",
	} {
		if n := w.sql(`SELECT count(*) FROM pg_indexes WHERE indexdef LIKE $1`, like); n == "0" {
			t.Errorf("no index: %s", what)
		}
	}
	maria := w.signIn("maria@harbor.example")
	maria.confirm(maria.rename("4", "reviewer")).want(vars{"confirmProposal.result.status": "APPLIED"})
	const rows = `SELECT (SELECT count(*) FROM countersign.proposal_decisions) || ' ' || (SELECT count(*) FROM countersign.proposal_records) || ' ' ||
		(SELECT count(*) FROM countersign.events) || ' ' || (SELECT count(*) FROM countersign.audit_events) || ' ' || (SELECT count(*) FROM countersign.tool_calls)`
	if got := w.sql(rows); got != "1 1 2 2 2" {
		t.Errorf("before: %s", got)
	}
	w.exec(`DELETE FROM countersign.proposals`)
	if got := w.sql(rows); got != "0 0 0 2 2" {
		t.Errorf("after: %s", got)
	}
}

// The worker stores that something has lapsed, and nothing else.
func TestTheWorkerOnlyExpires(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	harbor := w.workspace("harbor-mill")
	for _, statement := range []string{
		`UPDATE proposals SET resolved_at = clock_timestamp()`,
		`UPDATE proposals SET expires_at = clock_timestamp()`, `UPDATE proposals SET status = 'applied', outcome_affected = 1`, `DELETE FROM proposals`, `UPDATE core.roles SET name = 'x'`, `SELECT FROM core.roles`,
		`UPDATE tool_calls SET status = 'succeeded'`, `UPDATE turns SET status = 'running'`, `DELETE FROM tool_calls`,
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
