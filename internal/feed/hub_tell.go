package feed

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/postgres"
)

// attend tells a room what there is until nobody is in it.
func (h *Hub) attend(ctx context.Context, at *room) {
	pause := shortestPause
	for {
		changed, head := h.feed.Changed()
		more, err := h.turn(ctx, at, head)
		if more && err == nil {
			pause = shortestPause
			continue
		}
		wait := (<-chan time.Time)(nil)
		if err == nil {
			pause = shortestPause
		} else {
			if pause == shortestPause && ctx.Err() == nil {
				h.log.WarnContext(ctx, "followers were not told", "error", err)
			}
			wait, changed, pause = time.After(pause), nil, min(2*pause, longestPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-at.over:
			return
		case <-changed:
		case <-wait:
		case <-at.joined:
		}
	}
}

// turn tells a room the next events; more where there may be further ones. Rights are looked at when everything is
// made, and nothing is waited for between that and the handing over.
func (h *Hub) turn(ctx context.Context, at *room, head Position) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	from, followed := h.admit(at)
	if !followed {
		return false, nil
	}
	most := page
	if at.alone != nil {
		most = solo
	}
	begun := time.Now()
	items, err := h.next(ctx, at, from, most)
	switch {
	case errors.Is(err, ErrExpired):
		h.expire(at)
		return true, nil
	case err != nil:
		return false, err
	case len(items) == 0:
		h.reached(at, max(from, head), true)
		return false, nil
	}
	shares := h.sharesOf(at, items)
	if err := h.prepare(ctx, at, shares); errors.Is(err, errLate) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	handAll(shares)
	at.quick = time.Since(begun) < h.limits.Slow
	at.heavy = at.heavy && !at.quick
	h.reached(at, items[len(items)-1].Position, len(items) < most)
	return len(items) == most, nil
}

func (h *Hub) next(ctx context.Context, at *room, from Position, most int) ([]Item, error) {
	if err := take(ctx, h.read); err != nil {
		return nil, err
	}
	defer func() { <-h.read }()
	return h.feed.Since(ctx, postgres.As(h.reader, at.workspace), from, most)
}

// prepare makes what the shares are told, and then looks at rights. For who was given rights meanwhile more is
// made, and rights are looked at again.
func (h *Hub) prepare(ctx context.Context, at *room, shares []*share) error {
	for first := true; h.makeAll(ctx, at, shares) || first; first = false {
		if err := h.setAside(ctx, at, shares); err != nil {
			return err
		}
		if err := h.check(ctx, &at.workspace); err != nil {
			return err
		}
	}
	return nil
}

// setAside takes those out who hold up the others or cannot be told.
func (h *Hub) setAside(ctx context.Context, at *room, shares []*share) error {
	for _, s := range shares {
		switch {
		case s.failed == nil || s.aside:
		case errors.Is(s.failed, errLate) && !at.heavy:
			s.aside = true
			if at.alone == nil {
				h.part(at, s.group)
			} else {
				at.heavy = true
				return errLate
			}
		case ctx.Err() == nil || at.alone != nil && h.ctx.Err() == nil:
			s.aside = true
			h.unread(s)
		}
	}
	return ctx.Err()
}

// handAll hands over what was made, a part of the followers to each processor.
func handAll(shares []*share) {
	var handing sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range shares {
		for left := s.members; len(left) > 0 && s.failed == nil; {
			some := left[:min(len(left), 256)]
			left = left[len(some):]
			places <- struct{}{}
			handing.Go(func() {
				defer func() { <-places }()
				for _, f := range some {
					f.hand(s.items, s.made)
				}
			})
		}
	}
	handing.Wait()
}

// hand tells a follower what it wants of a page, a portion at a time.
func (f *Follower) hand(items []Item, made []*Told) {
	list := make([]*Told, 0, 8)
	for i := range items {
		if made[i] != nil && f.wants(&items[i]) {
			list = append(list, made[i])
		}
	}
	f.at = max(f.at, items[len(items)-1].Position)
	for len(list) > 0 {
		some := portioned(list)
		if err := f.sub.Tell(some); err != nil {
			resume := list[0].Position - 1
			f.seat.end(err, &resume)
			return
		}
		list = list[len(some):]
	}
}
