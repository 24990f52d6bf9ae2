package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// The pages of the console, as a person reads them: each line of the table is a card, and what it has to say.
func TestWhatACardSaysInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "    # url: https://erp.example/roles/{key} #", "    url: https://erp.example/roles/{key} #"))
	w.exec(`UPDATE mrp.production_orders SET unit_cost = 7313.31, notes = NULL WHERE order_number = 'PO-1042'`)
	w.exec(`INSERT INTO core.roles (id, site, name, description) VALUES (906, 'harbor-mill', 'spare', 'Nobody has it')`)
	maria := w.signIn("maria@harbor.example")
	b := w.console("maria@harbor.example")
	long := strings.Repeat("a long story. ", 700) + "its very end"
	for name, c := range map[string]struct {
		in    vars
		says  []string
		never []string
		link  string
	}{
		"from and to, for whom, of what": {vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.orderID("PO-1042"), "changes": vars{"quantity": 500}},
			[]string{"PO-1042", "Production order", "Quantity", "before: 480", "after: 500", "Maria Rossi", "update", "+20"}, []string{"7313", "Unit cost", "approve it after you confirm"}, ""},
		"a link to the record": {vars{"entity": "core.role", "operation": "UPDATE", "recordId": "5", "changes": vars{"name": "onlooker"}}, []string{"viewer", "onlooker"}, nil, "https://erp.example/roles/5"},
		"a delete, what it holds and that others approve": {vars{"entity": "core.role", "operation": "DELETE", "recordId": "906"},
			[]string{`Delete role "spare"`, "Nobody has it", "Someone else has to approve it after you confirm."}, nil, "https://erp.example/roles/906"},
		"a create": {vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift", "description": "Café Ünïcode 東京 — “quotes” & <b>"}},
			[]string{"night shift", "Café Ünïcode 東京 — “quotes” & <b>"}, nil, ""},
		"all of a long text": {vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.orderID("PO-1039"), "changes": vars{"notes": long}}, []string{"its very end"}, nil, ""},
		"every digit":        {vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.orderID("PO-1040"), "changes": vars{"quantity": "9007199254740993.10"}}, []string{"before: 160", "9007199254740993.10"}, nil, ""},
		"none and empty":     {vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.orderID("PO-1042"), "changes": vars{"notes": ""}}, []string{"Notes", "before: (null)", "after: (empty)"}, nil, ""},
	} {
		id, _ := maria.propose(c.in)
		card := b.open("/proposals/" + id).is(http.StatusOK).says(c.says...).saysNot(c.never...)
		if linked := strings.Contains(htmlOf(card), "https://erp.example/"); linked != (c.link != "") || c.link != "" && !card.links(c.link) {
			t.Errorf("%s: links %v, want %q", name, linked, c.link)
		}
	}
	bulk := maria.bulk(vars{"status": "released"}, vars{"priority": 2}).text("proposeChange.result.id")
	b.open("/proposals/"+bulk).says("2 records: production order", "where status is released", "PO-1039", "PO-1040", "3 ×1", "5 ×1")
	b.open("/proposals/"+bulk+"/records").says("Records 1 to 2 of 2", "PO-1039", "PO-1040")
	preview := maria.act("crp.operation", "crp.adjust_schedule", vars{"operation": w.sql(`SELECT min(id) FROM crp.operations WHERE site = 'harbor-mill' AND order_id = ` + w.orderID("PO-1042")), "day": "2026-06-03"})
	b.open("/proposals/" + preview.text("proposeChange.result.id")).says("A preview: there is no way to write this yet.")
}

// What nobody is to be asked about makes no card, and the page says why.
func TestWhatMakesNoCardSaysSoInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "bulk_cap: 100", "bulk_cap: 1"))
	b := w.console("maria@harbor.example")
	for said, answered := range map[string]string{
		"Rename role 4 to editor":                 "these values already",
		"Set priority 2 on all released orders":   "More than 1 records match",
		"Set priority 2 on all invented orders":   "",
		"Change the quantity of PO-1044 to 90":    "not offered for change",
		"Change the unit_cost of PO-1042 to 9000": "",
		"yes, apply it":                           "",
		"Rename role 4711 to reviewer":            "",
	} {
		talk := b.press(b.open("/conversations"), "/conversations", "content", said).is(http.StatusOK)
		if talk.says(answered); strings.Contains(talk.text(), "Confirm #") {
			t.Errorf("%s: there is a card: %s", said, talk.text())
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s cards were made", n)
	}
}

// The same wish twice in a conversation is one card, which says where it comes from.
func TestTheSameWishInTheConsoleIsOneCard(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.console("maria@harbor.example")
	for range 2 {
		b.press(b.open("/conversations"), "/conversations", "content", "Rename role 4 to reviewer").says(`Rename role "editor" to "reviewer"`)
	}
	if got := w.sql(`SELECT string_agg(channel::text, ',') FROM countersign.proposals`); got != "chat" {
		t.Errorf("made: %s", got)
	}
	w.console("paolo@harbor.example").open("/inbox").saysNot("reviewer")
}

// Two on one record: each says so, and once one is applied the other is not.
func TestTwoCardsOnOneRecordInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, b := w.signIn("maria@harbor.example"), w.console("maria@harbor.example")
	first, _ := maria.rename("4", "reviewer")
	second, _ := maria.rename("4", "critic")
	b.open("/proposals/" + first).says("Another open proposal is on this record: #2.")
	b.open("/proposals/" + second).says("Another open proposal is on this record: #1.")
	other := b.open("/proposals/" + second)
	b.decide(first, "confirm").says("Applied. You confirmed it.")
	b.open("/proposals/" + second).says("The record changed after this card was made")
	b.press(other, "/proposals/"+second+"/confirm").says("Not applied. You confirmed it.", "The record changed after the card was made")
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "reviewer" {
		t.Errorf("the role is called %s", name)
	}
	w.invariants()
}
