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
	maxQuery      = 64 << 10 // documents are kept parsed
	maxTokens     = 4000
	maxDepth      = 15
	maxAliases    = 60
	maxMutations  = 10
	maxFields     = 4000
	maxComplexity = 20000
)

// costStat is where an operation's complexity is found later.
const costStat = "cost"

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
	switch s := (sizes{}).of(op.SelectionSet); {
	case s.depth > maxDepth:
		return exceeded("depth", maxDepth, s.depth)
	case s.aliases > maxAliases:
		return exceeded("aliases", maxAliases, s.aliases)
	case op.Operation == ast.Mutation && s.roots > maxMutations:
		return exceeded("mutations in one request", maxMutations, s.roots)
	case s.fields > maxFields:
		return exceeded("fields", maxFields, s.fields)
	}
	cost := complexity.Calculate(ctx, l.schema, op, oc.Variables)
	if cost > maxComplexity {
		return exceeded("complexity", maxComplexity, cost)
	}
	oc.Stats.SetExtension(costStat, cost)
	return nil
}

func exceeded(what string, limit, value int) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf("Too much for one request: %s is at most %d, and this has %d.", what, limit, value),
		Extensions: map[string]any{"code": model.ErrorCodeLimitExceeded, "limit": what, "max": limit, "value": value},
	}
}

// size is how large a selection is with its fragments spread out. Introspection has a shape of its own and
// is not counted.
type size struct{ depth, aliases, fields, roots int }

// most is where counting ends: fragments that spread others twice double with each.
const most = 1 << 30

func (s size) and(other size) size {
	return size{depth: max(s.depth, other.depth), aliases: min(most, s.aliases+other.aliases), fields: min(most, s.fields+other.fields), roots: min(most, s.roots+other.roots)}
}

// sizes are those of the fragments met so far, each measured once however often it is spread.
type sizes map[string]size

func (m sizes) of(set ast.SelectionSet) (all size) {
	for _, one := range set {
		switch s := one.(type) {
		case *ast.Field:
			all = all.and(m.field(s))
		case *ast.InlineFragment:
			all = all.and(m.of(s.SelectionSet))
		case *ast.FragmentSpread:
			all = all.and(m.fragment(s))
		}
	}
	return all
}

func (m sizes) field(f *ast.Field) size {
	if f.Name == "__schema" || f.Name == "__type" {
		return size{}
	}
	s := m.of(f.SelectionSet)
	s.depth, s.fields, s.roots = s.depth+1, s.fields+1, 1
	if f.Alias != f.Name {
		s.aliases++
	}
	return s
}

func (m sizes) fragment(f *ast.FragmentSpread) size {
	known, met := m[f.Name]
	if !met && f.Definition != nil {
		m[f.Name] = size{} // one that spreads itself was refused before
		known = m.of(f.Definition.SelectionSet)
		m[f.Name] = known
	}
	return known
}
