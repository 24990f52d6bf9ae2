package feed

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/identity"
)

// share is a group while it is told a page: what was made of each event, nil for what nobody in it wants, or why
// it could not be.
type share struct {
	group   *group
	members []*Follower
	items   []Item
	made    []*Told
	failed  error
	aside   bool // it goes on by itself, or not at all
}

// errLate says that the others would have to wait for long.
var errLate = errors.New("a group is slow")

func (h *Hub) sharesOf(at *room, items []Item) []*share {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*share, 0, len(at.groups))
	for _, g := range at.groups {
		list = append(list, &share{group: g, members: slices.Clone(g.members), items: items, made: make([]*Told, len(items))})
	}
	return list
}

// makeAll makes what members may see and want and was not made yet; false where that is nothing.
func (h *Hub) makeAll(ctx context.Context, at *room, shares []*share) (some bool) {
	places, patience := h.make, h.limits.Slow
	if at.heavy {
		places, patience = h.slowly, answerWithin
	}
	done, begun := make(chan struct{}, len(shares)), 0
	for _, s := range shares {
		asked, by := s.asked()
		if by == nil || s.failed != nil {
			continue
		}
		some = true
		if take(ctx, places) != nil {
			s.failed = ctx.Err()
			continue
		}
		begun++
		go func() {
			defer func() { <-places; done <- struct{}{} }()
			s.make(ctx, patience, asked, by)
		}()
	}
	for range begun {
		<-done
	}
	return some
}

// asked gives which events are wanted and not made, and one of those who want some.
func (s *share) asked() (which []int, by *Follower) {
	for i := range s.items {
		if s.made[i] != nil {
			continue
		}
		if f := wanting(s.members, &s.items[i]); f != nil {
			which, by = append(which, i), f
		}
	}
	return which, by
}

// make does it for so long. It does not wait for one that does not end when it is told to.
func (s *share) make(ctx context.Context, patience time.Duration, which []int, by *Follower) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	items, who := make([]*Item, len(which)), by.seat.Who()
	for i, at := range which {
		items[i] = &s.items[at]
	}
	type answer struct {
		bodies [][]byte
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		bodies, err := persist(within, by.sub, who, items)
		answered <- answer{bodies, err}
	}()
	made := answer{}
	select {
	case made = <-answered:
	case <-within.Done():
		made.err = within.Err()
	}
	if made.err != nil && within.Err() != nil && ctx.Err() == nil {
		made.err = errLate
	}
	if s.failed = made.err; s.failed != nil {
		return
	}
	for i, at := range which {
		s.made[at] = &Told{Position: s.items[at].Position, Body: made.bodies[i]}
	}
}

// persist tries again where the database does not answer.
func persist(ctx context.Context, sub Subscriber, who identity.Actor, items []*Item) ([][]byte, error) {
	bodies, err := sub.Make(ctx, who, items)
	for _, pause := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		if err == nil {
			break
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		bodies, err = sub.Make(ctx, who, items)
	}
	return bodies, err
}

func wanting(members []*Follower, item *Item) *Follower {
	for _, f := range members {
		if f.wants(item) {
			return f
		}
	}
	return nil
}

// wants is for whoever tells the follower just now.
func (f *Follower) wants(item *Item) bool {
	return item.Position > f.at && !f.gone.Load() && f.sub.Wants(f.seat.Who(), item)
}

// unread ends those who would have been told what could not be made; they resume where they were.
func (h *Hub) unread(s *share) {
	h.log.Warn("events could not be made for their followers", "error", s.failed)
	for _, f := range s.members {
		if wantsAny(f, s.items) {
			resume := f.at
			f.seat.end(ErrUnread, &resume)
		}
	}
}

func wantsAny(f *Follower, items []Item) bool {
	return slices.ContainsFunc(items, func(i Item) bool { return f.wants(&i) })
}
