package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/server"
)

const (
	approve    = `mutation($in: DecideProposalInput!) { approveProposal(input: $in) { ` + decide + ` } }`
	disapprove = `mutation($in: RejectProposalInput!) { disapproveProposal(input: $in) { ` + decide + ` } }`
	waits      = `query($id: ID!) { proposal(id: $id) { status requiresApproval viewerActions expiresAt approval { needed given by { name } expiresAt } decisions { kind by { name } } } }`
)

func (c *client) approve(id, fingerprint string) *answer {
	c.w.t.Helper()
	return c.gql(approve, vars{"in": vars{"id": id, "fingerprint": fingerprint}})
}

func (c *client) disapprove(id, reason string) *answer {
	c.w.t.Helper()
	return c.gql(disapprove, vars{"in": vars{"id": id, "reason": reason}})
}

// remove proposes to delete a role, which others have to approve.
func (c *client) remove(role string) (id, fingerprint string) {
	c.w.t.Helper()
	return c.propose(vars{"entity": "core.role", "operation": "DELETE", "recordId": role})
}

// waiting proposes to delete a role, and confirms it.
func (c *client) waiting(role string) (id, fingerprint string) {
	c.w.t.Helper()
	id, fingerprint = c.remove(role)
	c.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "AWAITING_APPROVAL"})
	return id, fingerprint
}

// approvals asks for so many.
func approvals(t testing.TB, say string) func(*server.Config) {
	return registryWith(t, "delete: { approval: 1 }", "delete: { approval: "+say+" }")
}

// spare makes a role that nobody has.
func (w *world) spare() (role string) {
	w.t.Helper()
	w.exec(`INSERT INTO core.roles (id, site, name) VALUES (906, 'harbor-mill', 'spare')`)
	return "906"
}

// there tells whether a role is there: "1" or "0".
func (w *world) there(role string) string {
	w.t.Helper()
	return w.sql(`SELECT count(*) FROM core.roles WHERE id = $1::text::bigint`, role)
}

// holds and lacks look for texts anywhere in an answer.
func (a *answer) holds(texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.raw, text) {
			a.t.Errorf("no %s in %s", text, a.raw)
		}
	}
}

func (a *answer) lacks(texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		if strings.Contains(a.raw, text) {
			a.t.Errorf("%s in %s", text, a.raw)
		}
	}
}

func TestTheStoryOfAnApproval(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	maria.gql(`{ capabilities { actions { entity operation requiresApproval } } }`, nil).holds(
		`{"entity":"core.role","operation":"DELETE","requiresApproval":true}`, `{"entity":"core.role","operation":"UPDATE","requiresApproval":false}`)
	said := maria.say("Delete role 7")
	said.want(vars{"sendMessage.message.writes.0.status": "PENDING", "sendMessage.message.writes.0.requiresApproval": true, "sendMessage.message.writes.0.approval.needed": 1})
	id, fingerprint := said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")

	jonas.approve(id, fingerprint).refused("FORBIDDEN")
	jonas.disapprove(id, "").refused("FORBIDDEN")
	first := maria.confirm(id, fingerprint)
	first.want(vars{"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "AWAITING_APPROVAL", "confirmProposal.result.resolvedAt": nil,
		"confirmProposal.result.outcome": nil, "confirmProposal.result.viewerActions": []string{"WITHDRAW"}, "confirmProposal.result.decisions.0.kind": "CONFIRM"})
	if again := maria.confirm(id, fingerprint); again.raw != first.raw {
		t.Errorf("confirmed again, the answer is another:\n%s\n%s", first.raw, again.raw)
	}
	if w.there("7") != "1" {
		t.Fatal("confirmed and not approved, and the role is gone")
	}
	if life := w.sql(`SELECT expires_at - (SELECT at FROM countersign.proposal_decisions) FROM countersign.proposals`); life != "7 days" {
		t.Errorf("it waits for %s", life)
	}
	jonas.gql(waits, vars{"id": id}).want(vars{"proposal.viewerActions": []string{"APPROVE", "DISAPPROVE"}, "proposal.approval.needed": 1, "proposal.approval.given": 0, "proposal.approval.by": []any{}})
	jonas.gql(`{ actionableCount proposals(filter: {actionable: true}) { edges { node { id } } } }`, nil).want(vars{"actionableCount": 1, "proposals.edges.0.node.id": id})

	jonas.approve(id, strings.Repeat("0", 64)).want(vars{"approveProposal.result.__typename": "CardOutdated"})
	done := jonas.approve(id, fingerprint)
	done.want(vars{"approveProposal.result.status": "APPLIED", "approveProposal.result.outcome.recordId": "7", "approveProposal.result.decisions.1.kind": "APPROVE",
		"approveProposal.result.decisions.1.by.name": "Jonas Weber", "approveProposal.result.viewerActions": []string{}})
	if again := jonas.approve(id, fingerprint); again.raw != done.raw {
		t.Errorf("approved again, the answer is another:\n%s\n%s", done.raw, again.raw)
	}
	if w.there("7") != "0" {
		t.Error("approved, and the role is there")
	}
	if events := w.sql(`SELECT string_agg(type::text || ' ' || status, ', ' ORDER BY at) FROM countersign.events`); events != "proposed pending, confirmed awaiting_approval, applied applied" {
		t.Errorf("events: %s", events)
	}
	if calls := w.sql(`SELECT string_agg(tool, ' ' ORDER BY started_at) FROM countersign.tool_calls WHERE proposal_id IS NOT NULL AND tool IN ('confirm', 'approve')`); calls != "confirm approve" {
		t.Errorf("calls: %s", calls)
	}
	if trail := w.sql(`SELECT string_agg(verb || ' ' || outcome, ', ' ORDER BY at) FROM countersign.audit_events`); trail != "propose pending, confirm awaiting_approval, approve applied" {
		t.Errorf("audit: %s", trail)
	}
	w.invariants()
}

