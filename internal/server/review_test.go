package server_test

import (
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/server"
)

const (
	bareOperations = "    operations: [list, get, update, bulk_update]"
	updateApproved = "    operations:\n      list:\n      get:\n      update: { approval: 1 }\n      bulk_update:"
)

// An operation that needs approval needs it by every door: an action's records and a bulk change's are updates.
func TestApprovalIsAskedForByEveryDoor(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, bareOperations, updateApproved))
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	maria.gql(`{ capabilities { actions { entity operation requiresApproval } } }`, nil).holds(`{"entity":"mrp.production_order","operation":"BULK_UPDATE","requiresApproval":true}`)
	adjusted, card := maria.adjust(vars{"order": "PO-1042", "quantity": 90})
	made := maria.bulk(vars{"status": "released"}, vars{"priority": 2})
	bulk := made.text("proposeChange.result.id")
	both := map[string]string{adjusted: card, bulk: made.text("proposeChange.result.fingerprint")}
	for id, fingerprint := range both {
		maria.gql(waits, vars{"id": id}).want(vars{"proposal.requiresApproval": true, "proposal.approval.needed": 1})
		maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
		if got := w.sql(millOf); got != "PO-1042 480 2026-05-31 2026-06-02" || w.priority("PO-1040") == "2" {
			t.Fatalf("confirmed and not approved, and the mill is %s", got)
		}
	}
	for id, fingerprint := range both {
		jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	}
	w.invariants()
}

// It is asked for as the configuration is when it is confirmed, and of what takes a change back.
func TestApprovalByEveryDoorIsReadAtTheConfirm(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	before, its := maria.adjust(vars{"order": "PO-1042", "quantity": 460})
	maria.confirmed(before, its)
	adjusted, card := maria.adjust(vars{"order": "PO-1042", "quantity": 90})
	w.url = w.serve(registryWith(t, bareOperations, updateApproved))
	maria, jonas = w.as(maria.token), w.as(jonas.token)
	maria.confirm(adjusted, card).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL", "confirmProposal.result.requiresApproval": true})
	jonas.disapprove(adjusted, "no").want(vars{"disapproveProposal.result.status": "DISAPPROVED"})
	back, theirs := maria.reverted(before)
	maria.confirm(back, theirs).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	jonas.approve(back, theirs).want(vars{"approveProposal.result.status": "APPLIED"})
	w.invariants()
}

// Whose approval counts is the configuration's to say: a card that names others does not suffice.
func TestWhoApprovesIsReadFromTheConfiguration(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "{ count: 1, role: MEMBER }"))
	maria, paolo, jonas := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("jonas@harbor.example")
	id, fingerprint := maria.waiting("7")
	w.url = w.serve()
	paolo, jonas = w.as(paolo.token), w.as(jonas.token)
	paolo.approve(id, fingerprint).refused("FORBIDDEN")
	paolo.gql(waits, vars{"id": id}).want(vars{"proposal.viewerActions": []any{}})
	jonas.gql(waits, vars{"id": id}).want(vars{"proposal.viewerActions": []string{"APPROVE", "DISAPPROVE"}})
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	w.invariants()
}

// A card whose records are not what the proposal says is not stored, and where it is there, not written.
func TestTheRecordsAreWhatTheProposalSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	good, harbor := w.legitimate(), w.workspace("harbor-mill")
	for name, c := range map[string]struct {
		with proposing
		code string
	}{
		"as it should be":    {proposing{}, ""},
		"in bulk":            {proposing{"does": "bulk_update", "kind": "record_bulk_update"}, ""},
		"of another entity":  {proposing{"on_entity": "mrp.production_order"}, "CS003"},
		"another operation":  {proposing{"does": "delete"}, "CS003"},
		"an action's record": {proposing{"does": "action", "kind": "mrp.adjust_order", "on_entity": "mrp.production_order"}, ""},
	} {
		statement, args := good.but(c.with).call()
		if code := sqlstate(t, w.db.Pools.Agent, harbor, statement, args...); code != c.code {
			t.Errorf("%s: %q, want %q", name, code, c.code)
		}
	}
	id, fingerprint := maria.order("PO-1042", 1)
	w.exec(`INSERT INTO countersign.proposal_records (proposal_id, workspace_id, position, entity, operation, key, label, version, before, changes)
		SELECT id, workspace_id, 2, 'core.role', 'delete', '7', 'x', repeat('0', 64), '{}', '[]' FROM countersign.proposals WHERE entity = 'mrp.production_order'`)
	maria.confirm(id, fingerprint) // the role's delete asks for approval
	w.signIn("jonas@harbor.example").approve(id, fingerprint).want(vars{"approveProposal.result.status": "FAILED"})
	maria.gql(`query($id: ID!) { proposal(id: $id) { failure { code } } }`, vars{"id": id}).want(vars{"proposal.failure.code": "SOURCE_REFUSED"})
	if w.there("7") != "1" || w.priority("PO-1042") == "1" {
		t.Error("a record was written that the proposal does not say")
	}
}

