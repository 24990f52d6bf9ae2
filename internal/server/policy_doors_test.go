package server_test

import (
	"testing"

	"github.com/countersign/countersign/internal/record"
)

// A role that a policy takes an update from does not get it through an action, before or after it is proposed.
func TestARoleIsNotLetInByAnAction(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := &wish{client: w.signIn("maria@harbor.example")}
	before := maria.act()
	id, fingerprint := before.text(made+"id"), maria.gql(show, vars{"id": before.text(made + "id")}).text("proposal.fingerprint")
	w.saved(record.Policy{Entity: "mrp.production_order", Operation: record.Update, Roles: []string{"operator"}})
	maria.act().refusedAs("NOT_OFFERED", nil)
	maria.confirm(id, fingerprint).refused("FORBIDDEN")
	if n := w.sql(`SELECT count(*) FROM mrp.production_orders WHERE order_number = 'PO-1042' AND quantity = 480 AND site = 'harbor-mill'`); n != "1" {
		t.Error("the order was changed")
	}
	w.invariants()
}

// Whoever has to approve what awaits it already is asked where they look, once a policy says so.
func TestTheQueueOfApproversFollowsAPolicy(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas, rosa := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("rosa@harbor.example")
	id, fingerprint := maria.waiting(w.spare())
	w.saved(record.Policy{Entity: "core.role", Operation: record.Delete, Approvals: 1, Approver: "operator"})
	queue := `{ actionableCount proposals(filter: { actionable: true }) { edges { node { id viewerActions } } } }`
	jonas.gql(queue, nil).want(vars{"actionableCount": 0, "proposals.edges": []any{}})
	rosa.gql(queue, nil).want(vars{"actionableCount": 1, "proposals.edges.0.node.id": id})
	rosa.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	w.invariants()
}

// The same wish under another preview is another card: the open one says something else of what confirming does.
func TestAPreviewIsNoTwinOfAChange(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	writes, _ := maria.rename("4", "reviewer")
	w.saved(record.Policy{Entity: "core.role", PreviewOnly: true})
	preview, _ := maria.rename("4", "reviewer")
	w.cleared()
	if again, _ := maria.rename("4", "reviewer"); preview == writes || again != writes {
		t.Errorf("%s writes, %s previews, and then %s was answered", writes, preview, again)
	}
}

// What undoes a change of many is no more than one proposal may change now.
func TestAnUndoOfManyKeepsToTheCap(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.applied(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"notes": "checked"}})
	w.saved(record.Policy{Entity: "mrp.production_order", Operation: record.BulkUpdate, BulkCap: 1})
	maria.revert(first).wantNoRevert("TOO_MANY_RECORDS", nil)
}

// A call that is cut short takes back what it proposed and its key with it; what another call was answered with since
// stays, and is that one's.
func TestACallThatIsCutShortTakesBackItsOwn(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	ask := func(key string) *answer {
		return maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}, "idempotencyKey": key}})
	}
	cut := func(which string) {
		w.agentDoes(`SELECT finish_tool_call((SELECT tool_call_id FROM proposals WHERE id = $1::text::uuid), 'cut_short', 'CUT_SHORT', NULL, NULL, NULL)`, which)
	}
	stored := func() string {
		return w.sql(`SELECT id FROM countersign.proposals ORDER BY number DESC LIMIT 1`)
	}
	first := ask("one").text(made + "id")
	ask("two").want(vars{made + "id": first})
	cut(stored())
	maria.gql(show, vars{"id": first}).want(vars{"proposal.status": "PENDING"})
	cut(stored())
	maria.gql(show, vars{"id": first}).want(vars{"proposal.status": "WITHDRAWN"})
	for _, key := range []string{"one", "two"} {
		if again := ask(key).text(made + "id"); again == first {
			t.Errorf("the key %s answers what was withdrawn", key)
		}
	}
	w.invariants()
}

// Nobody's proposal but one's own is answered to a call.
func TestACallIsNotEndedWithAnothersProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example").rename("4", "reviewer")
	w.signIn("paolo@harbor.example")
	call := w.toolCall(w.user("paolo"), w.signInOf("paolo"), nil)
	if code := sqlstate(t, w.db.Pools.Agent, w.workspace("harbor-mill"), `SELECT finish_tool_call($1::text::uuid, 'succeeded', NULL, (SELECT id FROM proposals), NULL, NULL)`, call); code != "CS003" {
		t.Errorf("%q", code)
	}
}
