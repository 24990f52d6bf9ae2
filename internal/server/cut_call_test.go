package server_test

import (
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// A call is cut short while what it proposes is being stored: then nothing is stored, for every way to propose (the call
// of a revision is written in its own transaction, and nobody can end it before).
func TestACallCutShortWhileItStoresLeavesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	applied, card := maria.rename("6", "archivist")
	maria.confirmed(applied, card)
	for name, c := range map[string]struct {
		verb string
		ask  func() *answer
	}{
		"proposed": {"proposeChange", func() *answer {
			return maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "onlooker"}}})
		}},
		"reverted": {"proposeRevert", func() *answer { return maria.gql(revert, vars{"in": vars{"id": applied}}) }},
		"proposed by the same key": {"proposeChange", func() *answer {
			return maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "7", "changes": vars{"name": "bystander"}, "idempotencyKey": "once"}})
		}},
	} {
		before := w.sql(`SELECT count(*) || ' ' || count(*) FILTER (WHERE status = 'pending') FROM countersign.proposals`)
		_, release := w.hold(`LOCK TABLE countersign.proposal_records IN SHARE MODE`)
		a := w.together(1, 1, func() {
			w.exec(`UPDATE countersign.tool_calls SET status = 'cut_short', code = 'CUT_SHORT', finished_at = clock_timestamp() WHERE status = 'started'`)
			release()
		}, func(int) *answer { return c.ask() })[0]
		a.want(vars{c.verb + ".result.__typename": "ProposalRefused", c.verb + ".result.code": "TURN_ENDED"})
		if after := w.sql(`SELECT count(*) || ' ' || count(*) FILTER (WHERE status = 'pending') FROM countersign.proposals`); after != before {
			t.Errorf("%s: there were %s proposals, and are %s", name, before, after)
		}
		if n := w.sql(`SELECT count(*) FROM countersign.proposals p JOIN countersign.tool_calls c ON c.id = p.tool_call_id WHERE c.status <> 'succeeded'`); n != "0" {
			t.Errorf("%s: %s proposals of a call that did not end well", name, n)
		}
	}
	w.invariants()
}

// lapsed says something whose turn's server died, so that its lease lapsed and nobody has stored that yet.
func (w *world) lapsed(who *client) (id, fingerprint string) {
	w.t.Helper()
	said := who.say("Rename role 4 to reviewer")
	w.exec(`UPDATE countersign.turns SET status = 'running', finished_at = NULL, lease_until = clock_timestamp()`)
	return said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")
}

func TestWhatALapsedTurnProposedReadsWithdrawn(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	id, _ := w.lapsed(maria)
	maria.gql(`query($id: ID!) { proposal(id: $id) { status viewerActions } proposals { edges { node { status } } } actionableCount }`, vars{"id": id}).want(vars{
		"proposal.status": "WITHDRAWN", "proposal.viewerActions": []any{}, "proposals.edges.0.node.status": "WITHDRAWN", "actionableCount": 0})
	if stored := w.sql(`SELECT status FROM countersign.proposals`); stored != "pending" {
		t.Errorf("stored %s by a read", stored)
	}
}

func TestWhatALapsedTurnProposedIsNotConfirmed(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := w.lapsed(maria)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "WITHDRAWN"})
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Errorf("the record is %s", name)
	}
	w.invariants()
}