// What may not be seen is not decided: a new record too, where its kind is not read by the role.
func TestACardThatIsNotSeenIsNotDecided(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "      list:\n      get:\n      create:", "      list:\n      get: { roles: [OPERATOR] }\n      create:"), func(c *server.Config) {
		c.Registry = []byte(replaced(t, string(c.Registry), "    rehearse: true", "    confirm: WORKSPACE\n    rows: workspace\n    rehearse: true"))
	})
	maria, paolo, rosa := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("rosa@harbor.example")
	create := func(name string) (string, string) {
		return maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": name}})
	}
	id, fingerprint := create("critic")
	paolo.gql(show, vars{"id": id}).refused("FORBIDDEN")
	paolo.confirm(id, fingerprint).refused("FORBIDDEN")
	paolo.gql(reject, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	other, card := create("reader")
	rosa.confirm(other, card).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}

// A wish whose twin is taken back at that moment is tried again.
func TestTheSameWishWhileItIsTakenBack(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 6 {
				a := maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}}})
				a.want(vars{"proposeChange.result.__typename": "Proposal"})
				maria.gql(withdraw, vars{"in": vars{"id": a.text("proposeChange.result.id")}})
			}
		})
	}
	all.Wait()
	w.invariants()
}

// A decimal is the same however many zeros it is written with.
func TestADecimalIsTheSameWishInAnotherSpelling(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	agent := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	quantity := func(n string) vars {
		return vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "3", "changes": vars{"quantity": n}}
	}
	first, _ := agent.propose(quantity("90"))
	for _, spelling := range []string{"90.0", "90.00"} {
		if again, _ := agent.propose(quantity(spelling)); again != first {
			t.Errorf("%s is taken for another wish than 90", spelling)
		}
	}
	if other, _ := agent.propose(quantity("900")); other == first {
		t.Error("900 is taken for 90")
	}
	maria.gql(reject, vars{"in": vars{"id": first}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	for _, spelling := range []string{"90", "90.00"} {
		agent.gql(propose, vars{"in": quantity(spelling)}).want(vars{"proposeChange.result.code": "RECENTLY_REJECTED"})
	}
}

// The agent's login does not get around a rejection by leaving its window out; nor does a new record, which has no key.
func TestTheWindowOfARejectionIsNotLeftOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	agent := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	create := vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "critic"}}
	for _, in := range []vars{create, {"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}}} {
		id, _ := agent.propose(in)
		maria.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	}
	agent.gql(propose, vars{"in": create}).want(vars{"proposeChange.result.code": "RECENTLY_REJECTED"})
	token := w.token("maria@harbor.example", "propose")
	bare := w.legitimate().but(proposing{"new_id": id.NewProposal().UUID(), "by_sign_in": nil, "by_token": token, "in_call": w.toolCall(w.user("maria"), nil, token),
		"records": replaced(t, aRecord, `"changes": []`, `"changes": [{"field": "name", "type": "TEXT", "to": {"json": "reviewer"}}]`)})
	for within, code := range map[any]string{nil: "CS005", "30 minutes": "CS005", "0s": ""} {
		statement, args := bare.but(proposing{"rejected_within": within}).call()
		if got := sqlstate(t, w.db.Pools.Agent, w.workspace("harbor-mill"), statement, args...); got != code {
			t.Errorf("within %v: %q, want %q", within, got, code)
		}
	}
}