func TestTwoApprovals(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "{ count: 2, lifetime: 2d }"))
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	id, fingerprint := maria.waiting("7")
	if life := w.sql(`SELECT expires_at - (SELECT at FROM countersign.proposal_decisions) FROM countersign.proposals`); life != "2 days" {
		t.Errorf("it waits for %s", life)
	}
	first := jonas.approve(id, fingerprint)
	first.want(vars{"approveProposal.result.__typename": "Proposal", "approveProposal.result.status": "AWAITING_APPROVAL", "approveProposal.result.viewerActions": []any{}})
	if again := jonas.approve(id, fingerprint); again.raw != first.raw {
		t.Errorf("approved again, the answer is another:\n%s\n%s", first.raw, again.raw)
	}
	jonas.disapprove(id, "on second thoughts").want(vars{"disapproveProposal.result.__typename": "AlreadyDecided", "disapproveProposal.result.proposal.status": "AWAITING_APPROVAL"})
	aiko.gql(waits, vars{"id": id}).want(vars{"proposal.approval.needed": 2, "proposal.approval.given": 1, "proposal.approval.by.0.name": "Jonas Weber", "proposal.viewerActions": []string{"APPROVE", "DISAPPROVE"}})
	jonas.gql(`{ actionableCount proposals(filter: {actionable: true}) { edges { node { id } } } }`, nil).want(vars{"actionableCount": 0, "proposals.edges": []any{}})
	if w.there("7") != "1" {
		t.Fatal("one of two approved, and the role is gone")
	}
	aiko.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	if w.there("7") != "0" {
		t.Error("two approved, and the role is there")
	}
	if events := w.sql(`SELECT string_agg(type::text, ' ' ORDER BY at) FROM countersign.events`); events != "proposed confirmed approved applied" {
		t.Errorf("events: %s", events)
	}
	w.invariants()
}

func TestOneDisapprovalEndsIt(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "2"))
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	id, fingerprint := maria.waiting("7")
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
	aiko.disapprove(id, "still in use").want(vars{"disapproveProposal.result.status": "DISAPPROVED", "disapproveProposal.result.decisions.2.kind": "DISAPPROVE",
		"disapproveProposal.result.decisions.2.reason": "still in use", "disapproveProposal.result.outcome": nil})
	aiko.disapprove(id, "again").want(vars{"disapproveProposal.result.status": "DISAPPROVED", "disapproveProposal.result.decisions.2.reason": "still in use"})
	aiko.approve(id, fingerprint).want(vars{"approveProposal.result.__typename": "AlreadyDecided", "approveProposal.result.proposal.status": "DISAPPROVED"})
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.__typename": "Proposal", "approveProposal.result.status": "DISAPPROVED"})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "DISAPPROVED"})
	maria.gql(withdraw, vars{"in": vars{"id": id}}).want(vars{"withdrawProposal.result.__typename": "AlreadyDecided"})
	if w.there("7") != "1" {
		t.Error("disapproved, and the role is gone")
	}
	w.invariants()
}

