package gate

import (
	"context"
	"sync"

	"github.com/countersign/countersign/internal/id"
)

// atOnce is how many decisions on one proposal hold a connection at the same time. The others wait for
// them and not for its row, so that one proposal in demand leaves connections for all the rest.
const atOnce = 4

// turnstile lets few through at each proposal.
type turnstile struct {
	lock sync.Mutex
	at   map[id.Proposal]*gateway
}

type gateway struct {
	places  chan struct{}
	waiting int
}

// enter waits for a place; leave has to be called when it gave no error.
func (t *turnstile) enter(ctx context.Context, which id.Proposal) (leave func(), err error) {
	g := t.queue(which)
	select {
	case g.places <- struct{}{}:
		return func() { <-g.places; t.gone(which, g) }, nil
	case <-ctx.Done():
		t.gone(which, g)
		return nil, ctx.Err()
	}
}

func (t *turnstile) queue(which id.Proposal) *gateway {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.at == nil {
		t.at = map[id.Proposal]*gateway{}
	}
	g := t.at[which]
	if g == nil {
		g = &gateway{places: make(chan struct{}, atOnce)}
		t.at[which] = g
	}
	g.waiting++
	return g
}

func (t *turnstile) gone(which id.Proposal, g *gateway) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if g.waiting--; g.waiting == 0 {
		delete(t.at, which)
	}
}
