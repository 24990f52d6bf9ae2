package graph

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// selection is what a subscription asks for. Those who ask for the same share one: an event is made once for
// all of them, not once for each.
type selection struct {
	streams   *streams
	exec      graphql.GraphExecutor
	operation *graphql.OperationContext
	filter    *model.ProposalFilter
	key       [sha256.Size]byte
	cost      int
	used      int
}

type (
	askedKey struct{}
	eventKey struct{}
)

// asked is what a subscription's arguments say, as the executor reads them.
type asked struct {
	heard  bool
	after  *string
	filter *model.ProposalFilter
}

// events is the resolver of the subscription. It is run once when someone subscribes, to hear the arguments,
// and then once for each event: with that event and no other.
func events(ctx context.Context, after *string, filter *model.ProposalFilter) (<-chan *feed.Item, error) {
	if a, there := ctx.Value(askedKey{}).(*asked); there {
		*a = asked{true, after, filter}
		return passed(), nil
	}
	if item, there := ctx.Value(eventKey{}).(*feed.Item); there {
		return passed(item), nil
	}
	return nil, errNoStream
}

func passed(items ...*feed.Item) <-chan *feed.Item {
	events := make(chan *feed.Item, len(items))
	for _, item := range items {
		events <- item
	}
	close(events)
	return events
}

// selectionOf gives the selection that an operation of somebody asks for, which is to be released, and the
// position after which it begins. Or else a list of errors.
func (s *streams) selectionOf(ctx context.Context, who identity.Actor, exec graphql.GraphExecutor, oc *graphql.OperationContext) (*selection, *feed.Position, []byte) {
	ctx = graphql.WithOperationContext(graphql.StartOperationTrace(identity.With(ctx, who)), oc)
	fields := graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{"Subscription"})
	if len(fields) != 1 || fields[0].Name != "proposalEvents" {
		return nil, nil, errorOf(ctx, exec, errOneStream)
	}
	a := &asked{}
	next, within := exec.DispatchOperation(context.WithValue(ctx, askedKey{}, a), oc)
	if response := next(within); response != nil && len(response.Errors) > 0 {
		list, err := json.Marshal(response.Errors)
		if err == nil {
			return nil, nil, list
		}
	}
	if !a.heard {
		return nil, nil, errorOf(ctx, exec, errNoStream)
	}
	after, err := positionOf(a.after)
	if err != nil {
		return nil, nil, errorOf(ctx, exec, err)
	}
	cost, _ := oc.Stats.GetExtension(costStat).(int)
	shared, tooMuch := s.shared(&selection{streams: s, exec: exec, operation: oc, filter: a.filter, key: keyOf(who, oc), cost: cost}, identity.CredentialOf(who))
	if tooMuch != nil {
		return nil, nil, errorsOf(ctx, exec, tooMuch)
	}
	return shared, after, nil
}

func positionOf(cursor *string) (*feed.Position, error) {
	if cursor == nil {
		return nil, nil
	}
	at, err := feed.ParseCursor(*cursor)
	return &at, err
}

// keyOf is equal for those who are told the same of an event: by document and variables, without where each
// began, and by credential where something depends on who asks.
func keyOf(who identity.Actor, oc *graphql.OperationContext) [sha256.Size]byte {
	variables := maps.Clone(oc.Variables)
	delete(variables, beginning(oc))
	b, err := json.Marshal([]any{oc.OperationName, oc.RawQuery, variables})
	if err != nil || personal(oc.Operation.SelectionSet, map[string]bool{}) {
		b = fmt.Append(b, identity.CredentialOf(who))
	}
	return sha256.Sum256(b)
}

// beginning names the variable that says where a subscription begins, and nothing else; empty for none.
func beginning(oc *graphql.OperationContext) string {
	field := graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{"Subscription"})[0]
	after := field.Arguments.ForName("after")
	if after == nil || after.Value.Kind != ast.Variable {
		return ""
	}
	uses := regexp.MustCompile(`\$\s*`+regexp.QuoteMeta(after.Value.Raw)+`\b`).FindAllString(oc.RawQuery, 3)
	if len(uses) != 2 || len(oc.Doc.Operations) != 1 { // its declaration and its use
		return ""
	}
	return after.Value.Raw
}

// The fields that say the same to everyone who may see the proposal; see TestWhatIsPersonal. What is not
// here depends on who asks, and is made for each.
var common = map[string]string{
	"Subscription":  "proposalEvents",
	"ProposalEvent": "cursor type at proposalId status actor proposal",
	"Proposal": "id number status tool module entity operation actionKind headline assistantNote summary fingerprint warnings notices actingUser channel " +
		"clientName requiresApproval approval appliedPreviewOnly decisions outcome failure rehearsal revertConflicts createdAt expiresAt resolvedAt",
	"Node":                     "id",
	"User":                     "id name",
	"ProposalWarning":          "code message",
	"ChangeSummary":            "record changes matchedRecords where sampleIds records",
	"RecordRef":                "entity id label url",
	"RecordChange":             "record operation changes",
	"FieldChange":              "field label type from to current otherRecords applied",
	"ValueCount":               "value records",
	"FieldValue":               "json isNull masked text truncated warnings",
	"Rehearsal":                "status sideEffects alsoSets",
	"SideEffect":               "table operation rows",
	"Approval":                 "needed given by expiresAt",
	"Decision":                 "kind by at reason fingerprint",
	"Outcome":                  "recordId affectedRecords",
	"Failure":                  "code message field records",
	"RecordChangeConnection":   "edges pageInfo",
	"RecordChangeEdge":         "cursor node",
	"RevertConflictConnection": "edges pageInfo",
	"RevertConflictEdge":       "cursor node",
	"RevertConflict":           "record reason taken takes field label type before applied now",
	"PageInfo":                 "hasNextPage hasPreviousPage startCursor endCursor",
}

// personal tells whether anything selected depends on who asks.
func personal(set ast.SelectionSet, within map[string]bool) bool {
	for _, one := range set {
		switch s := one.(type) {
		case *ast.Field:
			if !shownToAll(s) || personal(s.SelectionSet, within) {
				return true
			}
		case *ast.InlineFragment:
			if personal(s.SelectionSet, within) {
				return true
			}
		case *ast.FragmentSpread:
			if !within[s.Name] {
				within[s.Name] = true
				if s.Definition == nil || personal(s.Definition.SelectionSet, within) {
					return true
				}
			}
		}
	}
	return false
}

func shownToAll(f *ast.Field) bool {
	if f.Name == "__typename" {
		return true
	}
	if f.ObjectDefinition == nil {
		return false
	}
	for name := range strings.FieldsSeq(common[f.ObjectDefinition.Name]) {
		if name == f.Name {
			return true
		}
	}
	return false
}
