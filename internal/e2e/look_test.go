package e2e

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/internal/demo"
)

// axe-core 4.14.1 of the npm registry, under the Mozilla Public License 2.0: see its first lines.
//
//go:embed testdata/axe-4.14.1.min.js
var axe string

func TestAxeIsTheOneTested(t *testing.T) {
	const want = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
	if sum := sha256.Sum256([]byte(axe)); hex.EncodeToString(sum[:]) != want {
		t.Errorf("axe is another one: %x", sum)
	}
}

// looks are how people look at a page.
var looks = []struct {
	scheme string
	width  int64
	height int64
}{
	{"light", 1280, 800}, {"dark", 1280, 800}, {"dark", 375, 812}, {"light", 375, 812},
}

// look looks at the page on screen in every way: nobody is kept from reading it, nothing hangs over its
// edge, and it is kept as a picture.
func (b *tab) look(name string) {
	b.t.Helper()
	if strings.Contains(ask[string](b, `document.documentElement.textContent`), "{{") {
		b.t.Errorf("%s: a page prints an expression", name)
	}
	b.pictures(name, b.accessible)
}

// pictures shows the page in every way, and has it checked in each.
func (b *tab) pictures(name string, check func(which string)) {
	b.t.Helper()
	for _, one := range looks {
		b.do(
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: one.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
			chromedp.EmulateViewport(one.width, one.height))
		b.until(fmt.Sprintf(`innerWidth === %d && matchMedia("(prefers-color-scheme: %s)").matches`, one.width, one.scheme))
		which := name + "-" + one.scheme + "-" + strconv.FormatInt(one.width, 10)
		if over := ask[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			b.t.Errorf("%s hangs over by %d pixels", which, over)
		}
		check(which)
		if os.Getenv(artefacts) != "" {
			b.picture(which)
		}
	}
}

// accessible wants nothing serious or critical of axe.
func (b *tab) accessible(which string) {
	b.t.Helper()
	if !ask[bool](b, `"axe" in window`) {
		ask[any](b, axe+"; null")
	}
	found := ask[[]string](b, `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations
		.filter(v => ["serious", "critical"].includes(v.impact))
		.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => "  " + n.target + "  " + n.failureSummary).join("\n")))`)
	for _, one := range found {
		b.t.Errorf("%s: %s", which, one)
	}
}

func TestEveryPage(t *testing.T) {
	t.Parallel()
	w := startWith(t, func(registry []byte) []byte {
		return bytes.Replace(registry, []byte("delete: { approval: 1 }"), []byte("delete:"), 1)
	})
	for name, pages := range map[string]func(*world){
		"the doors": theDoors, "a new person's": theFirstPages, "cards": theCards, "conversations": theConversations, "what others see": theOthers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages(&world{t: t, db: w.db, url: w.url})
		})
	}
}

func theDoors(w *world) {
	b := w.stranger(withScript)
	b.open("/sign-in?ended=1")
	b.look("sign-in-ended")
	b.open("/sign-in")
	b.look("sign-in")
	b.signIn(rosa, "not it", 401)
	b.sees("[role=alert]", "password")
	b.look("sign-in-wrong")
	b.signIn(rosa, demo.Password, 200)
	b.sees("#top", "Rosa")
	b.open("/workspace")
	b.look("workspaces")
	b.open("/inbox")
	b.click(`#top details > summary`)
	b.look("account-menu")
	b.refused("/nowhere", 404)
	b.look("not-here")
}

func theFirstPages(w *world) {
	b := w.person(paolo, withScript)
	b.look("inbox-empty")
	b.open("/history")
	b.look("history-empty")
	b.open("/conversations")
	b.look("conversations-first")
	b.open("/assistant")
	b.look("assistant")
}

func theCards(w *world) {
	update := w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "note": "Maria asked for the name the audit uses.",
		"changes": fields{"name": "reviewer", "description": "Keeps items, texts and prices up to date"}})
	create := w.propose(maria, fields{"entity": "core.role", "operation": "CREATE", "changes": fields{"name": "guest"}})
	remove := w.propose(maria, fields{"entity": "core.role", "operation": "DELETE", "recordId": "7"})
	long := w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "5", "changes": fields{
		"name": "supercalifragilisticexpialidocious_without_a_single_break_60", "description": strings.Repeat("Reads everything\u200b and changes nothing. ", 30)}})
	ended := map[string]string{}
	for i, how := range []string{"applied", "rejected", "withdrawn", "failed", "expired"} {
		ended[how] = w.rename(maria, strconv.Itoa(i+1), how+" name")
	}
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE headline LIKE '%expired name%'`)
	b := w.person(maria, withScript)
	b.look("inbox")
	for name, card := range map[string]string{"update": update, "create": create, "delete": remove, "long": long} {
		b.open(card)
		b.look("card-" + name)
	}
	b.open(update)
	b.click(rejectOpener)
	b.look("card-rejecting")
	b.open(ended["applied"])
	b.press(confirmButton)
	b.sees("main", "Applied.")
	b.look("card-applied")
	b.open(ended["rejected"])
	b.click(rejectOpener)
	b.write(rejectReason, "Not before the audit.\nAsk again in June.")
	b.press(rejectButton)
	b.sees("main", "Rejected.")
	b.look("card-rejected")
	b.open(ended["withdrawn"])
	b.press(withdrawButton)
	b.sees("main", "Withdrawn.")
	b.look("card-withdrawn")
	b.open(ended["failed"])
	w.exec(`UPDATE core.roles SET description = 'edited meanwhile' WHERE id = 4`)
	b.press(confirmButton)
	b.sees("main", "Not applied.")
	b.look("card-failed")
	b.open(ended["expired"])
	b.sees("main", "Expired.")
	b.look("card-expired")
	b.open("/history")
	b.look("history")
}

func theConversations(w *world) {
	b := w.person(jonas, withScript)
	b.open("/conversations")
	for _, message := range []string{"Can we push PO-1042 by two days?", "Which orders are released?", "Change the quantity of PO-1044 to 90", "What can you do?"} {
		said := ask[int](b, `document.querySelectorAll("main .messages > li").length`)
		b.write(messageBox, message)
		b.press(sendButton)
		b.until(fmt.Sprintf(`document.querySelectorAll("main .messages > li").length === %d`, said+2))
	}
	b.look("conversation")
	b.open("/conversations")
	b.look("conversations")
}

func theOthers(w *world) {
	card := w.rename(aiko, "8", "examiner")
	b := w.person(sam, withScript)
	b.look("inbox-auditor")
	b.open(card)
	b.look("card-auditor")
	b = w.person(paolo, withScript)
	b.refused(card, 403)
	b.look("not-yours")
}
