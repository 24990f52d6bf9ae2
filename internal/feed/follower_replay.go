package feed

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
)

// portion is about how much a follower is told in one go. One that catches up is waited for after each: no more
// is made for it before it has read, so that it holds little.
const portion = 64 << 10

// catchUp tells a follower what happened before, as fast as it reads, and lets the hub tell it the rest.
func (h *Hub) catchUp(ctx context.Context, f *Follower) {
	for most := 4; !f.gone.Load(); {
		near, err := h.replayPage(ctx, f, &most)
		switch {
		case errors.Is(err, ErrExpired):
			f.sub.Expired()
			f.Leave()
			return
		case errors.Is(err, identity.ErrUnauthenticated) || errors.Is(err, identity.ErrNoWorkspace) || errors.Is(err, ErrScope):
			f.seat.end(err, nil)
			return
		case ctx.Err() != nil: // the hub leaves, and says so
			return
		case err != nil:
			if !errors.Is(err, ErrGone) {
				h.log.WarnContext(ctx, "a follower could not catch up", "error", err)
			}
			f.seat.end(ErrUnread, &f.at)
			return
		case near:
			h.mu.Lock()
			if !f.gone.Load() {
				h.join(f)
			}
			h.mu.Unlock()
			return
		}
	}
}

// replayPage tells a follower a page of what happened; near where that was all. most is how many events are made
// in one go, which it fits to their size.
func (h *Hub) replayPage(ctx context.Context, f *Follower, most *int) (near bool, err error) {
	wanted, to, near, err := h.wantedPage(ctx, f)
	for err == nil && len(wanted) > 0 {
		some := wanted[:min(*most, len(wanted))]
		if err = h.replaySome(ctx, f, some, most); err == nil {
			wanted = wanted[len(some):]
		}
	}
	if err == nil {
		f.at = to
	}
	return near, err
}

// wantedPage reads the next events, and gives those that the follower may see and asked for, and up to where they
// were read.
func (h *Hub) wantedPage(ctx context.Context, f *Follower) (wanted []*Item, to Position, near bool, err error) {
	if err := take(ctx, h.replay); err != nil {
		return nil, f.at, false, err
	}
	defer func() { <-h.replay }()
	_, head := h.feed.Changed()
	items, err := h.feed.Since(ctx, postgres.As(h.reader, f.seat.holder.key.workspace), f.at, page)
	if err != nil || len(items) == 0 {
		return nil, max(f.at, head), true, err
	}
	who, err := h.standingOf(ctx, f.seat.Who())
	if err != nil {
		return nil, f.at, false, err
	}
	for i := range items {
		if f.sub.Wants(who, &items[i]) {
			wanted = append(wanted, &items[i])
		}
	}
	if to = items[len(items)-1].Position; len(items) < page {
		return wanted, max(to, head), true, nil
	}
	return wanted, to, false, nil
}

// replaySome makes some events and tells them, by the rights of after they were made. What the follower has no room
// for, because of what else is sent over its connection, waits with it.
func (h *Hub) replaySome(ctx context.Context, f *Follower, some []*Item, most *int) error {
	if err := f.sub.Ready(ctx); err != nil {
		return err
	}
	made, err := h.madeOf(ctx, f, some)
	if err != nil {
		return err
	}
	*most = fitting(made, len(some), *most)
	for len(made) > 0 && !f.gone.Load() {
		part := portioned(made)
		err := f.sub.Tell(part)
		switch {
		case errors.Is(err, ErrSlow):
			if err := f.sub.Ready(ctx); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			made = made[len(part):]
			f.at = part[len(part)-1].Position
		}
	}
	if f.gone.Load() {
		return ErrGone
	}
	return nil
}

// madeOf makes events for a follower. Few do it at a time, and none of them while it waits for its follower.
func (h *Hub) madeOf(ctx context.Context, f *Follower, some []*Item) (made []*Told, err error) {
	if err := take(ctx, h.replay); err != nil {
		return nil, err
	}
	defer func() { <-h.replay }()
	before := f.seat.Who()
	bodies, err := f.sub.Make(ctx, before, some)
	if err != nil {
		return nil, err
	}
	who, err := h.standingOf(ctx, before)
	if err != nil {
		return nil, err
	}
	for i, body := range bodies {
		if f.sub.Wants(who, some[i]) {
			made = append(made, &Told{Position: some[i].Position, Body: body})
		}
	}
	return made, nil
}

func (h *Hub) standingOf(ctx context.Context, before identity.Actor) (identity.Actor, error) {
	now, err := h.standing(ctx, []identity.Actor{before})
	if err != nil {
		return nil, err
	}
	mine := now[holdingOf(before)]
	return mine.Who, mine.Err
}

// fitting gives how many events to make next, by how large these were.
func fitting(made []*Told, events, most int) int {
	size := 0
	for _, t := range made {
		size += len(t.Body)
	}
	switch {
	case size > portion:
		return max(1, events*portion/size)
	case size < portion/2:
		return min(2*most, page)
	}
	return most
}

func portioned(made []*Told) []*Told {
	size := 0
	for i, t := range made {
		if size += len(t.Body); size > portion {
			return made[:i+1]
		}
	}
	return made
}
