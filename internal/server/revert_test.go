package server_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

const (
	undone = `result { __typename ... on Proposal { ` + card + ` revertOf { id number }
		three: summary { changes { field from { json } to { json } applied { json } } records { edges { node { record { id } changes { field from { json } to { json } applied { json } } } } } }
		revertConflicts { edges { node { record { entity id label } reason taken takes field before { json masked } applied { json masked } now { json masked } } } pageInfo { hasNextPage } } warnings { code message } }
		... on ProposalRefused { code message field } }`
	revert = `mutation($in: ProposeRevertInput!) { proposeRevert(input: $in) { ` + undone + ` } }`
)

func (c *client) revert(id string, take ...string) *answer {
	c.w.t.Helper()
	return c.gql(revert, vars{"in": vars{"id": id, "takeFields": take}})
}

// reverted proposes a revert and gives the new proposal's id and fingerprint.
func (c *client) reverted(id string, take ...string) (string, string) {
	c.w.t.Helper()
	a := c.revert(id, take...)
	a.want(vars{"proposeRevert.result.__typename": "Proposal", "proposeRevert.result.status": "PENDING", "proposeRevert.result.revertOf.id": id})
	return a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint")
}

func (a *answer) wantNoRevert(code string, field any) {
	a.t.Helper()
	if len(a.Errors) > 0 || a.at("proposeRevert.result.__typename") != "ProposalRefused" || a.at("proposeRevert.result.code") != code || a.at("proposeRevert.result.field") != field {
		a.t.Errorf("want %s of %v, got %s", code, field, a.raw)
	}
}

// applied proposes and confirms.
func (c *client) applied(in vars) string {
	c.w.t.Helper()
	id, fingerprint := c.propose(in)
	c.confirmed(id, fingerprint)
	return id
}

