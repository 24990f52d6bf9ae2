package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What a page has while it follows the feed.
const (
	newsButton = `main .queue .news button`
	lookButton = `main .changed button`
	waiting    = `#top nav a[href="/inbox"]`
)

// confirmIsOff waits until Confirm can be pressed to no effect, or to its own.
func (b *tab) confirmIsOff(off bool) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll(%s).length > 0 && [...document.querySelectorAll(%[1]s)].every(one => one.ariaDisabled === %s)`, quoted(confirmButton), map[bool]string{true: `"true"`, false: `null`}[off]))
}

// placeOf is where something stands in the window.
func (b *tab) placeOf(selector string) float64 {
	b.t.Helper()
	return ask[float64](b, fmt.Sprintf(`document.querySelector(%s).getBoundingClientRect().top`, quoted(selector)))
}

// point moves the pointer over something.
func (b *tab) point(selector string) {
	b.t.Helper()
	at := ask[[]float64](b, fmt.Sprintf(`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%s).getBoundingClientRect())`, quoted(selector)))
	b.do(call(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: at[0], Y: at[1]}))
}

// stays wants what is done to leave something where it is, and the focus where it was.
func (b *tab) stays(selector string, do func()) {
	b.t.Helper()
	before := b.placeOf(selector)
	focus := ask[string](b, `(window.focused = document.activeElement).outerHTML`)
	do()
	if now := b.placeOf(selector); now != before {
		b.t.Errorf("%s moved from %v to %v", selector, before, now)
	}
	if !ask[bool](b, `window.focused === document.activeElement`) {
		b.t.Errorf("the focus went from %s to %s", focus, ask[string](b, `document.activeElement.outerHTML.slice(0, 300)`))
	}
}

// freshly wants the page to say what it says where it is loaded anew, but for how long ago things were.
func (b *tab) freshly() {
	b.t.Helper()
	const read = `(main => { for (const time of main.querySelectorAll("time")) time.remove(); return main.innerHTML.replace(/ (class|aria-\w+)="[^"]*htmx[^"]*"/g, "") })(document.querySelector("main").cloneNode(true)) + document.querySelector("#top nav").innerText + document.title`
	other := b.another()
	defer func() { _ = chromedp.Cancel(other.ctx) }() // a browser has six connections to a server
	other.against.cutOff = b.against.cutOff
	other.open(ask[string](b, `location.pathname`))
	if got, want := ask[string](b, read), ask[string](other, read); got != want {
		b.t.Errorf("the page is\n%s\nand loaded anew\n%s", got, want)
	}
}

func TestWhatIsNewAnnouncesItself(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.person(maria, withScript)
	b.sees("main", "Nothing waits for you")
	first := w.rename(maria, "4", "reviewer")
	b.sees(newsButton, "1 new proposal")
	b.sees(waiting, "1 waiting")
	b.look("live-first")
	b.press(newsButton)
	b.sees("main", `Rename role "editor" to "reviewer"`, "Confirm")
	b.focused(`a.row[href="` + first + `"]`)
	b.freshly()

	b.point(confirmButton)
	b.stays(confirmButton, func() {
		b.stays("main a.row", func() {
			w.rename(maria, "5", "watcher")
			b.sees(newsButton, "1 new proposal")
			w.rename(maria, "6", "guest")
			b.sees(newsButton, "2 new proposals")
			b.sees(waiting, "3 waiting")
			b.sees("#live", "2 new proposals in the inbox")
			b.seesNot("main", "guest")
		})
	})
	b.look("live-news")
	b.press(newsButton)
	b.sees("main .queue", "guest")
	b.lacks(newsButton)
	b.focused(`a.row:not([href="` + first + `"])`)
	b.freshly()
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.")
}

func TestWhatIsDecidedElsewhere(t *testing.T) {
	t.Parallel()
	w := start(t)
	cards := []string{w.rename(maria, "4", "reviewer"), w.rename(maria, "5", "watcher"), w.rename(maria, "6", "guest")}
	first := w.person(maria, withScript)
	second, list := first.another(), first.another()
	auditor, rosa := w.person(sam, withScript), w.person(rosa, withScript)
	for _, b := range []*tab{first, second, auditor} {
		b.open(cards[0])
	}
	list.open("/inbox")
	second.do(chromedp.Focus(chromedp.CSS(`main a.row[href="` + cards[1] + `"]`)))
	second.point(confirmButton)
	second.stays("main .records", func() {
		second.stays("main .actions", func() {
			second.stays("main .timeline", func() {
				first.press(confirmButton)
				second.sees("main .actions", "Applied. You confirmed it. The change is made.")
			})
		})
	})
	second.lacks(confirmButton, rejectButton, withdrawButton, extendButton)
	second.sees("main .eyebrow", "Applied")
	second.sees(`main a.row[href="`+cards[0]+`"]`, "Applied")
	second.sees("main .next", "watcher")
	second.sees("#live", "A proposal on screen was decided. Applied.")
	second.look("live-decided")
	auditor.sees("main .outcome", "Applied. Maria Rossi confirmed it.")
	list.sees("main .card", "Applied. You confirmed it.")
	list.look("live-decided-inbox")

	// Who was somewhere in the card is still there.
	second.press(`main .next a`)
	second.at(cards[1])
	second.do(chromedp.Focus(chromedp.CSS(confirmButton)))
	rosa.open(cards[1])
	rosa.click(rejectOpener)
	rosa.write(rejectReason, "It is still used.")
	rosa.press(rejectButton)
	second.sees("main .actions", "Rejected. Rosa Marino rejected it.", "It is still used.")
	second.focused("main article.card")
	second.look("live-rejected")
	second.do(chromedp.KeyEvent(kb.Enter + kb.Enter))
	w.has("confirm reject", decisions)
}

// A card that changed is held until it was looked at again.
func TestWhatChangedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	card := w.rename(maria, "4", "reviewer")
	first := w.person(maria, withScript)
	second := first.another()
	first.open(card)
	second.open(card)
	second.click(rejectOpener)
	second.write(rejectReason, "half a reas")
	first.press(extendButton)
	first.sees("#notice", "There is more time now.")
	second.sees("main .changed", "This card has changed. It was given more time.")
	second.confirmIsOff(true)
	second.focused(rejectReason)
	second.do(chromedp.KeyEvent("on"))
	second.click(rejectOpener)
	second.do(chromedp.Focus(chromedp.CSS(confirmButton)))
	second.stays(confirmButton, func() {
		second.do(chromedp.KeyEvent(kb.Enter), chromedp.Click(chromedp.CSS(confirmButton)))
		w.rename(maria, "4", "proofreader") // one more on the same record, seen by both
		first.sees("main .changed", "other open proposals")
		second.sees(newsButton, "1 new")
	})
	w.has("null", decisions)
	second.look("live-changed")

	second.press(lookButton)
	second.lacks(lookButton, extendButton)
	second.focused("article.card")
	second.sees("main .warn", "Another open proposal is on this record")
	second.confirmIsOff(false)
	if kept := ask[string](second, `document.querySelector(`+quoted(rejectReason)+`).value`); kept != "half a reason" {
		t.Errorf("what was written became %q", kept)
	}
	second.press(confirmButton)
	second.sees("main", "Applied. You confirmed it.")
	w.has("confirm", decisions)
}

// While the stream is down Confirm is off, and when it is back the page is as if it were loaded anew.
func TestAStreamThatIsCut(t *testing.T) {
	t.Parallel()
	w := start(t)
	cards := []string{w.rename(maria, "4", "reviewer"), w.rename(maria, "5", "watcher"), w.rename(maria, "6", "guest")}
	there, network := w.behind()
	b := there.person(maria, withScript)
	b.against.cutOff = true
	b.sees("main", "guest", "Confirm")
	for round, changed := range []func(){
		func() { w.reject(maria, cards[2]); w.rename(maria, "7", "temporary") },
		func() { w.reject(maria, cards[0]) },
		func() {},
	} {
		b.confirmIsOff(false)
		network.cut()
		b.confirmIsOff(true)
		b.sees("#live", "Reconnecting.", "Confirm is off")
		if round == 0 {
			b.do(chromedp.Click(chromedp.CSS(confirmButton)))
			b.look("live-cut")
		}
		b.do(chromedp.Focus(chromedp.CSS(`main a.row[href="` + cards[1] + `"]`)))
		b.stays("#top", func() {
			changed()
			network.mend()
			b.confirmIsOff(false)
		})
		b.seesNot("#live", "Reconnecting")
		b.freshly()
	}
	b.seesNot("main", "guest", "reviewer")
	w.has("reject reject", decisions)
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.")
	w.has("watcher", `SELECT name FROM core.roles WHERE id = 5`)
}

// A card that changed while the stream was down is held too, with what was written on it.
func TestWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := start(t)
	card := w.rename(maria, "4", "reviewer")
	there, network := w.behind()
	b := there.person(maria, withScript)
	b.against.cutOff = true
	b.open(card)
	b.click(rejectOpener)
	b.write(rejectReason, "not yet")
	for _, meanwhile := range []func(){func() { w.extend(maria, card) }, func() {}} {
		network.cut()
		b.confirmIsOff(true)
		b.sees("#live", "Reconnecting.")
		meanwhile()
		network.mend()
		b.until(`document.querySelector("#live").matches(".unseen")`)
		b.until(textOf("main .changed p") + ` === "This card has changed. It was given more time."`)
		b.lacks(extendButton)
		b.confirmIsOff(true)
		b.focused(rejectReason)
	}
	if kept := ask[string](b, `document.activeElement.value`); kept != "not yet" {
		t.Errorf("what was written became %q", kept)
	}
	b.press(lookButton)
	b.confirmIsOff(false)
}

// A tab that is not looked at holds no stream: a browser has six connections to a server.
func TestATabOutOfViewRests(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.rename(maria, "4", "reviewer")
	b := w.person(maria, withScript)
	ask[any](b, `window.streams = []; window.EventSource = class extends EventSource { constructor(at) { super(at); streams.push(this) } }; null`)
	view := func(state string) {
		ask[any](b, fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %v, configurable: true }); Object.defineProperty(document, "visibilityState", { value: %q, configurable: true });
			document.dispatchEvent(new Event("visibilitychange")); null`, state == "hidden", state))
	}
	for round := range 8 {
		view("hidden")
		b.confirmIsOff(true)
		name := strings.Repeat("x", round+1)
		w.rename(maria, "5", name)
		view("visible")
		b.sees("main .queue", `"`+name+`"`)
		b.confirmIsOff(false)
	}
	if open := ask[int](b, `streams.filter(one => one.readyState < 2).length`); open != 1 {
		t.Errorf("%d streams are open", open)
	}
	b.freshly()
}

// A card in a conversation is followed where it is, beside what one is writing.
func TestACardInAConversationIsFollowed(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.person(maria, withScript)
	b.open("/conversations")
	b.write(messageBox, "Rename role 4 to reviewer")
	b.press(sendButton)
	b.sees("main .card", "Confirm")
	card := ask[string](b, `document.querySelector("main .card-title a").pathname`)
	b.write(messageBox, "half a mess")
	b.stays("main .composer", func() {
		b.stays("main .card", func() {
			w.reject(maria, card)
			b.sees("main .card .actions", "Rejected. You rejected it.")
		})
	})
	b.lacks(confirmButton, rejectButton)
	b.look("live-conversation")
	b.do(chromedp.KeyEvent("age"))
	if kept := ask[string](b, `document.activeElement.value`); kept != "half a message" {
		t.Errorf("what was written became %q", kept)
	}
}
