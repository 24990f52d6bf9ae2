package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// hostile are texts that try to be more than text. What is hidden in one is shown by a mark, so only what
// can be read of it is looked for: shown, where that differs.
type hostileText struct{ text, shown string }

var hostile = []hostileText{
	{text: `<script>window.hacked=1</script>`},
	{text: `</title></textarea><script>window.hacked=1</script>`},
	{text: `"><img src=x onerror=window.hacked=1>`},
	{text: `' onfocus='window.hacked=1' autofocus='`},
	{text: `<svg onload=window.hacked=1>`},
	{text: `<a href="javascript:window.hacked=1">x</a>`},
	{text: `javascript:window.hacked=1`},
	{text: `js:window.hacked=1`},
	{text: `<b hx-get="/sign-out" hx-trigger="load">b</b>`},
	{text: `<form action=//evil.example><button>Confirm`},
	{text: `<style>*{display:none}</style>`},
	{text: `<meta http-equiv=refresh content=0;url=//evil.example>`},
	{text: `<base href=//evil.example/>`},
	{text: `&lt;b&gt; &amp;quot;`},
	{text: `{{constructor.constructor("window.hacked=1")()}}`},
	{text: "${window.hacked=1} <%= 1 %> <!-- -->"},
	{text: "re\u202eweiver", shown: "weiver"},
	{text: "re\u2066view\u2069er", shown: "view"},
	{text: "re\u200bvie\u200dwer\ufeff", shown: "wer"},
	{text: "rev\u0456ewer"}, // a Cyrillic letter
}

// reading is what one reads of it on a page, where blanks are one.
func (h hostileText) reading() string {
	if h.shown != "" {
		return h.shown
	}
	return h.text
}

// fit cuts a text to what the name of a role may hold.
func fit(text string) string { return string([]rune(text)[max(0, len([]rune(text))-60):]) }

// harmless: nothing of a text became an element, ran, or is there to turn the text around it.
const harmless = `!window.hacked
	&& !document.querySelector("main script, main img, main iframe, main style, main meta, main base, main b[hx-get], main [onerror], main [onload], main [onfocus]")
	&& ![...document.links].some(a => !a.href.startsWith(location.origin + "/"))
	&& ![...document.forms].some(f => !f.action.startsWith(location.origin + "/"))
	&& !/[\u200b\u200d\u202a-\u202e\u2066-\u2069\ufeff]/.test(document.querySelector("main").innerText)`

func (b *tab) harmless() {
	b.t.Helper()
	if !ask[bool](b, harmless) {
		b.fail("the page was changed by a text")
	}
}

// As values in the records and as values that are proposed, as the words beside a card, as a reason.
func TestHostileTextOnCards(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.person(maria, withScript)
	for i, one := range hostile {
		other := hostile[(i+7)%len(hostile)]
		w.exec(`INSERT INTO core.roles (id, site, name, description) VALUES ($1, 'harbor-mill', $2, $3)`, 100+i, one.text, other.text)
		card := w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": strconv.Itoa(100 + i), "note": other.text,
			"changes": fields{"name": fit(other.text + " 2"), "description": strings.Repeat(one.text+" ", 20)}})
		if i%2 == 1 {
			continue // it is looked at in the lists
		}
		b.open(card)
		b.sees("main .changes", one.reading(), other.reading())
		b.harmless()
		if i%4 == 0 {
			b.press(confirmButton)
			b.sees("main", "Applied.")
		} else {
			b.click(rejectOpener)
			b.write(rejectReason, one.text)
			b.press(rejectButton)
			b.sees("main", "Rejected.", one.reading())
		}
		b.harmless()
	}
	for _, list := range []string{"/inbox", "/history"} {
		b.open(list)
		b.sees("main", "<script>window.hacked=1</script>")
		b.harmless()
	}
	w.has("0", `SELECT count(*) FROM countersign.proposals WHERE status = 'failed'`)
}

// As what one writes to the assistant, what it answers, and the title of the conversation.
func TestHostileTextInConversations(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.person(maria, withScript)
	for i, one := range hostile {
		if i%5 == 0 {
			b.open("/conversations")
			b.harmless()
		}
		b.write(messageBox, one.text)
		b.press(sendButton)
		b.until(fmt.Sprintf(`document.querySelectorAll("main .messages > li").length === %d`, i%5*2+2))
		b.sees("main .messages > li:nth-last-child(2)", one.reading())
		b.harmless()
	}
	b.write(messageBox, `Rename role 4 to "`+hostile[0].text+`"`)
	b.press(sendButton)
	b.sees("main article .changes", hostile[0].reading())
	b.harmless()
	b.open("/conversations")
	b.sees("main", hostile[0].reading(), hostile[5].reading())
	b.harmless()
}