func (c *client) confirmed(id, fingerprint string) *answer {
	c.w.t.Helper()
	a := c.confirm(id, fingerprint)
	a.want(vars{"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "APPLIED"})
	return a
}

func TestRevertOfAnUpdate(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer", "description": nil}})
	maria.gql(show, vars{"id": first}).want(vars{"proposal.viewerActions": []string{"REVERT"}})

	a := maria.revert(first)
	a.want(vars{"proposeRevert.result.operation": "UPDATE", "proposeRevert.result.actionKind": "record_update", "proposeRevert.result.tool": "revert_proposal",
		"proposeRevert.result.three.changes": []any{
			vars{"field": "name", "from": vars{"json": "reviewer"}, "to": vars{"json": "editor"}, "applied": vars{"json": "reviewer"}},
			vars{"field": "description", "from": vars{"json": nil}, "to": vars{"json": "Keeps items and texts up to date"}, "applied": vars{"json": nil}}},
		"proposeRevert.result.revertConflicts.edges": []any{}, "proposeRevert.result.viewerActions": []string{"CONFIRM", "REJECT", "WITHDRAW", "EXTEND"}})
	second, fingerprint := a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint")
	if again, _ := maria.reverted(first); again != second {
		t.Errorf("the same revert is proposed twice: %s and %s", second, again)
	}
	if got := w.sql(`SELECT headline FROM countersign.proposals WHERE revert_of_id IS NOT NULL`); got != "Undo #"+w.sql(`SELECT min(number) FROM countersign.proposals`)+`: Change name and description of role "reviewer"` {
		t.Errorf("headline: %s", got)
	}
	maria.revise(second, fingerprint, vars{"name": "x"}).wantRefusal("INVALID_INPUT", nil)
	maria.confirmed(second, fingerprint)
	if got := w.sql(`SELECT name || ': ' || description FROM core.roles WHERE id = 4`); got != "editor: Keeps items and texts up to date" {
		t.Errorf("the role is now %s", got)
	}
	maria.revert(first).wantNoRevert("ALREADY_DECIDED", nil)

	third, fingerprint := maria.reverted(second) // the revert of a revert
	maria.confirmed(third, fingerprint)
	if got := w.sql(`SELECT name || (description IS NULL) FROM core.roles WHERE id = 4`); got != "reviewertrue" {
		t.Errorf("the role is now %s", got)
	}
	fourth, fingerprint := maria.reverted(first) // what it had done holds again
	maria.confirmed(fourth, fingerprint)
	w.invariants()
}

func TestWhatChangedSinceIsAConflict(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer", "description": "Reads proofs"}})
	w.exec(`UPDATE core.roles SET description = 'Theirs' WHERE id = 4`)
	conflict := vars{"record": vars{"entity": "core.role", "id": "4", "label": "editor"}, "reason": "CHANGED", "taken": false, "takes": "description", "field": "description",
		"before": vars{"json": "Keeps items and texts up to date", "masked": false}, "applied": vars{"json": "Reads proofs", "masked": false}, "now": vars{"json": "Theirs", "masked": false}}
	left := maria.revert(first)
	left.want(vars{"proposeRevert.result.three.changes": []any{vars{"field": "name", "from": vars{"json": "reviewer"}, "to": vars{"json": "editor"}, "applied": vars{"json": "reviewer"}}},
		"proposeRevert.result.revertConflicts.edges": []any{vars{"node": conflict}}})
	maria.revert(first, "nothing").wantNoRevert("INVALID_INPUT", "takeFields")

	conflict["taken"] = true
	taken := maria.revert(first, "description", "id")
	taken.want(vars{"proposeRevert.result.revertConflicts.edges": []any{vars{"node": conflict}},
		"proposeRevert.result.three.changes.1": vars{"field": "description", "from": vars{"json": "Theirs"}, "to": vars{"json": "Keeps items and texts up to date"}, "applied": vars{"json": "Reads proofs"}}})
	if left.text("proposeRevert.result.fingerprint") == taken.text("proposeRevert.result.fingerprint") {
		t.Error("two cards have one fingerprint")
	}
	maria.confirmed(left.text("proposeRevert.result.id"), left.text("proposeRevert.result.fingerprint"))
	if got := w.sql(`SELECT name || ': ' || description FROM core.roles WHERE id = 4`); got != "editor: Theirs" {
		t.Errorf("the role is now %s", got)
	}
	maria.confirm(taken.text("proposeRevert.result.id"), taken.text("proposeRevert.result.fingerprint")).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "RECORD_CHANGED"})
	rest, fingerprint := maria.reverted(first, "description") // what was left out can be restored later
	maria.confirmed(rest, fingerprint)
	if got := w.sql(`SELECT name || ': ' || description FROM core.roles WHERE id = 4`); got != "editor: Keeps items and texts up to date" {
		t.Errorf("the role is now %s", got)
	}
	w.invariants()
}

func TestRevertsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	pending, _ := maria.rename("5", "onlooker")
	maria.revert(pending).wantNoRevert("NOT_OFFERED", nil)
	maria.gql(reject, vars{"in": vars{"id": pending}})
	maria.revert(pending).wantNoRevert("NOT_OFFERED", nil)
	maria.revert("prop_01h455vb4pex5vsknk084sn02q").refused("NOT_FOUND")

	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}})
	for _, email := range []string{"paolo@harbor.example", "rosa@harbor.example", "sam@harbor.example", "jonas@harbor.example"} {
		w.signIn(email).revert(first).refused("FORBIDDEN")
	}
	w.signIn("olu@othersite.example").revert(first).refused("NOT_FOUND")
	w.as(w.db.APIToken(t, "maria@harbor.example", "read")).revert(first).refused("FORBIDDEN")

	w.exec(`UPDATE core.roles SET name = 'editor' WHERE id = 4`)
	maria.revert(first).wantNoRevert("NOTHING_TO_CHANGE", nil) // it is as it was
	w.exec(`UPDATE core.roles SET name = 'theirs' WHERE id = 4`)
	maria.revert(first).wantNoRevert("NOTHING_TO_CHANGE", "takeFields")
	w.exec(`UPDATE core.users SET role_id = 1 WHERE role_id = 4`)
	w.exec(`DELETE FROM core.roles WHERE id = 4`)
	maria.revert(first).wantNoRevert("RECORD_GONE", nil)
	if n := w.sql(`SELECT count(*) FROM countersign.proposals WHERE revert_of_id IS NOT NULL`); n != "0" {
		t.Errorf("%s reverts were made", n)
	}
	if got := w.sql(`SELECT string_agg(DISTINCT status || ' ' || coalesce(code, ''), ', ') FROM countersign.tool_calls WHERE tool = 'revert_proposal'`); got != "failed FORBIDDEN, failed NOT_FOUND, refused NOTHING_TO_CHANGE, refused NOT_OFFERED, refused RECORD_GONE" {
		t.Errorf("the calls ended: %s", got)
	}
	w.invariants()
}

func TestATokenProposesARevertAndDecidesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}})
	token := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	token.gql(show, vars{"id": first}).want(vars{"proposal.viewerActions": []string{"REVERT"}})
	id, fingerprint := token.reverted(first)
	token.confirm(id, fingerprint).refused("FORBIDDEN")
	maria.confirmed(id, fingerprint)
	w.invariants()
}

// deletable offers deletion without approval.
func deletable(t *testing.T, w *world) {
	w.url = w.serve(registryWith(t, "delete: { approval: 1 }", "delete:"))
}

func TestADeletedRecordComesBack(t *testing.T) {
	t.Parallel()
	w := start(t)
	deletable(t, w)
	maria := w.signIn("maria@harbor.example")
	was := w.sql(`SELECT r::text FROM core.roles r WHERE id = 7`)
	gone := maria.applied(vars{"entity": "core.role", "operation": "DELETE", "recordId": "7"})

	w.exec(`INSERT INTO core.roles (id, site, name) VALUES (7, 'harbor-mill', 'another')`)
	maria.revert(gone).wantNoRevert("WOULD_FAIL", nil)
	w.exec(`DELETE FROM core.roles WHERE id = 7`)

	a := maria.revert(gone)
	a.want(vars{"proposeRevert.result.operation": "CREATE", "proposeRevert.result.actionKind": "record_create", "proposeRevert.result.summary.record": nil, "proposeRevert.result.summary.sampleIds": []string{"7"},
		"proposeRevert.result.three.changes.1.to.json": "temp", "proposeRevert.result.three.changes.1.applied": nil, "proposeRevert.result.warnings.0.code": "NOT_RESTORED"})
	if fields := len(a.at("proposeRevert.result.three.changes").([]any)); fields != 4 {
		t.Errorf("the card shows %d fields", fields)
	}
	id, fingerprint := a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint")
	maria.confirmed(id, fingerprint).want(vars{"confirmProposal.result.outcome.recordId": "7"})
	if now := w.sql(`SELECT r::text FROM core.roles r WHERE id = 7`); now != was {
		t.Errorf("it came back as %s and was %s", now, was)
	}

	again, fingerprint := maria.reverted(id) // which deletes it again
	maria.gql(show, vars{"id": again}).want(vars{"proposal.operation": "DELETE"})
	maria.confirmed(again, fingerprint)
	back, fingerprint := maria.reverted(again)
	maria.confirmed(back, fingerprint)
	if now := w.sql(`SELECT r::text FROM core.roles r WHERE id = 7`); now != was {
		t.Errorf("it came back as %s and was %s", now, was)
	}
	w.invariants()
}

func TestAKeyThatIsTakenOutOfSight(t *testing.T) {
	t.Parallel()
	w := start(t)
	deletable(t, w)
	maria := w.signIn("maria@harbor.example")
	gone := maria.applied(vars{"entity": "core.role", "operation": "DELETE", "recordId": "7"})
	w.exec(`INSERT INTO core.roles (id, site, name) VALUES (7, 'other-site', 'another')`)
	maria.revert(gone).wantNoRevert("WOULD_FAIL", "id")
	w.exec(`DELETE FROM core.roles WHERE id = 7`)
	w.exec(`ALTER TABLE core.roles ALTER COLUMN id SET GENERATED ALWAYS`)
	deletable(t, w)
	(&client{w: w, url: w.url, token: maria.token}).revert(gone).wantNoRevert("WOULD_FAIL", nil)
	w.invariants()
}

