package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the other tests rely on: a browser that has something against a page is heard.
func TestComplaintsAreHeard(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.stranger(withScript)
	b.open("/sign-in")
	heard := func(want, deed string) {
		t.Helper()
		ask[any](b, deed)
		ask[any](b, `new Promise(done => setTimeout(() => done(null), 50))`)
		all := strings.Join(b.against.all(), "\n")
		if !strings.Contains(all, want) {
			t.Errorf("%s went unheard:\n%s", deed, all)
		}
		b.against.forget()
	}
	heard("Content Security Policy", `document.body.append(Object.assign(document.createElement("script"), { text: "window.hacked = 1" })), null`)
	heard("Content Security Policy", `document.body.setAttribute("style", "color: red"), null`)
	heard("Content Security Policy", `fetch("http://127.0.0.1:1/").then(() => null, () => null)`)
	heard("exception", `setTimeout(() => { throw Error("x") }), null`)
	heard("console.error", `console.error("x"), null`)
	heard("a dialog opened", `alert("x"), null`)
	heard("status of 404", `fetch("/nowhere").then(() => null)`)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	heard("asked somebody else", `location.assign(`+quoted(elsewhere.URL)+`)`)
}
