package e2e

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/demo"
)

// bothWays tells a story with JavaScript and without.
func bothWays(t *testing.T, story func(w *world, way way)) {
	for name, way := range map[string]way{"with JavaScript": withScript, "without": withoutScript} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(start(t), way)
		})
	}
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		b := w.stranger(way)
		b.open("/history")
		b.at("/sign-in")
		b.signIn(maria, "not it", 401)
		b.sees("[role=alert]", "password")
		b.signIn(maria, demo.Password, 200)
		b.at("/history")
		b.sees("#top", "Maria Rossi", "Inbox")
	})
}

// After signing out, nothing of what was on screen can be brought back.
func TestSigningOut(t *testing.T) {
	t.Parallel()
	bothWays(t, func(w *world, way way) {
		card := w.rename(maria, "4", "reviewer")
		b := w.person(maria, way)
		other := b.another()
		other.open("/history")
		b.press(`main a[href="` + card + `"]`)
		b.at(card)
		b.click(`#top details > summary`)
		b.press(`form[action="/sign-out"] button`)
		b.at("/sign-in")
		for range 2 {
			b.back()
			b.at("/sign-in")
			b.seesNot("html", "editor", "reviewer", "Maria")
		}
		if kept := ask[string](b, `JSON.stringify([{...localStorage}, {...sessionStorage}])`); strings.Contains(kept, "editor") || strings.Contains(kept, "Maria") {
			w.t.Errorf("the browser keeps %s", kept)
		}
		if way == withoutScript {
			other.press(`#top a[href="/inbox"]:not(.brand)`)
		}
		other.at("/sign-in")
	})
}
