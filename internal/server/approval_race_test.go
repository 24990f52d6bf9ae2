package server_test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// approvers are people of Harbor Mill who are made approvers and sign in.
func (w *world) approvers(names ...string) []*client {
	w.t.Helper()
	list := make([]*client, len(names))
	for i, name := range names {
		w.exec(`UPDATE countersign.memberships m SET role = 'approver' FROM countersign.users u WHERE u.id = m.user_id AND u.email = $1`, name+"@harbor.example")
		list[i] = w.signIn(name + "@harbor.example")
	}
	return list
}

// approvedUpdates: so many approve that a role is renamed.
func approvedUpdates(t testing.TB, needed int) func(*server.Config) {
	return registryWith(t, "      update:\n", fmt.Sprintf("      update: { approval: %d }\n", needed))
}

// renaming proposes another name for role 4 and confirms it.
func (c *client) renaming(name string) (id, fingerprint string) {
	c.w.t.Helper()
	id, fingerprint = c.rename("4", name)
	c.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	return id, fingerprint
}

// All that may be the last approve at once, on two servers, parked on the proposal's row: one of them writes.
func TestTheLastApprovalsAtOnce(t *testing.T) {
	t.Parallel()
	for needed := 1; needed <= 4; needed++ {
		t.Run(fmt.Sprint(needed), func(t *testing.T) {
			t.Parallel()
			w := start(t, approvedUpdates(t, needed))
			w.logWrites()
			urls := []string{w.url, w.serve(approvedUpdates(t, needed))}
			maria, others := w.signIn("maria@harbor.example"), w.approvers("jonas", "aiko", "paolo", "sam")
			for round := range 5 {
				name := fmt.Sprintf("round %d", round)
				id, fingerprint := maria.renaming(name)
				_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'awaiting_approval' FOR UPDATE`)
				answers := w.together(len(others), len(others), release, func(i int) *answer {
					return (&client{w: w, url: urls[i%2], token: others[i].token}).approve(id, fingerprint)
				})
				stood := 0
				for _, a := range answers {
					if a.text("approveProposal.result.__typename") == "Proposal" {
						stood++
					}
				}
				if stood != needed {
					t.Errorf("%d approvals stood, and %d were needed", stood, needed)
				}
				maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "APPLIED"})
				for what, query := range map[string]string{
					"writes":    `SELECT count(*) FROM public.change_log WHERE name = $1`,
					"final":     `SELECT count(*) FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id WHERE d.final AND p.headline LIKE '%' || $1 || '%'`,
					"applied":   `SELECT count(*) FROM countersign.events e JOIN countersign.proposals p ON p.id = e.proposal_id WHERE e.type = 'applied' AND p.headline LIKE '%' || $1 || '%'`,
					"approvals": fmt.Sprintf(`SELECT count(*) - %d + 1 FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id WHERE d.kind = 'approve' AND p.headline LIKE '%%' || $1 || '%%'`, needed),
				} {
					if n := w.sql(query, name); n != "1" {
						t.Errorf("%s of %s: %s, want 1", what, name, n)
					}
				}
			}
			w.invariants()
		})
	}
}

func TestApproveAgainstDisapproveAndWithdraw(t *testing.T) {
	t.Parallel()
	w := start(t, approvedUpdates(t, 1))
	w.logWrites()
	urls := []string{w.url, w.serve(approvedUpdates(t, 1))}
	maria, others := w.signIn("maria@harbor.example"), w.approvers("jonas", "aiko", "paolo", "sam")
	ends := map[string]int{}
	for round := range 12 {
		name := fmt.Sprintf("turn %d", round)
		id, fingerprint := maria.renaming(name)
		_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'awaiting_approval' FOR UPDATE`)
		w.together(5, 5, release, func(i int) *answer {
			if i == 4 {
				return (&client{w: w, url: urls[round%2], token: maria.token}).gql(withdraw, vars{"in": vars{"id": id}})
			}
			c := &client{w: w, url: urls[i%2], token: others[i].token}
			if (i+round)%2 == 0 {
				return c.approve(id, fingerprint)
			}
			return c.disapprove(id, "no")
		})
		status := maria.gql(show, vars{"id": id}).text("proposal.status")
		ends[status]++
		if written := w.sql(`SELECT count(*) FROM public.change_log WHERE name = $1`, name); written != map[string]string{"APPLIED": "1", "DISAPPROVED": "0", "WITHDRAWN": "0"}[status] {
			t.Errorf("%s ended %s and was written %s times", name, status, written)
		}
		kind := map[string]string{"APPLIED": "confirm approve", "DISAPPROVED": "confirm disapprove", "WITHDRAWN": "confirm withdraw"}[status]
		if got := w.sql(`SELECT string_agg(kind::text, ' ' ORDER BY d.id) FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id WHERE p.headline LIKE '%' || $1 || '"'`, name); got != kind {
			t.Errorf("%s ended %s by the decisions %q", name, status, got)
		}
	}
	t.Log(ends)
	w.invariants()
}

// What is lost while an approval waits for the proposal's row is lost to it.
func TestRightsLostWhileAnApprovalWaits(t *testing.T) {
	t.Parallel()
	role := func(who, becomes string) string {
		return `UPDATE countersign.memberships m SET role = '` + becomes + `' FROM countersign.users u WHERE u.id = m.user_id AND u.email = '` + who + `@harbor.example'`
	}
	for name, c := range map[string]struct{ loss, code, status string }{
		"the approver's role":       {role("aiko", "member"), "FORBIDDEN", "AWAITING_APPROVAL"},
		"the approver's sign-in":    {`UPDATE countersign.sign_ins SET ended_at = clock_timestamp()`, "FORBIDDEN", "AWAITING_APPROVAL"},
		"the approver's account":    {`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'aiko@harbor.example'`, "FORBIDDEN", "AWAITING_APPROVAL"},
		"the other approver's role": {role("jonas", "member"), "", "AWAITING_APPROVAL"},
		"the other's membership":    {`DELETE FROM countersign.memberships m USING countersign.users u WHERE u.id = m.user_id AND u.email = 'jonas@harbor.example'`, "", "AWAITING_APPROVAL"},
		"the confirmer's role":      {role("maria", "auditor"), "", "FAILED"},
		"the confirmer's account":   {`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`, "", "FAILED"},
		"its time":                  {`UPDATE countersign.proposals SET expires_at = clock_timestamp()`, "", "EXPIRED"},
		"nothing":                   {`SELECT 1`, "", "APPLIED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, approvedUpdates(t, 2), func(c *server.Config) { c.TimersOff = true })
			maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
			id, fingerprint := maria.renaming("reviewer")
			jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
			tx, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
			a := w.together(1, 1, func() {
				if _, err := tx.Exec(t.Context(), c.loss); err != nil {
					t.Error(err)
				}
				release()
			}, func(int) *answer { return aiko.approve(id, fingerprint) })[0]
			if c.code != "" {
				a.refused(c.code)
			}
			if status := w.sql(`SELECT upper(status::text) FROM countersign.proposals_read`); status != c.status {
				t.Errorf("it is %s, want %s: %s", status, c.status, a.raw)
			}
			if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); (name == "reviewer") != (c.status == "APPLIED") {
				t.Errorf("it is %s, and the role is called %s", c.status, name)
			}
			w.invariants()
		})
	}
}
