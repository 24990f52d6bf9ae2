package server_test

import (
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// order proposes another priority for a production order, which the whole workspace may confirm.
func (c *client) order(number string, priority int) (id, fingerprint string) {
	c.w.t.Helper()
	return c.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": c.w.orderID(number), "changes": vars{"priority": priority}})
}

func (w *world) orderID(number string) string {
	w.t.Helper()
	return w.sql(`SELECT id FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number = $1`, number)
}

func (w *world) priority(number string) string {
	w.t.Helper()
	return w.sql(`SELECT priority FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number = $1`, number)
}

const inbox = `{ actionableCount proposals(filter: {actionable: true}) { edges { node { id } } } }`

// waitsFor compares what waits for somebody, by every way to ask.
func (c *client) waitsFor(ids ...string) {
	c.w.t.Helper()
	edges := []any{}
	for _, id := range ids {
		edges = append(edges, vars{"node": vars{"id": id}})
	}
	c.gql(inbox, nil).want(vars{"actionableCount": len(ids), "proposals.edges": edges})
	const nodes = ` { edges { node { id } } } `
	c.gql(`{ last: proposals(filter: {actionable: true}, last: 50)`+nodes+`soon: proposals(filter: {actionable: true}, orderBy: EXPIRES_SOONEST, last: 50)`+nodes+
		`some: proposals(filter: {actionable: true, entity: ["core.role", "mrp.production_order"]})`+nodes+`}`, nil).want(vars{"last.edges": edges, "some.edges": edges})
	events := c.gql(`{ proposalEvents(filter: {actionable: true}, first: 500) { edges { node { proposalId } } } }`, nil)
	_, page := c.get("/inbox")
	for _, id := range ids {
		events.holds(id)
		(&answer{t: c.w.t, raw: page}).holds(id)
	}
}

func TestTheWorkspaceDecidesWhatItShares(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, jonas := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("jonas@harbor.example")
	rosa, sam, olu := w.signIn("rosa@harbor.example"), w.signIn("sam@harbor.example"), w.signIn("olu@othersite.example")
	token := w.as(w.db.APIToken(t, "paolo@harbor.example", "read", "propose"))
	id, fingerprint := maria.order("PO-1042", 1)

	for _, c := range []*client{paolo, jonas, rosa} {
		c.gql(show, vars{"id": id}).want(vars{"proposal.viewerActions": []string{"CONFIRM", "REJECT", "REVISE"}, "proposal.actingUser.name": "Maria Rossi"})
		c.waitsFor(id)
		c.gql(withdraw, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
		c.gql(extend, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	}
	for _, c := range []*client{sam, token} {
		c.gql(show, vars{"id": id}).want(vars{"proposal.viewerActions": []string{}})
		c.gql(`{ proposals { edges { node { id } } } }`, nil).want(vars{"proposals.edges.0.node.id": id})
		c.gql(inbox, nil).want(vars{"actionableCount": 0, "proposals.edges": []any{}})
		c.confirm(id, fingerprint).refused("FORBIDDEN")
		c.gql(reject, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	}
	token.gql(withdraw, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	olu.gql(show, vars{"id": id}).refused("NOT_FOUND")
	olu.confirm(id, fingerprint).refused("NOT_FOUND")
	olu.gql(`{ proposals { edges { node { id } } } }`, nil).want(vars{"proposals.edges": []any{}})
	if n := w.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "0" {
		t.Fatalf("%s decisions were claimed", n)
	}

	paolo.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.decisions.0.by.name": "Paolo Conti", "confirmProposal.result.actingUser.name": "Maria Rossi"})
	if p := w.priority("PO-1042"); p != "1" {
		t.Errorf("the priority is %s", p)
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "APPLIED"})
	other, _ := maria.order("PO-1040", 1)
	rosa.gql(reject, vars{"in": vars{"id": other, "reason": "no"}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	w.invariants()
}

// Sharing is read twice: as it was when proposed, and as it is.
func TestSharingHoldsWhereCardAndConfigurationSayIt(t *testing.T) {
	t.Parallel()
	alone := registryWith(t, "    confirm: WORKSPACE # OWNER", "    confirm: OWNER #")
	for name, c := range map[string]struct{ then, now []func(*server.Config) }{
		"no longer shared": {nil, []func(*server.Config){alone}}, "shared only since": {[]func(*server.Config){alone}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, c.then...)
			maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
			id, fingerprint := maria.order("PO-1042", 1)
			w.url = w.serve(c.now...)
			maria, paolo = w.as(maria.token), w.as(paolo.token)
			paolo.gql(show, vars{"id": id}).refused("FORBIDDEN")
			paolo.confirm(id, fingerprint).refused("FORBIDDEN")
			paolo.gql(`{ proposals { edges { node { id } } } proposalEvents { edges { node { proposalId } } } actionableCount }`, nil).
				want(vars{"proposals.edges": []any{}, "proposalEvents.edges": []any{}, "actionableCount": 0})
			maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
			w.invariants()
		})
	}
}

// The right to the operation is the registry's by role, and the host's in its database.
func TestWhoDecidesHasTheRight(t *testing.T) {
	t.Parallel()
	const operations = "    operations: [list, get, update, bulk_update]"
	for name, c := range map[string]struct {
		registry  string
		grant     string
		sees      bool
		mayReject bool
	}{
		"not by the role":      {"    operations:\n      list:\n      get:\n      update: { roles: [OPERATOR] }\n      bulk_update:", "", true, false},
		"not read by the role": {"    operations:\n      list: { roles: [OPERATOR] }\n      get: { roles: [OPERATOR] }\n      update: { roles: [OPERATOR] }\n      bulk_update: { roles: [OPERATOR] }", "", false, false},
		"not in the database":  {operations, `CREATE POLICY not_paolo ON mrp.production_orders AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (current_setting('app.user', true) IS DISTINCT FROM 'paolo@harbor.example')`, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(config *server.Config) {
				registryWith(t, operations, c.registry)(config)
				config.Registry = []byte(replaced(t, string(config.Registry), `      app.site: "{workspace.slug}"`, "      app.site: \"{workspace.slug}\"\n      app.user: \"{user.email}\""))
			}
			w := start(t, with)
			if c.grant != "" {
				w.exec(c.grant)
			}
			rosa, paolo := w.signIn("rosa@harbor.example"), w.signIn("paolo@harbor.example")
			id, fingerprint := rosa.order("PO-1042", 1)
			if c.sees {
				paolo.gql(show, vars{"id": id}).want(vars{"proposal.status": "PENDING"})
			} else {
				paolo.gql(show, vars{"id": id}).refused("FORBIDDEN")
			}
			paolo.confirm(id, fingerprint).refused("FORBIDDEN")
			if !c.mayReject {
				paolo.waitsFor()
				paolo.gql(reject, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
			}
			if state := w.sql(`SELECT status || ' ' || (SELECT count(*) FROM countersign.proposal_decisions) FROM countersign.proposals`); state != "pending 0" {
				t.Errorf("it was claimed: %s", state)
			}
			if p := w.priority("PO-1042"); p != "3" {
				t.Errorf("the priority is %s", p)
			}
			rosa.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
			w.invariants()
		})
	}
}

// Approval of what another confirmed: neither the acting user nor the confirmer counts.
func TestSharedAndApproved(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "    operations: [list, get, update, bulk_update]", "    operations: [list, get, update, bulk_update]\n    approval: { update: 1 }"))
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	paolo, rosa := w.signIn("paolo@harbor.example"), w.signIn("rosa@harbor.example")
	id, fingerprint := maria.order("PO-1042", 1)
	jonas.waitsFor(id)
	jonas.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	paolo.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "AWAITING_APPROVAL"})
	rosa.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.__typename": "AlreadyDecided"})
	jonas.gql(show, vars{"id": id}).want(vars{"proposal.viewerActions": []string{}})
	jonas.approve(id, fingerprint).refused("FORBIDDEN")
	for _, c := range []*client{jonas, maria, paolo, rosa} {
		c.waitsFor()
	}
	aiko.waitsFor(id)
	own, _ := aiko.order("PO-1040", 1)
	aiko.waitsFor(own, id)
	aiko.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
	if p := w.priority("PO-1042"); p != "1" {
		t.Errorf("the priority is %s", p)
	}
	w.invariants()
}

// Whoever follows is told of what is shared, too.
func TestWhatIsSharedIsToldToTheWorkspace(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	s := paolo.follows(nil)
	maria.rename("4", "reviewer")
	id, _ := maria.order("PO-1042", 1)
	if e := s.event(); e.ProposalID != id {
		t.Errorf("told of %v, not of %s", e, id)
	}
}
