package e2e

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/demo"
)

func TestEveryPage(t *testing.T) {
	t.Parallel()
	w := startWith(t, func(registry []byte) []byte {
		return bytes.Replace(registry, []byte("delete: { approval: 1 }"), []byte("delete:"), 1)
	})
	for name, pages := range map[string]func(*world){
		"the doors": theDoors, "a new person's": theFirstPages, "open cards": theOpenCards, "ended cards": theEndedCards, "conversations": theConversations, "what others see": theOthers,
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

func theOpenCards(w *world) {
	cards := map[string]string{
		"update": w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "note": "Maria asked for the name the audit uses.",
			"changes": fields{"name": "reviewer", "description": "Keeps items, texts and prices up to date"}}),
		"create": w.propose(maria, fields{"entity": "core.role", "operation": "CREATE", "changes": fields{"name": "guest"}}),
		"delete": w.propose(maria, fields{"entity": "core.role", "operation": "DELETE", "recordId": "7"}),
		"long": w.propose(maria, fields{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": fields{
			"name": "supercalifragilisticexpialidocious_without_a_single_break_60", "description": strings.Repeat("Reads everything\u200b and changes nothing. ", 30)}}),
	}
	b := w.person(maria, withScript)
	b.look("inbox")
	for name, card := range cards {
		b.open(card)
		b.look("card-" + name)
	}
	b.open(cards["update"])
	b.click(rejectOpener)
	b.look("card-rejecting")
}

func theEndedCards(w *world) {
	cards := map[string]string{}
	for i, how := range []string{"applied", "rejected", "withdrawn", "failed", "expired"} {
		cards[how] = w.rename(aiko, strconv.Itoa(i+1), how+" name")
	}
	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE headline LIKE '%expired name%'`)
	w.exec(`UPDATE core.roles SET description = 'edited meanwhile' WHERE id = 4`)
	b := w.person(aiko, withScript)
	for how, deed := range map[string]func(){
		"applied": func() { b.press(confirmButton) },
		"rejected": func() {
			b.click(rejectOpener)
			b.write(rejectReason, "Not before the audit.\nAsk again in June.")
			b.press(rejectButton)
		},
		"withdrawn": func() { b.press(withdrawButton) },
		"failed":    func() { b.press(confirmButton) },
		"expired":   func() {},
	} {
		b.open(cards[how])
		deed()
		b.lacks(confirmButton)
		b.sees("main .outcome", ".")
		b.look("card-" + how)
	}
	b.open("/history")
	b.sees("main", "applied name", "rejected name", "withdrawn name", "failed name", "expired name")
	b.look("history")
}

func theConversations(w *world) {
	b := w.person(rosa, withScript)
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
	card := w.rename(jonas, "8", "examiner")
	b := w.person(sam, withScript)
	b.look("inbox-auditor")
	b.open(card)
	b.look("card-auditor")
	b = w.person(paolo, withScript)
	b.refused(card, 403)
	b.look("not-yours")
}
