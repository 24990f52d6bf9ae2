package e2e

import (
	"strings"
	"testing"
)

// The explorer asks as whoever is signed in to the console, or as whom the header names that one types.
func TestGraphiQL(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.person(maria, withScript)
	b.open("/graphiql")
	run := func(query, headers string) {
		t.Helper()
		b.until(`document.querySelector(".graphiql-query-editor .CodeMirror")`)
		ask[any](b, `document.querySelector(".graphiql-query-editor .CodeMirror").CodeMirror.setValue(`+quoted(query)+`), null`)
		if headers != "" {
			b.click(`.graphiql-editor-tools button:nth-of-type(2)`)
			b.until(`document.querySelectorAll(".graphiql-editor-tool .CodeMirror").length === 2`)
			ask[any](b, `document.querySelectorAll(".graphiql-editor-tool .CodeMirror")[1].CodeMirror.setValue(`+quoted(headers)+`), null`)
		}
		b.click(".graphiql-execute-button")
	}
	b.sees(".graphiql-logo", "Countersign")
	run(`{ viewer { user { name } } }`, "")
	b.sees(".result-window", `"name": "Maria Rossi"`)
	b.pictures("graphiql", func(string) {})

	run(`{ viewer { user { name } canDecide } }`, `{"Authorization": "Bearer `+w.db.APIToken(t, rosa, "read")+`"}`)
	b.sees(".result-window", `"name": "Rosa Marino"`, `"canDecide": false`)

	if kept := ask[string](b, `JSON.stringify([{...localStorage}, {...sessionStorage}])`); strings.Contains(kept, "graphiql") || strings.Contains(kept, "csa_") {
		t.Errorf("the browser keeps %s", kept)
	}
	if out := ask[[]string](b, `[...document.links].map(a => a.href).filter(href => !href.startsWith(location.origin + "/"))`); len(out) > 0 {
		t.Errorf("it links to %v", out)
	}
}
