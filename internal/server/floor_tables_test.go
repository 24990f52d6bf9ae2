package server_test

import (
	"testing"
)

// Nor can who owns the tables rewrite what was.
func TestThePastIsAppendOnly(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.confirm(maria.rename("4", "reviewer")).want(vars{"confirmProposal.result.status": "APPLIED"})
	maria.applied(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	for _, statement := range []string{
		`UPDATE audit_events SET outcome = 'x'`, `UPDATE events SET type = 'failed'`, `UPDATE proposal_decisions SET reason = 'x'`, `UPDATE proposal_records SET label = 'x'`, `UPDATE proposal_created SET position = 2`,
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
