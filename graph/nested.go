package graph

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// span is a part of a list, as the arguments of a page ask for it: so many rows from a place on.
type span struct {
	forward bool
	id      uuid.UUID
	number  int64
	limit   int32
}

// nested reads one part of the lists of all conversations that stand in a list together, in one query.
type nested[V any] struct {
	fetch   func(context.Context, span, []id.Conversation) ([]V, error)
	owner   func(V) id.Conversation
	lock    sync.Mutex
	loaders map[span]*loader[id.Conversation, []V]
	listed  map[id.Conversation][]id.Conversation
}

func newNested[V any](owner func(V) id.Conversation, fetch func(context.Context, span, []id.Conversation) ([]V, error)) *nested[V] {
	return &nested[V]{fetch: fetch, owner: owner, loaders: map[span]*loader[id.Conversation, []V]{}, listed: map[id.Conversation][]id.Conversation{}}
}

// list says which conversations stand in a list together.
func (n *nested[V]) list(conversations []*sqlc.Conversation) {
	n.lock.Lock()
	defer n.lock.Unlock()
	all := keysOf(conversations, func(c *sqlc.Conversation) id.Conversation { return c.ID })
	for _, one := range all {
		n.listed[one] = all
	}
}

// Load gives a conversation's part, in the query's order.
func (n *nested[V]) Load(ctx context.Context, part span, of id.Conversation) ([]V, error) {
	n.lock.Lock()
	l := n.loaders[part]
	if l == nil {
		l = grouped(func(ctx context.Context, in []id.Conversation) ([]V, error) { return n.fetch(ctx, part, in) }, func(v V) (id.Conversation, V) { return n.owner(v), v })
		n.loaders[part] = l
	}
	l.expect(n.listed[of]...)
	n.lock.Unlock()
	return l.Load(ctx, of)
}
