package graph

import (
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/countersign/countersign/graph/generated"
)

// depends are the fields below an event that say something else to someone else. What is made once for all
// who may see an event may hold none of them.
var depends = []string{"User.email", "Proposal.conversation", "Proposal.supersededBy", "Proposal.revisionOf", "Proposal.revertOf", "Proposal.viewerActions", "Outcome.record"}

// Every field that can be selected below an event is known to depend on who asks, or not to. A new field has
// to be looked at: see common.
func TestWhatIsPersonal(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	seen, unknown := map[string]bool{}, []string{}
	var look func(of *ast.Definition)
	look = func(of *ast.Definition) {
		if of == nil || of.Kind != ast.Object || seen[of.Name] {
			return
		}
		seen[of.Name] = true
		for _, f := range of.Fields {
			path := of.Name + "." + f.Name
			switch {
			case strings.HasPrefix(f.Name, "__"):
			case shownToAll(&ast.Field{Name: f.Name, ObjectDefinition: of}):
				look(schema.Types[f.Type.Name()])
			case !strings.Contains(" "+strings.Join(depends, " ")+" ", " "+path+" "):
				unknown = append(unknown, path)
			}
		}
	}
	look(schema.Subscription)
	if len(unknown) > 0 {
		t.Errorf("%v: does it say the same to everyone who may see the proposal? Then it belongs into common, and else into depends", unknown)
	}
	for name, fields := range common {
		for f := range strings.FieldsSeq(fields) {
			if of := schema.Types[name]; of == nil || of.Fields.ForName(f) == nil {
				t.Errorf("common: there is no %s.%s", name, f)
			}
		}
	}
}

func operationIn(t *testing.T, query string, variables map[string]any) *graphql.OperationContext {
	t.Helper()
	doc, errs := gqlparser.LoadQueryWithRules(generated.NewExecutableSchema(generated.Config{}).Schema(), query, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	return &graphql.OperationContext{RawQuery: query, Doc: doc, Operation: doc.Operations[0], Variables: variables}
}

func TestWhoIsToldTheSame(t *testing.T) {
	for query, want := range map[string]bool{
		`subscription { proposalEvents { cursor proposal { headline actingUser { name } } } }`:                                          false,
		`subscription { proposalEvents { __typename proposal { viewerActions } } }`:                                                     true,
		`subscription { proposalEvents { actor { email } } }`:                                                                           true,
		`subscription { proposalEvents { ...e } } fragment e on ProposalEvent { proposal { ... on Node { id } } }`:                      false,
		`subscription { proposalEvents { ...e } } fragment e on ProposalEvent { proposal { ... on Proposal { conversation { id } } } }`: true,
	} {
		if got := personal(operationIn(t, query, nil).Operation.SelectionSet, map[string]bool{}); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	for query, want := range map[string]string{
		`subscription($from: String) { proposalEvents(after: $from) { cursor } }`:                                                        "from",
		`subscription($from: String) { proposalEvents { cursor proposal { summary { records(after: $from) { __typename } } } } }`:        "",
		`subscription($from: String) { proposalEvents(after: $from) { proposal { summary { records(after: $from) { __typename } } } } }`: "",
		`subscription { proposalEvents(after: "x") { cursor } }`:                                                                         "",
	} {
		if got := beginning(operationIn(t, query, map[string]any{"from": "x"})); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
