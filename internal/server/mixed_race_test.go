package server_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// rounds is how often verbs meet at one proposal: a few times, and as often as COUNTERSIGN_ROUNDS says in the
// slow suite.
func rounds(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("COUNTERSIGN_ROUNDS")
	if asked == "" {
		return 5
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Twenty clients on two servers, and every verb at one proposal at once: one of them ends it, and the record is
// what that one says.
func TestEveryVerbAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.logWrites()
	maria := w.signIn("maria@harbor.example")
	urls := []string{w.url, w.serve()}
	for round := range rounds(t) {
		name := fmt.Sprintf("round %d", round)
		id, fingerprint := maria.rename("4", name)
		_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'pending' FOR UPDATE`)
		w.together(20, 8, release, func(i int) *answer {
			c := &client{w: w, url: urls[i%2], token: maria.token}
			switch (i + round) % 5 {
			case 0:
				return c.confirm(id, fingerprint)
			case 1:
				return c.gql(reject, vars{"in": vars{"id": id}})
			case 2:
				return c.gql(withdraw, vars{"in": vars{"id": id}})
			case 3:
				return c.gql(extend, vars{"in": vars{"id": id}})
			}
			return c.revise(id, fingerprint, vars{"name": "revised " + name})
		})
		w.oneEnding(maria, id, name, map[string]string{"APPLIED": "confirm", "REJECTED": "reject", "WITHDRAWN": "withdraw", "SUPERSEDED": "supersede"})
		w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE status = 'pending'`) // what a revision left open
	}
	w.invariants()
}

// The same where a confirmed proposal awaits approval: two who approve and disapprove, and who takes it back.
func TestEveryVerbOfApprovalAtOnce(t *testing.T) {
	t.Parallel()
	approved := registryWith(t, "      update:\n      delete:", "      update: { approval: 1 }\n      delete:")
	w := start(t, approved)
	w.logWrites()
	urls := []string{w.url, w.serve(approved)}
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	for round := range rounds(t) {
		name := fmt.Sprintf("round %d", round)
		id, fingerprint := maria.rename("4", name)
		maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
		_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'awaiting_approval' FOR UPDATE`)
		w.together(20, 8, release, func(i int) *answer {
			at := func(who *client) *client { return &client{w: w, url: urls[i%2], token: who.token} }
			switch (i + round) % 5 {
			case 0:
				return at(jonas).approve(id, fingerprint)
			case 1:
				return at(aiko).approve(id, fingerprint)
			case 2:
				return at(jonas).disapprove(id, "no")
			case 3:
				return at(aiko).disapprove(id, "no")
			}
			return at(maria).gql(withdraw, vars{"in": vars{"id": id}})
		})
		w.oneEnding(maria, id, name, map[string]string{"APPLIED": "approve", "DISAPPROVED": "disapprove", "WITHDRAWN": "withdraw"})
	}
	w.invariants()
}

// oneEnding wants one final decision, of the kind that the status says, and the record written where it was applied
// and nowhere else.
func (w *world) oneEnding(c *client, id, name string, kinds map[string]string) {
	w.t.Helper()
	status := c.gql(`query($id: ID!) { proposal(id: $id) { status } }`, vars{"id": id}).text("proposal.status")
	written := w.sql(`SELECT count(*) FROM public.change_log WHERE name = $1`, name)
	if want := map[bool]string{true: "1", false: "0"}[status == "APPLIED"]; written != want {
		w.t.Errorf("%s ended %s and was written %s times", name, status, written)
	}
	final := w.sql(`SELECT string_agg(d.kind::text, ' ') FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id
		JOIN countersign.proposal_records r ON r.proposal_id = p.id WHERE d.final AND r.changes -> 0 -> 'to' ->> 'json' = $1`, name)
	if final != kinds[status] || final == "" {
		w.t.Errorf("%s ended %s by the decisions %q", name, status, final)
	}
}