func TestACreatedRecordIsDeleted(t *testing.T) {
	t.Parallel()
	w := start(t)
	deletable(t, w)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	key := maria.confirmed(id, fingerprint).text("confirmProposal.result.outcome.recordId")
	undo, fingerprint := maria.reverted(id)
	maria.gql(show, vars{"id": undo}).want(vars{"proposal.operation": "DELETE", "proposal.summary.record.id": key})
	w.exec(`UPDATE core.roles SET description = 'In use' WHERE id = $1::text::bigint`, key)
	maria.confirm(undo, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "RECORD_CHANGED"})

	refused := maria.revert(id)
	refused.wantNoRevert("NOTHING_TO_CHANGE", "takeFields")
	a := maria.revert(id, "description", "updated_at")
	a.want(vars{"proposeRevert.result.operation": "DELETE", "proposeRevert.result.revertConflicts.edges.0.node.field": "description", "proposeRevert.result.revertConflicts.edges.0.node.taken": true})
	maria.confirmed(a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint"))
	if n := w.sql(`SELECT count(*) FROM core.roles WHERE id = $1::text::bigint`, key); n != "0" {
		t.Error("it is still there")
	}
	w.invariants()
}

func TestABulkChangeIsRestoredRecordByRecord(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	w.exec(`INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date, notes)
		SELECT 'harbor-mill', 'PO-20' || n, 'FG', n, 'keg', 'released', n, '2026-07-01', '2026-07-02', '2026-07-03', 'note ' || n FROM generate_series(10, 15) AS many (m), LATERAL (SELECT m - 9 AS n) AS one WHERE m - 9 <> 2`)
	all := `SELECT string_agg(order_number || ' ' || priority || ' ' || coalesce(notes, '-'), ', ' ORDER BY order_number) FROM mrp.production_orders WHERE site = 'harbor-mill' AND status = 'released'`
	was := w.sql(all)
	first := maria.applied(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2, "notes": "hurry"}})
	w.exec(`UPDATE mrp.production_orders SET priority = 9 WHERE order_number = 'PO-1039'`) // one field of one record
	w.exec(`DELETE FROM mrp.production_orders WHERE order_number = 'PO-206'`)
	a := maria.revert(first)
	a.want(vars{"proposeRevert.result.operation": "BULK_UPDATE", "proposeRevert.result.summary.matchedRecords": 6, "proposeRevert.result.three.changes.0.to": nil})
	reasons := []string{}
	for _, edge := range a.at("proposeRevert.result.revertConflicts.edges").([]any) {
		node := edge.(vars)["node"].(vars)
		reasons = append(reasons, node["reason"].(string)+" "+node["record"].(vars)["label"].(string))
	}
	slices.Sort(reasons)
	if len(reasons) != 2 || reasons[0] != "CHANGED PO-1039" || reasons[1] != "GONE PO-206" {
		t.Errorf("conflicts: %v", reasons)
	}
	maria.confirmed(a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint")).want(vars{"confirmProposal.result.outcome.affectedRecords": 6})
	w.exec(`UPDATE mrp.production_orders SET priority = 3 WHERE order_number = 'PO-1039'`)
	want := was[:len(was)-len(", PO-206 6 note 6")]
	if now := w.sql(all); now != want {
		t.Errorf("restored: %s\nwant:     %s", now, want)
	}
	w.invariants()
}

