package e2e

import "testing"

func TestWhatOthersSee(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(olu, way)
		b.refused(card, 404)
		b.sees("main h1", "Not here")
		b.seesNot("html", "editor", "reviewer")

		b = w.person(paolo, way)
		b.refused(card, 403)
		b.seesNot("html", "editor", "reviewer")

		b = w.person(sam, way)
		b.open(card)
		b.sees("main", "before: editor")
		b.lacks(confirmButton, rejectButton, withdrawButton, extendButton)

		b = w.person(rosa, way)
		b.open(card)
		b.lacks(confirmButton, withdrawButton, extendButton)
		b.click(rejectOpener)
		b.press(rejectButton)
		b.sees("main", "Rejected. You rejected it.")
		w.has("reject", decisions)
	})
}
