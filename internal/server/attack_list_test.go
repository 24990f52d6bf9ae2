package server_test

import (
	"maps"
	"slices"
)

// may is what a login can do, and why that moves no business record, decision or status but as it should. What it
// may do with a table is held further by row-level security, keys and triggers: the other tests of the floor.
type may struct {
	why  string
	what []string
}

var listed = map[string][]may{
	"everybody": {
		{"PostgreSQL lets every role change its own password and settings; pools set theirs when they connect", []string{`ALTER ROLE CURRENT_USER PASSWORD 'mine'`, `ALTER ROLE CURRENT_USER SET search_path = pg_temp`}},
		{"what is a session's own runs with the session's own rights, and no function of ours looks there", []string{`CREATE TEMP TABLE mine ()`, `CREATE TEMP VIEW peek AS SELECT * FROM proposals`, `CREATE FUNCTION pg_temp.mine() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'`, `DO $$ BEGIN PERFORM 1; END $$`}},
		{"a hint to look at the feed, which is looked at anyway: TestAnyLoginsHintsAndLocks", []string{`LISTEN countersign_feed`, `NOTIFY countersign_feed, '9'`, `SELECT pg_logical_emit_message(true, 'a', 'b')`}},
		{"without it a statement that row-level security would filter is an error", []string{`SET LOCAL row_security = off`}},
		{"reads what the login may read", []string{`SELECT database_to_xml(true, true, '')`}},
		{"large objects are nobody's records", []string{`SELECT lo_create(0)`}},
		{"a lock that only proposals of the same wish wait for, for as long as a statement may wait", []string{`SELECT pg_advisory_xact_lock(1)`}},
	},
	"agent": {
		{"reads as the person", []string{`SET ROLE harbor_read`, `set_config role harbor_read`}},
		{"what is said is the assistant's to write", []string{`INSERT conversations`, `UPDATE conversations`, `LOCK conversations`, `INSERT messages`, `UPDATE messages`, `LOCK messages`, `INSERT turns`, `UPDATE turns`, `LOCK turns`}},
		{"its ways in, which check who calls", []string{`call propose`, `call record_tool_call`, `call finish_tool_call`, `call withdraw`}},
		{"counts what is used, which can only be more than it was, and reads what is left", []string{`INSERT usage`, `call budget_used`, `call spent`}},
	},
	"reader": {{"reads as the person", []string{`SET ROLE harbor_read`, `set_config role harbor_read`}}},
	"worker": {
		{"stores what has lapsed: TestTheWorkerOnlyExpires", []string{`UPDATE proposals (resolved_at, status)`, `INSERT proposal_decisions`, `INSERT events`, `INSERT audit_events`, `UPDATE tool_calls (code, finished_at, status)`}},
		{"gives events their positions", []string{`call sequence_feed`, `INSERT feed`, `DELETE feed_queue`, `MERGE feed_queue`, `LOCK feed_queue`, `LOCK feed_restores`, `UPDATE feed_restores`}},
		{"deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver", onEach("", []string{"DELETE ", "MERGE ", "LOCK "}, "proposals", "tool_calls", "usage")},
		{"keeps the jobs that do", append(onEach("", []string{"INSERT ", "UPDATE ", "DELETE ", "MERGE ", "LOCK "}, "river_job", "river_leader", "river_notification", "river_queue"),
			`call river_job_state_in_bitmask`, `nextval river_job_id_seq`, `nextval river_notification_id_seq`)},
	},
	"gate": {
		{"decides: TestTheDatabaseHoldsTheGateToTheDiagram", []string{`INSERT proposal_decisions`, `INSERT events`, `INSERT audit_events`, `INSERT tool_calls`,
			`UPDATE proposals (approvals_raised, approver_raised, expires_at, extended_at, failed_positions, failure_code, failure_field, failure_message, outcome_affected, outcome_keys, outcome_record, outcome_record_id, resolved_at, status, superseded_by_id)`}},
		{"keeps versions of what was created", []string{`INSERT proposal_created`}},
		{"a column that means nothing, for FOR SHARE", []string{`UPDATE policies (share_lock)`, `UPDATE memberships (share_lock)`, `UPDATE sign_ins (share_lock)`}},
		{"revises", []string{`call propose`, `call record_tool_call`, `call finish_tool_call`}},
		{"reads and writes as the person", append([]string{`SET ROLE harbor_read`, `set_config role harbor_read`, `SET ROLE harbor_write`, `set_config role harbor_write`},
			onEach("as harbor_write: ", []string{"INSERT ", "UPDATE ", "DELETE ", "LOCK ", "MERGE "}, "core.roles", "core.users", "crp.calendar_days", "crp.operations", "mrp.production_orders", "mrp.work_centers")...)},
		{"numbers of new records", onEach("as harbor_write: ", []string{"nextval "}, "core.roles_id_seq", "core.users_id_seq", "crp.calendar_days_id_seq", "crp.operations_id_seq", "mrp.production_orders_id_seq", "mrp.work_centers_id_seq")},
	},
	"identity": {
		{"says who may sign in, and as what", slices.Concat(onEach("", []string{"INSERT ", "UPDATE ", "LOCK "}, "api_tokens", "memberships", "sessions", "sign_in_failures", "sign_ins", "users"),
			onEach("", []string{"DELETE ", "MERGE "}, "memberships", "sessions", "sign_in_failures"))},
	},
}

func onEach(before string, verbs []string, names ...string) (list []string) {
	for _, verb := range verbs {
		for _, name := range names {
			list = append(list, before+verb+name)
		}
	}
	return list
}

// onlyWhatIsListed holds what succeeded against the list: nothing more, and nothing less, so that the list stays true.
func (a *attacker) onlyWhatIsListed() {
	a.t.Helper()
	want := map[string]bool{}
	for _, of := range []string{"everybody", a.login} {
		for _, reason := range listed[of] {
			for _, what := range reason.what {
				want[what] = true
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(a.succeed)) {
		if !want[what] {
			a.t.Errorf("%s may: %s", a.login, what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(want)) {
		if !a.succeed[what] {
			a.t.Errorf("%s may no longer: %s; take it from the list", a.login, what)
		}
	}
}
