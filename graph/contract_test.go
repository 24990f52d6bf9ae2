package graph_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// later is what the contract has and the schema does not have yet: it is built with its own work, and
// until then it is not there, rather than there and empty.
var later = []string{
	"Subscription.conversationActivity",
	"ConversationActivity", "MessageDelta", "ProposalMade", "MessageCompleted", "TurnFailed",
}

func schemaOf(t *testing.T, pattern string) *ast.Schema {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema at %s: %v", pattern, err)
	}
	var sources []*ast.Source
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, &ast.Source{Name: file, Input: string(b)})
	}
	schema, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestTheSchemaKeepsTheContract: nothing of the contract is renamed, removed or re-typed. Descriptions,
// fields, types and arguments may be added.
func TestTheSchemaKeepsTheContract(t *testing.T) {
	contract, ours := schemaOf(t, "testdata/contract.graphqls"), schemaOf(t, "*.graphqls")
	for name, want := range contract.Types {
		got := ours.Types[name]
		switch {
		case want.BuiltIn:
		case got == nil:
			if !slices.Contains(later, name) {
				t.Errorf("%s %s is in the contract and not in the schema", want.Kind, name)
			}
		case slices.Contains(later, name):
			t.Errorf("%s is there now: take it off the list of what comes later", name)
		default:
			sameType(t, want, got)
		}
	}
}

func sameType(t *testing.T, want, got *ast.Definition) {
	t.Helper()
	if want.Kind != got.Kind {
		t.Errorf("%s is a %s, in the contract a %s", want.Name, got.Kind, want.Kind)
	}
	for _, f := range want.Fields {
		sameField(t, want.Name, f, got.Fields.ForName(f.Name))
	}
	for _, v := range want.EnumValues {
		if got.EnumValues.ForName(v.Name) == nil {
			t.Errorf("%s has lost %s", want.Name, v.Name)
		}
	}
	for _, list := range [][2][]string{{want.Interfaces, got.Interfaces}, {want.Types, got.Types}} {
		for _, one := range list[0] {
			if !slices.Contains(list[1], one) && !slices.Contains(later, one) {
				t.Errorf("%s is no %s any more", want.Name, one)
			}
		}
	}
}

func sameField(t *testing.T, owner string, want, got *ast.FieldDefinition) {
	t.Helper()
	path := owner + "." + want.Name
	if got == nil {
		if len(path) > 2 && path[:2] != "__" && !slices.Contains(later, path) {
			t.Errorf("%s is in the contract and not in the schema", path)
		}
		return
	}
	if slices.Contains(later, path) {
		t.Errorf("%s is there now: take it off the list of what comes later", path)
	}
	if want.Type.String() != got.Type.String() || want.DefaultValue.String() != got.DefaultValue.String() {
		t.Errorf("%s is %s = %s, in the contract %s = %s", path, got.Type, got.DefaultValue, want.Type, want.DefaultValue)
	}
	for _, a := range want.Arguments {
		mine := got.Arguments.ForName(a.Name)
		if mine == nil || mine.Type.String() != a.Type.String() || mine.DefaultValue.String() != a.DefaultValue.String() {
			t.Errorf("%s(%s:) is not as in the contract: %s = %s", path, a.Name, a.Type, a.DefaultValue)
		}
	}
}

// Every deciding mutation is for persons only, by its directive.
func TestDecidingIsForPersons(t *testing.T) {
	open := []string{"createConversation", "sendMessage", "proposeChange", "withdrawProposal", "proposeRevert"}
	for _, f := range schemaOf(t, "*.graphqls").Mutation.Fields {
		guarded := f.Directives.ForName("personsOnly") != nil
		if guarded == slices.Contains(open, f.Name) {
			t.Errorf("%s: @personsOnly is %v", f.Name, guarded)
		}
	}
}
