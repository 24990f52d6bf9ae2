package server_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// The same wish twice: one proposal while it is open, another once it is decided.
func TestTheSameWishTwiceIsOneProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	first, fingerprint := maria.rename("4", "reviewer")
	if again, _ := maria.rename("4", "reviewer"); again != first {
		t.Errorf("the same wish made %s and %s", first, again)
	}
	chat := maria.say("Rename role 4 to reviewer")
	chat.want(vars{"sendMessage.message.status": "COMPLETE"})
	for what, other := range map[string]string{
		"another value": first2(maria.rename("4", "critic")), "another record": first2(maria.rename("5", "reviewer")), "another person": first2(paolo.rename("4", "reviewer")),
	} {
		if other == first {
			t.Errorf("%s is taken for the same", what)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.tool_calls WHERE tool = 'core_role_update' AND status = 'succeeded' AND proposal_id = (SELECT id FROM countersign.proposals ORDER BY number LIMIT 1)`); n != "3" {
		t.Errorf("%s calls say that they made it", n)
	}
	maria.confirm(first, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.exec(`UPDATE core.roles SET name = 'editor' WHERE id = 4`)
	if again, _ := maria.rename("4", "reviewer"); again == first {
		t.Error("a decided proposal is answered")
	}
	w.invariants()
}

// Where the record has changed since, the card that is open is not true any more, and another is made.
func TestAWishIsAnsweredByAnOpenCardOnlyWhileThatIsTrue(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	stale, fingerprint := maria.rename("4", "reviewer")
	w.exec(`UPDATE core.roles SET description = 'theirs' WHERE id = 4`)
	fresh, seen := maria.rename("4", "reviewer")
	if again, _ := maria.rename("4", "reviewer"); fresh == stale || again != fresh {
		t.Errorf("%s was open and is not true; then %s and %s were answered", stale, fresh, again)
	}
	w.exec(`UPDATE core.roles SET description = 'theirs again' WHERE id = 4`)
	third, seen3 := maria.rename("4", "reviewer")
	if again, _ := maria.rename("4", "reviewer"); third == stale || third == fresh || again != third {
		t.Errorf("two were open and not true; then %s and %s were answered", third, again)
	}
	maria.confirm(third, seen3).want(vars{"confirmProposal.result.status": "APPLIED"})
	for id, print := range map[string]string{stale: fingerprint, fresh: seen} {
		maria.confirm(id, print).want(vars{"confirmProposal.result.failure.code": "RECORD_CHANGED"})
	}
	w.invariants()
}

// Twenty who ask again at once, where the open one is not true any more, are answered one new proposal.
func TestAWishAtOnceBesideAStaleCardIsOneProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	stale, _ := maria.rename("4", "reviewer")
	w.exec(`UPDATE core.roles SET description = 'theirs' WHERE id = 4`)
	_, release := w.hold(`LOCK TABLE countersign.proposals IN SHARE MODE`)
	ids := map[string]bool{}
	for _, a := range w.together(20, 2, release, func(i int) *answer {
		return (&client{w: w, url: urls[i%2], token: maria.token}).gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}}})
	}) {
		ids[a.text("proposeChange.result.id")] = true
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); len(ids) != 1 || ids[stale] || n != "2" {
		t.Errorf("%v were answered, %s made", ids, n)
	}
	w.invariants()
}

func first2(id, _ string) string { return id }

// Twenty who ask for the same at once, on two servers: one proposal, answered to all.
func TestTheSameWishAtOnceIsOneProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	_, release := w.hold(`LOCK TABLE countersign.proposals IN SHARE MODE`)
	ids := map[string]bool{}
	for _, a := range w.together(20, 2, release, func(i int) *answer {
		return (&client{w: w, url: urls[i%2], token: maria.token}).gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}}})
	}) {
		ids[a.text("proposeChange.result.id")] = true
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); len(ids) != 1 || n != "1" {
		t.Errorf("%d proposals were answered, %s made", len(ids), n)
	}
	w.invariants()
}

// What lapsed, or was taken back because its turn was cut short, is not open any more, stored or not.
func TestWhatLapsedIsNotAnswered(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	first, _ := maria.rename("4", "reviewer")
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
	if again, _ := maria.rename("4", "reviewer"); again == first {
		t.Error("a lapsed proposal is answered")
	}
}

// What a person rejected is not proposed again by an agent for a while, reordered or in a bulk change either;
// the person may ask for it again themselves.
func TestWhatWasRejectedIsNotProposedAgainByAnAgent(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	agent := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	order := func(changes vars) vars {
		return vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "1", "changes": changes}
	}
	id, _ := agent.propose(order(vars{"priority": 2}))
	maria.gql(reject, vars{"in": vars{"id": id, "reason": "no"}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	refused := vars{"proposeChange.result.__typename": "ProposalRefused", "proposeChange.result.code": "RECENTLY_REJECTED"}
	for _, in := range []vars{
		order(vars{"priority": 2}), order(vars{"priority": "2"}), order(vars{"notes": "and more", "priority": 2}),
	} {
		agent.gql(propose, vars{"in": in}).want(refused)
	}
	agent.gql(proposeBulk, vars{"in": vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2}}}).want(refused)
	agent.propose(order(vars{"priority": 1}))
	agent.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "2", "changes": vars{"priority": 2}})
	other := w.as(w.db.APIToken(t, "paolo@harbor.example", "read", "propose"))
	other.propose(order(vars{"priority": 2}))
	maria.propose(order(vars{"priority": 2}))
	w.invariants()
}

func TestTheWindowOfARejectionEnds(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "provider: offline", "provider: offline\n  rejected_within: 0s"))
	maria := w.signIn("maria@harbor.example")
	agent := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	in := vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}}
	id, _ := agent.propose(in)
	maria.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	agent.propose(in)
}

// A key is known by what it was answered with, also where that was open already: another body under it is refused,
// and the same body answers the same, decided or not.
func TestAKeyThatWasAnsweredWithWhatWasOpenIsKept(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first, fingerprint := maria.rename("4", "reviewer")
	keyed := func(name string) *answer {
		return maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": name}, "idempotencyKey": "again"}})
	}
	keyed("reviewer").want(vars{"proposeChange.result.id": first})
	keyed("critic").refused("IDEMPOTENCY_MISMATCH")
	maria.confirm(first, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	keyed("reviewer").want(vars{"proposeChange.result.id": first, "proposeChange.result.status": "APPLIED"})
	w.invariants()
}

// One key from twenty, on two servers, half of them with another body: whoever comes first is who the others repeat
// or do not match.
func TestAKeyAtOnceWithTwoBodies(t *testing.T) {
	t.Parallel()
	w := start(t)
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "reviewer")
	_, release := w.hold(`LOCK TABLE countersign.idempotency_keys IN SHARE MODE`)
	answers := w.together(20, 2, release, func(i int) *answer {
		name := []string{"reviewer", "critic"}[i/2%2]
		return (&client{w: w, url: urls[i%2], token: maria.token}).gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": name}, "idempotencyKey": "one"}})
	})
	ids, mismatched := map[string]int{}, 0
	for _, a := range answers {
		switch {
		case len(a.Errors) == 0:
			ids[a.text("proposeChange.result.id")]++
		case strings.Contains(a.raw, "IDEMPOTENCY_MISMATCH"):
			mismatched++
		default:
			t.Errorf("answered %s", a.raw)
		}
	}
	if len(ids) != 1 || mismatched != 10 {
		t.Errorf("answered %v, and %d mismatches", ids, mismatched)
	}
	w.invariants()
}

// A second answer of the chat whose wish is open already says its number and shows its card.
func TestTheSecondAnswerShowsTheCardToo(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.say("Rename role 4 to reviewer")
	id := first.text("sendMessage.message.writes.0.id")
	maria.say("Rename role 4 to reviewer").want(vars{"sendMessage.message.writes.0.id": id, "sendMessage.message.writes.0.status": "PENDING"})
}

// What two answers want does not go with the one that was cut short: the later one holds it.
func TestWhatALaterAnswerWantsStaysWhenTheEarlierIsCutShort(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	said := maria.say("Rename role 4 to reviewer")
	id, fingerprint := said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")
	w.exec(`UPDATE countersign.turns SET status = 'running', finished_at = NULL, lease_until = clock_timestamp() + interval '1 hour'`)
	maria.say("Rename role 4 to reviewer").want(vars{"sendMessage.message.writes.0.id": id})
	w.exec(`UPDATE countersign.turns SET lease_until = clock_timestamp() WHERE status = 'running'`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}
