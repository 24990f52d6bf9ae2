package graph

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// span is a part of a list, as the arguments of a page ask for it: so many rows from a place on.
type span struct {
	forward bool
	id      uuid.UUID
	number  int64
	limit   int32
}

// nested reads one part of the lists of all owners that stand in a list together, in one query.
type nested[K interface {
	comparable
	IsZero() bool
}, V any] struct {
	fetch   func(context.Context, span, []K) ([]V, error)
	owner   func(V) K
	lock    sync.Mutex
	loaders map[span]*loader[K, []V]
	listed  map[K][]K
}

func newNested[K interface {
	comparable
	IsZero() bool
}, V any](owner func(V) K, fetch func(context.Context, span, []K) ([]V, error)) *nested[K, V] {
	return &nested[K, V]{fetch: fetch, owner: owner, loaders: map[span]*loader[K, []V]{}, listed: map[K][]K{}}
}

// list says which owners stand in a list together.
func (n *nested[K, V]) list(owners []K) {
	n.lock.Lock()
	defer n.lock.Unlock()
	for _, one := range owners {
		n.listed[one] = owners
	}
}

// Load gives an owner's part, in the query's order.
func (n *nested[K, V]) Load(ctx context.Context, part span, of K) ([]V, error) {
	n.lock.Lock()
	l := n.loaders[part]
	if l == nil {
		l = grouped(func(ctx context.Context, in []K) ([]V, error) { return n.fetch(ctx, part, in) }, func(v V) (K, V) { return n.owner(v), v })
		n.loaders[part] = l
	}
	l.expect(n.listed[of]...)
	n.lock.Unlock()
	return l.Load(ctx, of)
}
