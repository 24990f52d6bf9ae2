// Package graph is the GraphQL surface. It translates and decides nothing: a read is a query, a mutation
// is one call of the gate, of toolcall or of the assistant.
package graph

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// Resolver holds what the resolvers call. Reader is the pool under the login that only reads; Streams, where there
// is one, stands in for it where an event is made for its followers.
type Resolver struct {
	Gate      *gate.Gate
	Tools     *toolcall.Service
	Assistant *assistant.Assistant
	Feed      *feed.Feed
	Reader    *pgxpool.Pool
	Streams   *pgxpool.Pool
	Log       *slog.Logger

	queries *sqlc.Queries
}

// db reads in the workspace of whoever asks.
func (r *Resolver) db(ctx context.Context) sqlc.DBTX {
	if _, made := ctx.Value(makingKey{}).(bool); made && r.Streams != nil {
		return postgres.As(r.Streams, identity.From(ctx).Workspace().ID)
	}
	return postgres.As(r.Reader, identity.From(ctx).Workspace().ID)
}

// person gives the person who asks; the directive has refused tokens before, and this refuses them too.
func person(ctx context.Context) (identity.Person, error) {
	p, ok := identity.From(ctx).(identity.Person)
	if !ok {
		return identity.Person{}, errPersonsOnly
	}
	return p, nil
}