// What is not for them answers FORBIDDEN and claims nothing; what comes too late, AlreadyDecided.
func TestWhoApproves(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, jonas := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("jonas@harbor.example")
	rosa, sam, olu := w.signIn("rosa@harbor.example"), w.signIn("sam@harbor.example"), w.signIn("olu@othersite.example")
	token := w.as(w.db.APIToken(t, "jonas@harbor.example", "read", "propose"))
	id, fingerprint := maria.waiting("7")
	for name, c := range map[string]struct {
		who  *client
		code string
	}{"the acting user": {maria, "FORBIDDEN"}, "a member": {paolo, "FORBIDDEN"}, "an operator": {rosa, "FORBIDDEN"}, "an auditor": {sam, "FORBIDDEN"},
		"another workspace": {olu, "NOT_FOUND"}, "an approver's token": {token, "FORBIDDEN"}} {
		t.Log(name)
		c.who.approve(id, fingerprint).refused(c.code)
		c.who.disapprove(id, "").refused(c.code)
	}
	maria.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.__typename": "AlreadyDecided", "rejectProposal.result.proposal.status": "AWAITING_APPROVAL"})
	rosa.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.__typename": "AlreadyDecided"})
	maria.gql(extend, vars{"in": vars{"id": id}}).want(vars{"extendProposal.result.__typename": "AlreadyDecided"})
	token.gql(waits, vars{"id": id}).want(vars{"proposal.status": "AWAITING_APPROVAL", "proposal.viewerActions": []any{}})
	token.gql(`{ actionableCount __type(name: "Mutation") { fields { name } } }`, nil).lacks("approveProposal", "disapproveProposal")
	paolo.gql(waits, vars{"id": id}).refused("FORBIDDEN")
	if n := w.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "1" {
		t.Errorf("%s decisions, and only the confirm is one", n)
	}
	// An approver's own waits for another.
	own, card := jonas.waiting(w.spare())
	jonas.approve(own, card).refused("FORBIDDEN")
	jonas.gql(`{ actionableCount }`, nil).want(vars{"actionableCount": 1})
	w.signIn("aiko@harbor.example").approve(own, card).want(vars{"approveProposal.result.status": "APPLIED"})
	maria.gql(withdraw, vars{"in": vars{"id": id}}).want(vars{"withdrawProposal.result.status": "WITHDRAWN"})
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.__typename": "AlreadyDecided", "approveProposal.result.proposal.status": "WITHDRAWN"})
	if w.there("7") != "1" || w.there("906") != "0" {
		t.Error("the wrong role is gone")
	}
	w.invariants()
}

func TestNobodyCouldApproveIt(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "2"))
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	in := vars{"in": vars{"entity": "core.role", "operation": "DELETE", "recordId": "7"}}
	jonas.gql(propose, in).want(vars{"proposeChange.result.__typename": "ProposalRefused", "proposeChange.result.code": "NO_ELIGIBLE_APPROVER"})
	w.exec(`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email LIKE 'aiko@%'`)
	maria.gql(propose, in).want(vars{"proposeChange.result.code": "NO_ELIGIBLE_APPROVER"})
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s cards were made", n)
	}
	w.exec(`UPDATE countersign.users SET disabled_at = NULL`)
	maria.remove("7")
	w.invariants()
}

