package e2e

import "testing"

const (
	messageBox = `main textarea[name="content"]`
	sendButton = `main form:has(textarea[name="content"]) button`
)

func TestWritingToTheAssistant(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		b := w.person(maria, way)
		b.press(`#top a[href="/conversations"]`)
		b.sees("main h1", "Assistant")
		b.write(messageBox, "Rename role 4 to reviewer")
		b.press(sendButton)
		b.sees("main", "Rename role 4 to reviewer", "before: editor", "after: reviewer", "Confirm")
		b.until(`location.pathname.startsWith("/conversations/conv_")`)
		w.has("editor", nameOfRole4)

		b.until("(document.querySelector('" + confirmButton + "').scrollIntoView({ block: \"center\" }), true)") // from under the field for the next message
		b.press(confirmButton)
		b.sees("main", "Applied. You confirmed it.")
		b.until(`location.pathname.startsWith("/conversations/conv_")`)
		w.has("reviewer", nameOfRole4)

		b.write(messageBox, "Which orders are released?")
		b.press(sendButton)
		b.sees("main", "PO-1039", "PO-1040")
		b.seesNot("main", "PO-1042")
		b.write(messageBox, "yes, apply it")
		b.press(sendButton)
		b.until(`document.querySelectorAll("main .messages > li").length === 6`)
		w.has("confirm", decisions)
	})
}

func TestAnExampleIsSentByAPress(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		b := w.person(maria, way)
		b.open("/conversations")
		b.press(`main button[name="content"][value="What can you do?"]`)
		b.sees("main", "What can you do?", "nothing changes until you confirm")
	})
}
