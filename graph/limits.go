package graph

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/complexity"
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/model"
)

// The limits of one request. What is over one is refused whole, before anything runs.
const (
	maxBody       = 1 << 20
	maxTokens     = 4000
	maxDepth      = 15
	maxAliases    = 60
	maxMutations  = 10
	maxComplexity = 20000
)

// limits refuses operations that are too deep, too wide or too much, naming the limit and the value.
type limits struct{ schema graphql.ExecutableSchema }

func (l *limits) ExtensionName() string { return "Limits" }

func (l *limits) Validate(schema graphql.ExecutableSchema) error {
	l.schema = schema
	return nil
}

func (l *limits) MutateOperationContext(ctx context.Context, oc *graphql.OperationContext) *gqlerror.Error {
	op := oc.Doc.Operations.ForName(oc.OperationName)
	if op == nil {
		return nil
	}
	depth, aliases := measure(op.SelectionSet, 1, map[string]bool{})
	switch {
	case depth > maxDepth:
		return exceeded("depth", maxDepth, depth)
	case aliases > maxAliases:
		return exceeded("aliases", maxAliases, aliases)
	}
	if op.Operation == ast.Mutation {
		if fields := rootFields(op.SelectionSet); fields > maxMutations {
			return exceeded("mutations in one request", maxMutations, fields)
		}
	}
	if cost := complexity.Calculate(ctx, l.schema, op, oc.Variables); cost > maxComplexity {
		return exceeded("complexity", maxComplexity, cost)
	}
	return nil
}

func exceeded(what string, limit, value int) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf("Too much for one request: %s is at most %d, and this has %d.", what, limit, value),
		Extensions: map[string]any{"code": model.ErrorCodeLimitExceeded, "limit": what, "max": limit, "value": value},
	}
}

// measure gives how deep a selection goes and how many aliases it has. Introspection has a shape of its
// own and is not counted.
func measure(set ast.SelectionSet, at int, within map[string]bool) (depth, aliases int) {
	for _, one := range set {
		d, a := 0, 0
		switch s := one.(type) {
		case *ast.Field:
			if s.Name == "__schema" || s.Name == "__type" {
				continue
			}
			d, a = measure(s.SelectionSet, at+1, within)
			d = max(d, at)
			if s.Alias != s.Name {
				a++
			}
		case *ast.InlineFragment:
			d, a = measure(s.SelectionSet, at, within)
		case *ast.FragmentSpread:
			d, a = spread(s, at, within)
		}
		depth, aliases = max(depth, d), aliases+a
	}
	return depth, aliases
}

func spread(s *ast.FragmentSpread, at int, within map[string]bool) (depth, aliases int) {
	if s.Definition == nil || within[s.Name] {
		return at, 0
	}
	within[s.Name] = true
	defer delete(within, s.Name)
	return measure(s.Definition.SelectionSet, at, within)
}

func rootFields(set ast.SelectionSet) int {
	n := 0
	for _, one := range set {
		switch s := one.(type) {
		case *ast.Field:
			n++
		case *ast.InlineFragment:
			n += rootFields(s.SelectionSet)
		case *ast.FragmentSpread:
			if s.Definition != nil {
				n += rootFields(s.Definition.SelectionSet)
			}
		}
	}
	return n
}