func TestRightsThatWereLostDoNotCount(t *testing.T) {
	t.Parallel()
	of := func(who string) string {
		return ` FROM countersign.users u WHERE u.id = m.user_id AND u.email = '` + who + `@harbor.example'`
	}
	demote := `UPDATE countersign.memberships m SET role = 'member'` + of("jonas")
	for name, c := range map[string]struct{ lose, status, code string }{
		"the first approver has another role":  {demote, "AWAITING_APPROVAL", ""},
		"the first approver is disabled":       {`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'jonas@harbor.example'`, "AWAITING_APPROVAL", ""},
		"the first approver is gone":           {`DELETE FROM countersign.memberships m USING countersign.users u WHERE u.id = m.user_id AND u.email = 'jonas@harbor.example'`, "AWAITING_APPROVAL", ""},
		"the confirmer is disabled":            {`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`, "FAILED", "NOT_PERMITTED"},
		"the confirmer is gone":                {`DELETE FROM countersign.memberships m USING countersign.users u WHERE u.id = m.user_id AND u.email = 'maria@harbor.example'`, "FAILED", "NOT_PERMITTED"},
		"the confirmer is an auditor":          {`UPDATE countersign.memberships m SET role = 'auditor'` + of("maria"), "FAILED", "NOT_PERMITTED"},
		"the record changed":                   {`UPDATE core.roles SET description = 'edited' WHERE id = 7`, "FAILED", "RECORD_CHANGED"},
		"the record is gone":                   {`DELETE FROM core.roles WHERE id = 7`, "FAILED", "RECORD_GONE"},
		"nothing":                              {`SELECT 1`, "APPLIED", ""},
		"the confirmer's sign-in, which ended": {`UPDATE countersign.sign_ins s SET ended_at = clock_timestamp() FROM countersign.users u WHERE u.id = s.user_id AND u.email = 'maria@harbor.example'`, "APPLIED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, approvals(t, "2"))
			maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
			id, fingerprint := maria.waiting("7")
			jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
			w.exec(c.lose)
			aiko.approve(id, fingerprint).want(vars{"approveProposal.result.__typename": "Proposal", "approveProposal.result.status": c.status})
			after := aiko.gql(`query($id: ID!) { proposal(id: $id) { failure { code } approval { given by { name } } } }`, vars{"id": id})
			switch {
			case c.code != "":
				after.want(vars{"proposal.failure.code": c.code})
			case c.status == "AWAITING_APPROVAL":
				after.want(vars{"proposal.approval.given": 1, "proposal.approval.by": []any{vars{"name": "Aiko Tan"}}})
			}
			if gone := w.there("7") == "0"; gone != (c.status == "APPLIED" || c.code == "RECORD_GONE") {
				t.Errorf("it is %s, and the role is gone: %v", c.status, gone)
			}
			w.invariants()
		})
	}
}

// The stricter of the card and the configuration holds.
func TestTheConfigurationCameToAskForMore(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	renamed, of := maria.rename("4", "reviewer")
	one, card := maria.remove("7")
	confirmed, theirs := maria.waiting(w.spare())
	w.url = w.serve(registryWith(t, "      update:\n      delete: { approval: 1 }", "      update: { approval: 1 }\n      delete: { approval: 2 }"))
	maria, jonas, aiko = w.as(maria.token), w.as(jonas.token), w.as(aiko.token)

	maria.gql(waits, vars{"id": renamed}).want(vars{"proposal.requiresApproval": false, "proposal.approval.needed": 1})
	jonas.gql(waits, vars{"id": renamed}).refused("FORBIDDEN")
	maria.confirm(renamed, of).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL", "confirmProposal.result.requiresApproval": true, "confirmProposal.result.fingerprint": of})
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Errorf("confirmed and not approved, and the role is called %s", name)
	}
	jonas.gql(`{ proposals(filter: {actionable: true}) { edges { node { id } } } }`, nil).want(vars{"proposals.edges.0.node.id": confirmed, "proposals.edges.1.node.id": renamed})
	jonas.approve(renamed, of).want(vars{"approveProposal.result.status": "APPLIED"})

	maria.confirm(one, card).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	for id, fingerprint := range map[string]string{one: card, confirmed: theirs} {
		jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
		aiko.gql(waits, vars{"id": id}).want(vars{"proposal.approval.needed": 2, "proposal.approval.given": 1})
		aiko.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	}
	w.invariants()
}