// What a card cannot hold is not restored, and is said; what it holds comes back as it was, to the last byte.
func TestWhatARevertRestoresIsWhatThereWas(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`ALTER TABLE core.roles ADD COLUMN secret text DEFAULT 'was secret', ADD COLUMN hint text, ADD COLUMN extra jsonb DEFAULT 'null', ADD COLUMN raw json DEFAULT '{"b": 1.0,  "a": null}',
		ADD COLUMN level numeric DEFAULT 'NaN', ADD COLUMN since date DEFAULT 'infinity', ADD COLUMN big bigint DEFAULT 9007199254740993, ADD COLUMN tags text[] DEFAULT '{a,NULL,"",1}'`)
	w.url = w.serve(registryWith(t, "      description: { writable: true }\n", `      description: { writable: true }
      secret: { writable: true, masked: true }
      hint: { writable: true, masked: true }
      extra: { writable: true }
      raw: { writable: true }
      level: { writable: true }
      since: { writable: true }
      big: { writable: true }
      tags: { writable: true }
`))
	maria := w.signIn("maria@harbor.example")
	restored := `SELECT concat_ws('|', name, hint IS NULL, extra, raw::jsonb, level, since, big, tags::text) FROM core.roles WHERE id = 4`
	was := w.sql(restored)
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4",
		"changes": vars{"name": "reviewer", "secret": "new secret", "hint": "new hint", "extra": nil, "raw": 1, "level": "1.50", "since": "2026-01-01", "big": 2, "tags": []string{}}})
	w.exec(`UPDATE core.roles SET level = 1.5 WHERE id = 4`) // which is the same number
	a := maria.revert(first)
	a.want(vars{"proposeRevert.result.warnings": []any{vars{"code": "NOT_RESTORED", "message": "Not restored, since the value before was not kept: Secret."}}, "proposeRevert.result.revertConflicts.edges": []any{}})
	maria.confirmed(a.text("proposeRevert.result.id"), a.text("proposeRevert.result.fingerprint"))
	if now := w.sql(restored); now != was {
		t.Errorf("it is now %s and was %s", now, was)
	}
	if got := w.sql(`SELECT secret FROM core.roles WHERE id = 4`); got != "new secret" {
		t.Errorf("what could not be restored is %s", got)
	}
	for what, n := range map[string]string{
		"cards":     `SELECT count(*) FROM countersign.proposal_records WHERE changes::text LIKE '%was secret%' OR before::text LIKE '%secret"%'`,
		"conflicts": `SELECT count(*) FROM countersign.proposals WHERE conflicts::text || warnings || headline LIKE '%was secret%'`,
	} {
		if n := w.sql(n); n != "0" {
			t.Errorf("%s %s hold what was masked", n, what)
		}
	}
	again := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "5", "changes": vars{"hint": "new hint"}})
	w.exec(`UPDATE core.roles SET hint = 'their hint' WHERE id = 5`)
	masked := vars{"json": nil, "masked": true}
	a = maria.revert(again, "hint")
	a.want(vars{"proposeRevert.result.revertConflicts.edges.0.node.now": masked, "proposeRevert.result.revertConflicts.edges.0.node.applied": masked,
		"proposeRevert.result.revertConflicts.edges.0.node.before": vars{"json": nil, "masked": true}, "proposeRevert.result.three.changes.0.applied": vars{"json": nil}})
	if n := w.sql(`SELECT count(*) FROM countersign.proposals WHERE conflicts::text LIKE '%hint"%' AND conflicts::text ~ '(their|new) hint'`); n != "0" {
		t.Error("a conflict holds what is masked")
	}
	w.invariants()
}

func TestARevertOfAnAction(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "[update, create, delete]", "[update, create]"))
	maria := w.signIn("maria@harbor.example")
	was := w.sql(millOf)
	id, fingerprint := maria.adjust(vars{"order": "PO-1042", "start": "2026-06-02"})
	maria.confirmed(id, fingerprint)
	undo, fingerprint := maria.reverted(id)
	maria.gql(show, vars{"id": undo}).want(vars{"proposal.operation": "ACTION", "proposal.actionKind": "mrp.adjust_order", "proposal.tool": "revert_proposal"})
	maria.confirmed(undo, fingerprint)
	if now := w.sql(millOf); now != was {
		t.Errorf("the mill is %s and was %s", now, was)
	}

	split, fingerprint := maria.adjust(vars{"order": "PO-1042", "split": vars{"quantity": 180, "start": "2026-06-08"}})
	maria.confirmed(split, fingerprint).want(vars{"confirmProposal.result.viewerActions": []string{}})
	maria.revert(split).wantNoRevert("NOT_OFFERED", nil) // what it created would have to be deleted
	opened := &client{w: w, url: w.serve(), token: maria.token}
	opened.gql(show, vars{"id": split}).want(vars{"proposal.viewerActions": []string{"REVERT"}})
	undo, fingerprint = opened.reverted(split)
	opened.gql(planned, vars{"id": undo}).want(vars{"proposal.summary.records.edges.0.node.operation": "DELETE", "proposal.summary.records.edges.1.node.operation": "UPDATE"})
	opened.confirmed(undo, fingerprint).want(vars{"confirmProposal.result.outcome.affectedRecords": 2})
	if now := w.sql(millOf); now != was {
		t.Errorf("the mill is %s and was %s", now, was)
	}
	again, fingerprint := opened.reverted(undo) // splits it again, under the same key
	opened.confirmed(again, fingerprint)
	if now := w.sql(millOf); now != "PO-1042 300 2026-05-31 2026-06-02; PO-1042-2 180 2026-06-08 2026-06-10" {
		t.Errorf("the mill is %s", now)
	}
	w.invariants()
}

