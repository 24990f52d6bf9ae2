package feed

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
)

// portion is about how much a follower that catches up is told before it is waited for again.
const portion = 32 << 10

// catchUp tells a follower what happened long ago, as fast as it reads, and lets the hub tell it the rest.
func (h *Hub) catchUp(ctx context.Context, f *Follower) {
	for !f.gone.Load() {
		near, err := h.replayPage(ctx, f)
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

// replayPage tells a follower a page of what happened; near where the hub can go on with it.
func (h *Hub) replayPage(ctx context.Context, f *Follower) (near bool, err error) {
	if err := f.sub.Ready(ctx); err != nil {
		return false, err
	}
	made, to, near, err := h.makePage(ctx, f)
	for err == nil && len(made) > 0 {
		some := portioned(made)
		made = made[len(some):]
		if err = f.sub.Ready(ctx); err == nil {
			err = f.tell(some)
		}
	}
	if err == nil {
		f.at = to
	}
	return near, err
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

func (f *Follower) tell(some []*Told) error {
	if f.gone.Load() {
		return ErrGone
	}
	err := f.sub.Tell(some)
	if err == nil {
		f.at = some[len(some)-1].Position
	}
	return err
}

// makePage reads the next events and makes what the follower is told of them. Few do it at a time, and none
// of them while it waits for its follower.
func (h *Hub) makePage(ctx context.Context, f *Follower) (made []*Told, to Position, near bool, err error) {
	select {
	case h.replay <- struct{}{}:
		defer func() { <-h.replay }()
	case <-ctx.Done():
		return nil, f.at, false, ctx.Err()
	}
	before := f.seat.Who()
	items, err := h.feed.Since(ctx, postgres.As(h.reader, before.Workspace().ID), f.at, page)
	if err != nil {
		return nil, f.at, false, err
	}
	now, err := h.standing(ctx, []identity.Actor{before})
	if err != nil {
		return nil, f.at, false, err
	}
	mine := now[identity.CredentialOf(before)]
	if mine.Err != nil {
		return nil, f.at, false, mine.Err
	}
	wanted := []*Item{}
	to = f.at
	for i := range items {
		if to = items[i].Position; f.sub.Wants(mine.Who, &items[i]) {
			wanted = append(wanted, &items[i])
		}
	}
	if len(wanted) > 0 {
		bodies, err := f.sub.Make(ctx, mine.Who, wanted)
		if err != nil {
			return nil, f.at, false, err
		}
		for i, body := range bodies {
			made = append(made, &Told{Position: wanted[i].Position, Body: body})
		}
	}
	_, last := h.feed.Changed()
	return made, to, len(items) < page || to >= last-page, nil
}
