package e2e

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
)

// What the other tests rely on: a browser that has something against a page is heard.
func TestComplaintsAreHeard(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.stranger(withScript)
	b.open("/sign-in")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer elsewhere.Close()
	for _, one := range []struct{ deed, heard string }{
		{`document.body.append(Object.assign(document.createElement("script"), { text: "window.hacked = 1" }))`, "Content Security Policy"},
		{`document.body.setAttribute("style", "color: red")`, "Content Security Policy"},
		{`fetch("http://127.0.0.1:1/").catch(() => {})`, "Content Security Policy"},
		{`setTimeout(() => { throw Error("x") })`, "exception: Uncaught"},
		{`console.error("x")`, "console.error"},
		{`alert("x")`, "a dialog opened"},
		{`fetch("/nowhere")`, "status of 404"},
		{`location.assign(` + quoted(elsewhere.URL) + `)`, "asked somebody else"},
	} {
		b.do(chromedp.Evaluate[chromedp.Void]("{" + one.deed + "}"))
		b.against.await(t, one.heard)
	}
}