// Others may confirm what is shared; to take it back is for whoever acted.
func TestARevertOfWhatIsShared(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, sam := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("sam@harbor.example")
	first := maria.applied(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "3", "changes": vars{"priority": 1}})
	sam.revert(first).refused("FORBIDDEN")
	paolo.revert(first).refused("FORBIDDEN")
	id, fingerprint := maria.reverted(first)
	paolo.confirmed(id, fingerprint)
	w.invariants()
}

// Who sees a proposal does not thereby see the one that it undoes.
func TestTheProposalThatIsUndoneIsSeenByThoseWhoMay(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	id, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	maria.confirmed(id, fingerprint)
	undo, fingerprint := maria.reverted(id)
	maria.confirm(undo, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	jonas.gql(`query($id: ID!) { proposal(id: $id) { status } }`, vars{"id": undo}).want(vars{"proposal.status": "AWAITING_APPROVAL"})
	jonas.gql(`query($id: ID!) { proposal(id: $id) { status revertOf { id headline } } }`, vars{"id": undo}).refused("FORBIDDEN")
	w.invariants()
}

func TestAnUndoOfManyIsAsFewStatementsAsOfFew(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	w := start(t, func(c *server.Config) { c.Tracer, c.TimersOff = sent, true })
	maria := w.signIn("maria@harbor.example")
	w.exec(`INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date, notes)
		SELECT 'harbor-mill', 'PO-' || n, CASE WHEN n < 5005 THEN 'few' ELSE 'many' END, 1, 'keg', 'planned', 1 + n % 9, '2026-07-01', '2026-07-02', '2026-07-03', 'note ' || n % 7 FROM generate_series(5000, 5090) AS n`)
	count := func(item string) (proposing, confirming int64) {
		first := maria.applied(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"item": item}, "changes": vars{"priority": 9, "notes": "note 3"}})
		w.exec(`UPDATE mrp.production_orders SET notes = 'theirs' WHERE item = $1 AND id % 2 = 0`, item)
		before := sent.Load()
		a := maria.gql(`mutation($in: ProposeRevertInput!) { proposeRevert(input: $in) { result { ... on Proposal { id fingerprint } } } }`, vars{"in": vars{"id": first}})
		proposing = sent.Load() - before
		before = sent.Load()
		maria.gql(`mutation($in: DecideProposalInput!) { confirmProposal(input: $in) { result { ... on Proposal { status } } } }`, vars{"in": vars{"id": a.text("proposeRevert.result.id"), "fingerprint": a.text("proposeRevert.result.fingerprint")}}).
			want(vars{"confirmProposal.result.status": "APPLIED"})
		return proposing, sent.Load() - before
	}
	count("few") // what a connection prepares once
	fewProposed, fewConfirmed := count("few")
	manyProposed, manyConfirmed := count("many")
	if manyProposed > fewProposed+2 || manyConfirmed > fewConfirmed+2 {
		t.Errorf("%d and %d statements for few, %d and %d for many", fewProposed, fewConfirmed, manyProposed, manyConfirmed)
	}
}
