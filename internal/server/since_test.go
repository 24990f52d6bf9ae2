package server_test

import (
	"strings"
	"testing"
)

const warned = `query($id: ID!) { proposal(id: $id) { warnings { code message } } }`

// wantWarnings wants these codes beside a card, and each to say some words.
func (c *client) wantWarnings(id string, codesAndWords ...string) {
	c.w.t.Helper()
	a := c.gql(warned, vars{"id": id})
	list := a.at("proposal.warnings").([]any)
	if len(list) != len(codesAndWords)/2 {
		c.w.t.Errorf("want %q, got %s", codesAndWords, a.raw)
		return
	}
	for i, one := range list {
		if w := one.(vars); w["code"] != codesAndWords[2*i] || !strings.Contains(w["message"].(string), codesAndWords[2*i+1]) {
			c.w.t.Errorf("want %q, got %s", codesAndWords, a.raw)
		}
	}
}

func TestACardSaysThatItsRecordChangedSince(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, sam := w.signIn("maria@harbor.example"), w.signIn("sam@harbor.example")
	id, _ := maria.rename("4", "reviewer")
	many, _ := maria.propose(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2}})
	made, _ := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	for _, one := range []string{id, many, made} {
		maria.wantWarnings(one)
	}
	const since = "changed after this card was made"
	if _, page := maria.get("/proposals/" + id); strings.Contains(page, since) {
		t.Error("the page says what is not so")
	}
	w.exec(`UPDATE core.roles SET description = 'theirs' WHERE id = 4`) // which is no part of the proposal
	w.exec(`UPDATE mrp.production_orders SET unit_cost = 7 WHERE order_number = 'PO-1039'`)
	maria.wantWarnings(id, "RECORD_CHANGED_SINCE", since)
	sam.wantWarnings(id, "RECORD_CHANGED_SINCE", since)
	maria.wantWarnings(many, "RECORD_CHANGED_SINCE", "1 of the 2 records are not as this card shows them any more")
	maria.gql(`query($id: ID!) { node(id: $id) { ... on Proposal { warnings { code } } } }`, vars{"id": id}).want(vars{"node.warnings.0.code": "RECORD_CHANGED_SINCE"})
	maria.gql(`{ proposals { edges { node { warnings { code } } } } }`, nil).want(vars{"proposals.edges.2.node.warnings": []any{}}) // lists do not look
	if status, page := maria.get("/proposals/" + id); status != 200 || !strings.Contains(page, since) {
		t.Errorf("the page does not say so: %d %s", status, page)
	}
	if status, page := maria.get("/inbox"); status != 200 || !strings.Contains(page, since) {
		t.Errorf("the card beside the list does not say so: %d %s", status, page)
	}
	w.exec(`UPDATE core.users SET role_id = 1 WHERE role_id = 4`)
	w.exec(`DELETE FROM core.roles WHERE id = 4`)
	maria.wantWarnings(id, "RECORD_CHANGED_SINCE", "no longer there")
	maria.gql(reject, vars{"in": vars{"id": id}})
	maria.wantWarnings(id)
}

func TestOtherOpenProposalsAreNumberedOnlyForThoseWhoSeeThem(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, rosa := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("rosa@harbor.example")
	hers, _ := maria.rename("4", "reviewer")
	his, _ := paolo.rename("4", "proofreader")
	number := func(id string) string {
		return "#" + w.sql(`SELECT number FROM countersign.proposals WHERE headline LIKE $1`, "%"+id+"%")
	}
	maria.wantWarnings(hers, "OTHER_OPEN_PROPOSAL", "Also open on this record: one that you may not see.")
	paolo.wantWarnings(his, "OTHER_OPEN_PROPOSAL", "Also open on this record: one that you may not see.")
	rosa.wantWarnings(his, "OTHER_OPEN_PROPOSAL", "Also open on this record: "+number("reviewer")+".")
	third, _ := maria.rename("4", "corrector")
	maria.wantWarnings(third, "OTHER_OPEN_PROPOSAL", "Also open on this record: "+number("reviewer")+", one that you may not see.")
	for who, c := range map[*client]struct{ says, not string }{
		maria: {number("reviewer") + ", one that you may not see.", number("proofreader")}, rosa: {number("reviewer") + ", " + number("proofreader"), "may not see"},
	} {
		if _, page := who.get("/proposals/" + third); !strings.Contains(page, c.says) || strings.Contains(page, c.not) {
			t.Errorf("want %q and not %q: %s", c.says, c.not, page)
		}
	}
}
