package e2e

import "testing"

const (
	approveButton    = `main form[action$="/approve"] button`
	disapproveOpener = `main details:has(form[action$="/disapprove"]) > summary`
	disapproveReason = `main form[action$="/disapprove"] textarea`
	disapproveButton = `main form[action$="/disapprove"] button`
	roleIs           = `SELECT coalesce((SELECT name FROM core.roles WHERE id = 7), 'gone')`
)

// A second person approves, and only then is the record deleted.
func TestApproving(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.propose(maria, fields{"entity": "core.role", "operation": "DELETE", "recordId": "7"})
		b := w.person(maria, way)
		b.open(card)
		b.lacks(approveButton)
		b.press(confirmButton)
		b.sees("main", "Awaits approval", "Nothing changes until it is approved as well.")
		b.lacks(confirmButton, approveButton)
		w.has("temp", roleIs)

		j := w.person(jonas, way)
		j.open("/inbox")
		j.sees("main", "Waiting for you", `Delete role "temp"`)
		j.press(`main a[href="` + card + `"]`)
		j.at(card)
		if way == withScript {
			j.look("approve")
		}
		j.press(approveButton)
		j.sees("main", "Applied. You approved it.", "Maria Rossi")
		w.has("gone", roleIs)
	})
}

func TestDisapproving(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.propose(maria, fields{"entity": "core.role", "operation": "DELETE", "recordId": "7"})
		b := w.person(maria, way)
		b.open(card)
		b.press(confirmButton)
		j := w.person(jonas, way)
		j.open(card)
		j.click(disapproveOpener)
		j.write(disapproveReason, "Still in use.")
		j.press(disapproveButton)
		j.sees("main", "Disapproved. You disapproved it.", "Still in use.")
		w.has("temp", roleIs)
	})
}

// Edited before it is confirmed: the first card can never run, the new one is the person's.
func TestEditingACard(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": fields{"name": "reviewer", "description": "Reads\nand says"}})
		b := w.person(maria, way)
		b.open(card)
		b.press(`main a[href="` + card + `/revise"]`)
		b.sees("main", "Edit #1", "now editor")
		if way == withScript {
			b.look("revise")
		}
		b.write(`main input[name="to.name"], main textarea[name="to.name"]`, "critic")
		b.press(`main form.revise button`)
		b.sees("#notice", "This is the new card, with your values.")
		b.sees("main", "Edited by a person.", "critic")
		b.press(confirmButton)
		b.sees("main", "Applied. You confirmed it.")
		w.has("critic", nameOfRole4)
		w.has("Reads\nand says", `SELECT description FROM core.roles WHERE id = 4`)
		b.open(card)
		b.sees("main", "Superseded", "the card that stands in its place")
		b.lacks(confirmButton)
	})
}

// What was applied is undone by a proposal like any other; what changed since is shown, and left unless taken.
func TestUndoingWhatWasApplied(t *testing.T) {
	t.Parallel()
	w := start(t)
	card := w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": fields{"name": "reviewer", "description": "Reads"}})
	b := w.person(maria, withScript)
	b.open(card)
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.", "propose to undo it")
	w.exec(`UPDATE core.roles SET description = 'Reads and writes' WHERE id = 4`)
	b.press(`main form.undo button`)
	b.sees("#notice", "This would undo it.")
	b.sees("main", "It undoes what was applied before", "Changed since it was applied", "Reads and writes", "leaves it")
	b.look("undo")
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.")
	w.has("editor", nameOfRole4)
	w.has("Reads and writes", `SELECT description FROM core.roles WHERE id = 4`)
}
