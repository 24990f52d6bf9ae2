package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// Two others approve, each once; whoever confirmed is none of them, and the last of them has it written.
func TestApprovalsInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t, approvals(t, "2"))
	maria, jonas, aiko, paolo := w.console("maria@harbor.example"), w.console("jonas@harbor.example"), w.console("aiko@harbor.example"), w.console("paolo@harbor.example")
	id, _ := w.signIn("maria@harbor.example").remove(w.spare())
	card := maria.open("/proposals/" + id).says("2 other people have to approve it after you confirm.")
	jonas.open("/proposals/" + id).is(http.StatusOK).saysNot("Approve #")
	maria.press(card, "/proposals/"+id+"/confirm").says("Awaits approval", "Nothing changes until 2 others approve it; 0 did so far.").saysNot("Approve #", "Confirm #")
	maria.submit("/proposals/"+id+"/approve", card.form("/proposals/"+id+"/confirm")).is(http.StatusForbidden)
	paolo.submit("/proposals/"+id+"/approve", card.form("/proposals/"+id+"/confirm")).is(http.StatusForbidden)
	for _, who := range []*console{jonas, aiko} {
		who.open("/inbox").says("Waiting for you", `Delete role "spare"`)
	}
	his := jonas.open("/proposals/" + id)
	jonas.press(his, "/proposals/"+id+"/approve").says("Awaits approval", "1 did so far").saysNot("Approve #")
	jonas.press(his, "/proposals/"+id+"/approve").is(http.StatusOK).says("1 did so far") // once is once
	jonas.open("/inbox").says("Nothing waits for you")
	if w.there("906") != "1" {
		t.Fatal("one of two has approved it, and it is gone")
	}
	aiko.decide(id, "approve").says("Your approval is recorded.", "Applied. You approved it.", "Jonas Weber")
	maria.open("/proposals/" + id).says("Applied. Aiko Tan approved it.")
	if w.there("906") != "0" {
		t.Error("two have approved it, and it is there")
	}
	w.invariants()
}