func TestTheConfigurationAsksForLess(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "2"))
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	id, fingerprint := maria.remove("7")
	gone, card := maria.waiting(w.spare())
	w.url = w.serve(registryWith(t, "delete: { approval: 1 }", "delete:"))
	maria, jonas, aiko = w.as(maria.token), w.as(jonas.token), w.as(aiko.token)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
	aiko.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	off := w.serve(registryWith(t, "      delete: { approval: 1 } #", "      #"))
	(&client{w: w, url: off, token: jonas.token}).approve(gone, card).want(vars{"approveProposal.result.status": "FAILED"})
	jonas.gql(`query($id: ID!) { proposal(id: $id) { failure { code } } }`, vars{"id": gone}).want(vars{"proposal.failure.code": "SWITCHED_OFF"})
	if w.there("906") != "1" {
		t.Error("switched off, and the role is gone")
	}
	w.invariants()
}

func TestAnApprovalHasItsOwnTime(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "2"), func(c *server.Config) { c.TimersOff = true })
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	id, fingerprint := maria.waiting("7")
	until, err := time.Parse(time.RFC3339, maria.gql(waits, vars{"id": id}).text("proposal.approval.expiresAt"))
	if err != nil || time.Until(until) < 6*24*time.Hour {
		t.Errorf("it waits until %v: %v", until, err)
	}
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL"})
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp()`)
	aiko.gql(waits, vars{"id": id}).want(vars{"proposal.status": "EXPIRED", "proposal.viewerActions": []any{}, "proposal.approval.by": []any{vars{"name": "Jonas Weber"}}})
	aiko.gql(`{ actionableCount proposals(filter: {actionable: true}) { edges { node { id } } } }`, nil).want(vars{"actionableCount": 0, "proposals.edges": []any{}})
	if stored := w.sql(`SELECT status FROM countersign.proposals`); stored != "awaiting_approval" {
		t.Fatalf("reading stored %s", stored)
	}
	late := aiko.approve(id, fingerprint)
	late.want(vars{"approveProposal.result.__typename": "AlreadyDecided", "approveProposal.result.proposal.status": "EXPIRED"})
	if said := late.text("approveProposal.result.message"); !strings.Contains(said, "Jonas Weber") {
		t.Errorf("it does not say who had approved: %s", said)
	}
	if stored := w.sql(`SELECT status || ' ' || (SELECT count(*) FROM countersign.events WHERE type = 'expired') FROM countersign.proposals`); stored != "expired 1" {
		t.Errorf("the decision that met it left %s", stored)
	}
	if _, page := aiko.get("/proposals/" + id); !strings.Contains(page, "Jonas Weber") {
		t.Error("the page does not say who had approved")
	}
	if w.there("7") != "1" {
		t.Error("expired, and the role is gone")
	}
	w.invariants()
}

// Where the configuration came to ask for a higher role than the card, those are asked, shown it and counted; a lower
// one than the card's changes nothing.
func TestWhoApprovesIsTheHighestAskedFor(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas, rosa := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("rosa@harbor.example")
	id, fingerprint := maria.remove(w.spare())
	raised := w.serve(approvals(t, "{ count: 1, role: OPERATOR }"))
	(&client{w: w, url: raised, token: maria.token}).confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	awaiting := `{ proposals(filter: { actionable: true }) { edges { node { id } } } }`
	rosa.gql(awaiting, nil).want(vars{"proposals.edges.0.node.id": id})
	jonas.gql(awaiting, nil).want(vars{"proposals.edges": []any{}})
	jonas.approve(id, fingerprint).refused("FORBIDDEN") // on the server with the old configuration, too
	rosa.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	rosa.gql(waits, vars{"id": id}).want(vars{"proposal.approval.given": 1, "proposal.approval.by.0.name": "Rosa Marino"})
	w.invariants()
}

func TestALoweredRoleDoesNotReplaceTheCards(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "{ count: 1, role: OPERATOR }"))
	maria, jonas, rosa := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("rosa@harbor.example")
	id, fingerprint := maria.waiting(w.spare())
	lowered := w.serve(approvals(t, "{ count: 1, role: APPROVER }"))
	(&client{w: w, url: lowered, token: jonas.token}).approve(id, fingerprint).refused("FORBIDDEN")
	(&client{w: w, url: lowered, token: rosa.token}).approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	w.invariants()
}
