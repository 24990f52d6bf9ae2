package graph

import (
	"context"
	"sync"
)

// loader reads what many resolvers ask for one by one, in one query a group of keys. Groups are told
// beforehand: whoever reads a page says which keys its rows will be asked for. Waiting a while for keys to
// gather instead would make as many queries as the machine is busy.
type loader[K comparable, V any] struct {
	fetch  func(context.Context, []K) (map[K]V, error)
	lock   sync.Mutex
	groups map[K]*group[K, V]
}

type group[K comparable, V any] struct {
	keys  []K
	once  sync.Once
	found map[K]V
	err   error
}

func newLoader[K comparable, V any](fetch func(context.Context, []K) (map[K]V, error)) *loader[K, V] {
	return &loader[K, V]{fetch: fetch, groups: map[K]*group[K, V]{}}
}

// expect makes a group of those keys that are in none. Nothing is read until one of them is asked for.
func (l *loader[K, V]) expect(keys ...K) {
	l.lock.Lock()
	defer l.lock.Unlock()
	g := &group[K, V]{}
	for _, key := range keys {
		if l.groups[key] == nil {
			l.groups[key] = g
			g.keys = append(g.keys, key)
		}
	}
}

// Load gives what was read for a key; a key that nobody expected is a group of its own.
func (l *loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	l.expect(key)
	l.lock.Lock()
	g := l.groups[key]
	l.lock.Unlock()
	g.once.Do(func() { g.found, g.err = l.fetch(ctx, g.keys) })
	return g.found[key], g.err
}
