package feed

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
)

// Subscriber is what a follower is told through. The hub calls it from one goroutine at a time.
type Subscriber interface {
	// Group is comparable: those with equal groups are told the same of an event that they want.
	Group() any
	// Wants tells whether somebody may see an event now, and asked for it.
	Wants(who identity.Actor, item *Item) bool
	// Make makes what everyone in the group is told of some events, a body for each, for one of them.
	Make(ctx context.Context, who identity.Actor, items []*Item) (bodies [][]byte, err error)
	// Tell hands over what was made, in order. It does not wait: ErrSlow where it would have to.
	Tell(told []*Told) error
	// Ready waits until there is room to be told more. It is for catching up.
	Ready(ctx context.Context) error
	// Expired says that what it wanted to begin from is not kept any more. It is told nothing then.
	Expired()
}

// Told is an event as a group is told it.
type Told struct {
	Position Position
	Body     []byte

	lock   sync.Mutex
	frames map[string][]byte
}

// Frame gives what goes over a connection, made once for each key.
func (t *Told) Frame(key string, frame func(*Told) []byte) []byte {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.frames == nil {
		t.frames = map[string][]byte{}
	}
	made, there := t.frames[key]
	if !there {
		made = frame(t)
		t.frames[key] = made
	}
	return made
}

// Follower is a subscription at work.
type Follower struct {
	seat  *Seat
	sub   Subscriber
	room  *room  // nil while it catches up
	group *group // nil until the hub tells it
	at    Position
	place int // among the group's members
	gone  atomic.Bool
}

// Follow tells a subscriber what happens from now on, or after a position: what happened since first, and
// then on, with no gap and no repetition. ErrExpired where that is not kept any more; ErrGone where the seat is
// taken away, which its connection is told by Ended.
func (s *Seat) Follow(ctx context.Context, sub Subscriber, after *Position) (*Follower, error) {
	from, behind, err := s.hub.beginning(ctx, s.holder.key.workspace, after)
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case s.over || h.closed:
		return nil, ErrGone
	case err != nil:
		return nil, err
	}
	f := &Follower{seat: s, sub: sub, at: from}
	s.follow = append(s.follow, f)
	if behind {
		h.running.Go(func() { h.catchUp(h.ctx, f) })
	} else {
		h.join(f)
	}
	return f, nil
}

// beginning gives the position after which a follower begins; behind where something has happened since.
func (h *Hub) beginning(ctx context.Context, workspace id.Workspace, after *Position) (from Position, behind bool, err error) {
	if after == nil {
		from, err = h.Head(ctx, workspace)
		return from, false, err
	}
	if told, there := h.told(workspace); there && told == *after {
		return told, false, nil
	}
	_, head := h.feed.Changed()
	items, err := h.feed.Since(ctx, postgres.As(h.reader, workspace), *after, 1)
	if len(items) > 0 || err != nil {
		return *after, true, err
	}
	return max(*after, head), false, nil
}

// Head gives the position after which everything is still to be told to who follows from now on.
func (h *Hub) Head(ctx context.Context, workspace id.Workspace) (Position, error) {
	if told, there := h.told(workspace); there {
		return told, nil
	}
	return h.feed.Head(ctx, workspace)
}

// Leave ends the subscription; it is told nothing more, unless it is being told just now.
func (f *Follower) Leave() {
	h := f.seat.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if !f.gone.Load() {
		f.seat.follow = without(f.seat.follow, f)
		h.drop(f)
	}
}

// drop is called with the hub's lock.
func (h *Hub) drop(f *Follower) {
	f.gone.Store(true)
	at := f.room
	if at == nil {
		return
	}
	if f.group == nil {
		at.joining = without(at.joining, f)
	} else {
		f.group.remove(f)
		if len(f.group.members) == 0 {
			delete(at.groups, f.group.key)
		}
	}
	h.leftEmpty(at)
}

func (g *group) add(f *Follower) {
	f.group, f.place = g, len(g.members)
	g.members = append(g.members, f)
}

func (g *group) remove(f *Follower) {
	last := g.members[len(g.members)-1]
	g.members[f.place], last.place = last, f.place
	g.members[len(g.members)-1] = nil
	g.members = g.members[:len(g.members)-1]
}
