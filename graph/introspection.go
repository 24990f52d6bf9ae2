package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"

	"github.com/countersign/countersign/internal/identity"
)

// deciding are the mutations that a token does not even see.
var deciding = []string{"confirmProposal", "rejectProposal", "approveProposal", "disapproveProposal", "extendProposal", "reviseProposal"}

// hideFromTokens leaves the deciding mutations out of what introspection tells an API token.
func hideFromTokens(ctx context.Context, next graphql.Resolver) (any, error) {
	result, err := next(ctx)
	fields, ok := result.([]introspection.Field)
	if !ok || identity.From(ctx).Token().IsZero() {
		return result, err
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f introspection.Field) bool { return slices.Contains(deciding, f.Name) }), err
}