// One who disapproves ends it, with a reason; and what changed while it waited is left as it is.
func TestDisapprovalAndChangesMeanwhileInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas, c := w.console("maria@harbor.example"), w.console("jonas@harbor.example"), w.signIn("maria@harbor.example")
	role := w.spare()
	first, _ := c.waiting(role)
	jonas.decide(first, "disapprove", "reason", "Still in use.").says("Disapproved. You disapproved it.", "Still in use.")
	maria.open("/proposals/"+first).says("Disapproved. Jonas Weber disapproved it.", "Still in use.")
	second, _ := c.waiting(role)
	card := jonas.open("/proposals/" + second)
	w.exec(`UPDATE core.roles SET description = 'in use again' WHERE id = 906`)
	jonas.open("/proposals/" + second).says("The record changed after this card was made")
	jonas.press(card, "/proposals/"+second+"/approve").says("Not applied. You approved it.", "The record changed after the card was made")
	third, _ := c.waiting(role)
	maria.decide(third, "withdraw").says("Withdrawn. You withdrew it.")
	fourth, _ := c.waiting(role)
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE status = 'awaiting_approval'`)
	jonas.open("/proposals/"+fourth).says("Expired", "nobody approved it in time").saysNot("Approve #")
	if w.there(role) != "1" {
		t.Error("it is gone")
	}
	w.invariants()
}

// Who has the right confirms what the workspace shares, and the page says whose it was.
func TestWhatIsSharedInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	id, _ := w.signIn("maria@harbor.example").order("PO-1042", 1)
	w.console("sam@harbor.example").open("/proposals/" + id).is(http.StatusOK).saysNot("Confirm #")
	w.console("olu@othersite.example").open("/proposals/" + id).is(http.StatusNotFound).saysNot("PO-1042")
	paolo := w.console("paolo@harbor.example")
	paolo.open("/inbox").says("Waiting for you", "PO-1042")
	paolo.decide(id, "confirm").says("Applied. You confirmed it.", "for Maria Rossi")
	if w.priority("PO-1042") != "1" {
		t.Error("it was not written")
	}
	w.invariants()
}

// Edited before it is confirmed: null, empty and text are told apart, what is not touched keeps its type, the
// first card can never run, and the new one shows what was proposed and what was changed.
func TestEditingInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, b := w.signIn("maria@harbor.example"), w.console("maria@harbor.example")
	first, _ := maria.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.orderID("PO-1042"), "changes": vars{"notes": "a\nb", "priority": 2, "quantity": "500.50"}})
	old := b.open("/proposals/" + first)
	edit := b.open("/proposals/"+first+"/revise").says("Edit #1", "now 480")
	b.press(edit, "/proposals/"+first+"/revise", "to.priority", "many").is(http.StatusUnprocessableEntity).says("takes a whole number")
	w.signIn("maria@harbor.example").gql(show, vars{"id": first}).want(vars{"proposal.status": "PENDING"})
	made := b.press(edit, "/proposals/"+first+"/revise", "to.priority", "1", "to.notes", "").says("This is the new card, with your values.", "Edited by a person.", "after: 1", "after: (empty)", "after: 500.50")
	second := strings.TrimSuffix(strings.TrimPrefix(made.path, "/proposals/"), "?notice=revised")
	b.press(old, "/proposals/"+first+"/confirm").says("It had been decided before you pressed the button.", "Superseded")
	b.press(edit, "/proposals/"+first+"/revise", "to.priority", "3").is(http.StatusUnprocessableEntity)
	b.decide(second, "confirm").says("Applied. You confirmed it.")
	if got := w.sql(`SELECT concat_ws('|', notes, priority, quantity) FROM mrp.production_orders WHERE order_number = 'PO-1042' AND site = 'harbor-mill'`); got != "|1|500.50" {
		t.Errorf("the order is %s", got)
	}
	if got := w.sql(`SELECT string_agg(channel::text, ',' ORDER BY number) FROM countersign.proposals`); got != "api,console" {
		t.Errorf("made through %s", got)
	}
	w.invariants()
}

// What was applied is undone by a card with three columns; what changed since is left, unless it is taken.
func TestUndoingInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, b := w.signIn("maria@harbor.example"), w.console("maria@harbor.example")
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer", "description": "Reads"}})
	w.exec(`UPDATE core.roles SET description = 'Reads and writes' WHERE id = 4`)
	left := b.decide(first, "revert").says("This would undo it.", "Changed since it was applied", "Keeps items and texts up to date", "Reads and writes", "leaves it", "after: editor")
	taken := b.press(left, "/proposals/"+first+"/revert").says("restores it")
	again := strings.TrimSuffix(strings.TrimPrefix(taken.path, "/proposals/"), "?notice=reverting")
	b.decide(again, "confirm").says("Applied. You confirmed it.")
	if got := w.sql(`SELECT concat_ws('/', name, description) FROM core.roles WHERE id = 4`); got != "editor/Keeps items and texts up to date" {
		t.Errorf("the role is %s", got)
	}
	b.submit("/proposals/"+first+"/revert", nil).is(http.StatusUnprocessableEntity).says("It was undone already")
	w.console("paolo@harbor.example").submit("/proposals/"+first+"/revert", nil).is(http.StatusForbidden)
	w.invariants()
}

// An order that a split made and somebody edited since is left, unless it is to go all the same.
func TestUndoingASplitInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.console("maria@harbor.example")
	split, _ := w.signIn("maria@harbor.example").split()
	w.exec(`UPDATE mrp.production_orders SET unit_cost = 77 WHERE order_number = 'PO-1042-2'`)
	left := b.decide(split, "revert").says("Changed since it was applied", "PO-1042-2", "The record is another now.", "leaves it")
	taken := b.press(left, "/proposals/"+split+"/revert").says("deletes it")
	again := strings.TrimSuffix(strings.TrimPrefix(taken.path, "/proposals/"), "?notice=reverting")
	b.decide(again, "confirm").says("Applied. You confirmed it.")
	if got := w.sql(millAll); !strings.HasPrefix(got, "PO-1042 480 ") || strings.Contains(got, "PO-1042-2") {
		t.Errorf("the mill is %s", got)
	}
	w.invariants()
}

// Twenty presses at once, on two servers: one decision, one write, and the same end on every page that follows.
func TestPressesAtOnceInTheConsole(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	w.logWrites()
	here, urls := w.console("maria@harbor.example"), []string{w.url, w.serve()}
	id, _ := w.signIn("maria@harbor.example").rename("4", "reviewer")
	card := here.open("/proposals/" + id)
	_, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
	pages := make([]*sheet, 20)
	w.together(len(pages), 8, release, func(i int) *answer {
		verb := []string{"confirm", "confirm", "reject", "withdraw"}[i%4]
		pages[i] = here.on(urls[i%2]).press(card, "/proposals/"+id+"/"+verb)
		return nil
	})
	end := w.sql(`SELECT status FROM countersign.proposals`)
	for _, p := range pages {
		p.is(http.StatusOK).says(map[string]string{"applied": "Applied. You confirmed it.", "rejected": "Rejected. You rejected it.", "withdrawn": "Withdrawn. You withdrew it."}[end])
	}
	if got := w.sql(`SELECT (SELECT count(*) FROM countersign.proposal_decisions WHERE final) || ' ' || (SELECT count(*) FROM public.change_log)`); got != map[bool]string{true: "1 1", false: "1 0"}[end == "applied"] {
		t.Errorf("%s, with decisions and writes: %s", end, got)
	}
	w.invariants()
}
