package actions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/actions"
)

const (
	document = "../../docs/tools.md"
	written  = "<!-- The actions below are written by UPDATE_DOCS=1 go test ./internal/actions -run TestTheDocument -->\n"
)

// TestTheDocument compares what docs/tools.md says of the actions with the actions.
func TestTheDocument(t *testing.T) {
	kept, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, below, found := strings.Cut(string(kept), written)
	if !found {
		t.Fatalf("%s does not say where its actions begin", document)
	}
	var sections strings.Builder
	for _, a := range actions.All() {
		sections.WriteString("\n" + section(a))
	}
	if below == sections.String() {
		return
	}
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Fatalf("%s is not what the actions are: UPDATE_DOCS=1 go test ./internal/actions -run TestTheDocument", document)
	}
	if err := os.WriteFile(document, []byte(head+written+sections.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func section(a actions.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s, tool `%s`, about `%s`. %s\n\n| input | type | | |\n|---|---|---|---|\n", a.Name, a.Title, a.ToolName(), a.Entity, a.Description)
	rows(&b, a.Inputs(), "")
	b.WriteString("\nIts rules:\n\n")
	for _, rule := range a.Rules {
		fmt.Fprintf(&b, "- %s\n", rule)
	}
	return b.String()
}

func rows(b *strings.Builder, inputs []actions.Input, path string) {
	for _, i := range inputs {
		required, kind := "", i.Type
		if i.Required {
			required = "required"
		}
		if i.Limits != "" {
			kind += ", " + i.Limits
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", path, i.Name, kind, required, i.Says)
		rows(b, i.Inputs, path+i.Name+".")
	}
}
