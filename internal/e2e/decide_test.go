package e2e

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What one presses on a card.
const (
	confirmButton  = `main form[action$="/confirm"] button`
	rejectOpener   = `main details:has(form[action$="/reject"]) > summary`
	rejectReason   = `main form[action$="/reject"] textarea`
	rejectButton   = `main form[action$="/reject"] button`
	withdrawButton = `main form[action$="/withdraw"] button`
	extendButton   = `main form[action$="/extend"] button`
)

func TestConfirming(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.sees("main", "Waiting for you", `Rename role "editor" to "reviewer"`)
		b.press(`main a[href="` + card + `"]`)
		b.at(card)
		b.sees("main", "before: editor", "after: reviewer", "Confirm")
		w.has("editor", nameOfRole4)

		b.press(confirmButton)
		b.sees("main", "Applied. You confirmed it. The change is made.")
		b.sees("#notice", "Your confirmation is recorded.")
		b.lacks(confirmButton, rejectButton, withdrawButton)
		b.focused("main")
		w.has("reviewer", nameOfRole4)
		w.has("confirm", decisions)

		b.press(`#top a[href="/history"]`)
		b.sees("main", `Rename role "editor" to "reviewer"`, "Applied", "confirmed by Maria Rossi")
		b.press(`#top a[href="/inbox"]:not(.brand)`)
		b.sees("main", "Nothing waits for you")
	})
}

func TestRejecting(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.open(card)
		b.click(rejectOpener)
		b.write(rejectReason, "Not before the audit.")
		b.press(rejectButton)
		b.sees("main", "Rejected. You rejected it. Nothing was changed.", "Not before the audit.")
		b.lacks(confirmButton, rejectButton)
		w.has("editor", nameOfRole4)
		w.has("Not before the audit.", `SELECT reason FROM countersign.proposal_decisions`)
	})
}

func TestWithdrawingAndMoreTime(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.open(card)
		b.press(extendButton)
		b.sees("#notice", "There is more time now.")
		b.lacks(extendButton)
		b.press(withdrawButton)
		b.sees("main", "Withdrawn. You withdrew it. Nothing was changed.")
		b.lacks(confirmButton, withdrawButton)
		w.has("editor", nameOfRole4)
		w.has("withdraw", decisions)
	})
}

// A tab that was opened before the decision shows the outcome: by itself where it has a script, and else whatever
// is pressed in it.
func TestASecondTabShowsTheOutcome(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		first := w.person(maria, way)
		second, third := first.another(), first.another()
		for _, b := range []*tab{first, second, third} {
			b.open(card)
		}
		first.press(confirmButton)
		first.sees("main", "Applied.")
		if way == withoutScript {
			second.press(confirmButton)
			third.click(rejectOpener)
			third.press(rejectButton)
			third.sees("#notice", "It had been decided before you pressed the button.")
		}
		second.sees("main", "Applied. You confirmed it.")
		third.sees("main", "Applied. You confirmed it.")
		w.has("confirm", decisions)
		w.has("1", `SELECT count(*) FROM countersign.tool_calls WHERE tool = 'confirm'`)
	})
}

// Who confirms another card than the one the server has is shown that one, and has decided nothing.
func TestAnOutdatedCard(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.open(card)
		ask[string](b, `document.querySelector("main input[name=fingerprint]").value = "0".repeat(64)`)
		b.press(confirmButton)
		b.sees("#notice", "please look at it again")
		w.has("null", decisions)
		b.press(confirmButton)
		b.sees("main", "Applied.")
	})
}

func TestARecordThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.open(card)
		w.exec(`UPDATE core.roles SET description = 'edited meanwhile' WHERE id = 4`)
		b.press(confirmButton)
		b.sees("main", "Not applied. You confirmed it.", "Propose the change again")
		w.has("editor edited meanwhile", `SELECT name || ' ' || description FROM core.roles WHERE id = 4`)
	})
}

func TestBackAfterADecisionShowsHowThingsAre(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		b.open(card)
		b.press(confirmButton)
		b.sees("main", "Applied.")
		b.press(`#top a[href="/history"]`)
		b.sees("main h1", "History")
		b.back()
		b.at(card)
		b.sees("main", "Applied. You confirmed it.")
		b.lacks(confirmButton)
	})
}

// Two presses are one decision.
func TestPressingTwice(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		b := w.person(maria, way)
		role := 3
		for name, presses := range map[string]chromedp.Action[chromedp.Void]{
			"a double click":             chromedp.DoubleClick(chromedp.CSS(confirmButton)),
			"Enter that is held":         chromedp.Steps(chromedp.Focus(chromedp.CSS(confirmButton)), chromedp.KeyEvent(kb.Enter+kb.Enter+kb.Enter)),
			"Confirm twice at once":      inPage(`const b = document.querySelector(%s); b.click(); b.click()`, confirmButton),
			"Confirm and Reject at once": inPage(`document.querySelector(%s).click(); document.querySelector(%s).click()`, confirmButton, rejectButton),
		} {
			role++
			b.open(w.rename(maria, strconv.Itoa(role), name))
			if way == withoutScript {
				presses = loading(presses)
			}
			b.do(presses)
			b.until(textOf("main") + `.match(/Applied\. You|Rejected\. You/)`)
			w.has("true", `SELECT (SELECT count(*) FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id) = 1
				AND (status = 'applied') = EXISTS (SELECT FROM core.roles WHERE name = $1)
				FROM countersign.proposals p WHERE headline LIKE '%' || $1 || '%'`, name)
		}
		w.has("4", `SELECT count(*) FROM countersign.tool_calls WHERE tool IN ('confirm', 'reject')`)
	})
}

// inPage does something in the page itself, to the elements of these selectors.
func inPage(deed string, selectors ...string) chromedp.Action[chromedp.Void] {
	var found []any
	for _, one := range selectors {
		found = append(found, quoted(one))
	}
	return chromedp.Evaluate[chromedp.Void]("{" + fmt.Sprintf(deed, found...) + "}")
}

// loading waits for the page that a step leads to.
func loading(step chromedp.Action[chromedp.Void]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.WaitEvent(page.LoadEventFired, nil, step)(ctx, t)
		return err
	})
}
