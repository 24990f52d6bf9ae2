package feed

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
)

// tellRoom tells a workspace's followers the next events; more where there may be further ones.
func (h *Hub) tellRoom(ctx context.Context, workspace id.Workspace) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	from, followed := h.admit(workspace)
	if !followed {
		return false, nil
	}
	items, err := h.feed.Since(ctx, postgres.As(h.reader, workspace), from, page)
	if errors.Is(err, ErrExpired) {
		h.expire(workspace)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if len(items) == 0 {
		h.reached(workspace, from, true)
		return false, nil
	}
	if err := h.check(ctx, &workspace); err != nil {
		return false, err
	}
	h.tell(ctx, h.groupsOf(workspace), items)
	if err := ctx.Err(); err != nil {
		return false, err // who was told is not told again
	}
	h.reached(workspace, items[len(items)-1].Position, len(items) < page)
	return len(items) == page, nil
}

// admit lets those who have joined be told, and gives the position to read on from: the earliest that
// anyone has been told to. The others are not told again what they were told.
func (h *Hub) admit(workspace id.Workspace) (from Position, followed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.rooms[workspace]
	if at == nil {
		return 0, false
	}
	for _, f := range at.joining {
		key := f.sub.Group()
		if at.groups[key] == nil {
			at.groups[key] = &group{key: key}
		}
		at.groups[key].add(f)
		at.current = at.current && f.at >= at.read
		at.read = min(at.read, f.at)
	}
	at.joining = nil
	return at.read, true
}

func (h *Hub) reached(workspace id.Workspace, to Position, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.rooms[workspace]; at != nil {
		at.read, at.told, at.current = to, max(at.told, to), all
	}
}

// expire ends those who were to be told from a position that is not kept any more.
func (h *Hub) expire(workspace id.Workspace) {
	h.mu.Lock()
	at := h.rooms[workspace]
	if at == nil {
		h.mu.Unlock()
		return
	}
	over := []*Follower{}
	for _, g := range at.groups {
		for _, f := range g.members {
			if at.read == at.told || f.at < at.told {
				over = append(over, f)
			}
		}
	}
	at.read = at.told
	h.mu.Unlock()
	for _, f := range over {
		f.sub.Expired()
		f.Leave()
	}
}

func (h *Hub) groupsOf(workspace id.Workspace) [][]*Follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := [][]*Follower{}
	if at := h.rooms[workspace]; at != nil {
		for _, g := range at.groups {
			list = append(list, append([]*Follower(nil), g.members...))
		}
	}
	return list
}

// tell tells each group, a few of them at a time.
func (h *Hub) tell(ctx context.Context, groups [][]*Follower, items []Item) {
	var told sync.WaitGroup
	free := make(chan struct{}, telling)
	for _, members := range groups {
		free <- struct{}{}
		told.Go(func() {
			defer func() { <-free }()
			h.tellGroup(ctx, members, items)
		})
	}
	told.Wait()
}

func (h *Hub) tellGroup(ctx context.Context, members []*Follower, items []Item) {
	made, err := h.make(ctx, members, items)
	if err != nil {
		h.unread(ctx, members, items, err)
		return
	}
	var handed sync.WaitGroup
	share := max(len(members)/runtime.GOMAXPROCS(0)+1, 256)
	for len(members) > 0 {
		some := members[:min(share, len(members))]
		members = members[len(some):]
		handed.Go(func() {
			for _, f := range some {
				f.hand(items, made)
			}
		})
	}
	handed.Wait()
}

// make makes what a group is told of the events that any of them wants; nil for the others. It tries again
// where the database does not answer.
func (h *Hub) make(ctx context.Context, members []*Follower, items []Item) ([]*Told, error) {
	made, asked, first := make([]*Told, len(items)), []*Item{}, (*Follower)(nil)
	for i := range items {
		if f := wanting(members, &items[i]); f != nil {
			made[i] = &Told{Position: items[i].Position}
			asked, first = append(asked, &items[i]), f
		}
	}
	if first == nil {
		return made, nil
	}
	bodies, err := first.sub.Make(ctx, first.seat.holder.who, asked)
	for _, pause := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		if err == nil {
			break
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		bodies, err = first.sub.Make(ctx, first.seat.holder.who, asked)
	}
	if err != nil {
		return nil, err
	}
	for i := range made {
		if made[i] != nil {
			made[i].Body, bodies = bodies[0], bodies[1:]
		}
	}
	return made, nil
}

func wanting(members []*Follower, item *Item) *Follower {
	for _, f := range members {
		if f.wants(item) {
			return f
		}
	}
	return nil
}

// wants is for Run, which alone changes who somebody is.
func (f *Follower) wants(item *Item) bool {
	return item.Position > f.at && !f.gone.Load() && f.sub.Wants(f.seat.holder.who, item)
}

// unread ends those who would have been told what could not be made; they resume where they were.
func (h *Hub) unread(ctx context.Context, members []*Follower, items []Item, err error) {
	if ctx.Err() != nil {
		return
	}
	h.log.WarnContext(ctx, "events could not be made for their followers", "error", err)
	for _, f := range members {
		for i := range items {
			if f.wants(&items[i]) {
				resume := f.at
				f.seat.end(ErrUnread, &resume)
			}
		}
	}
}

// hand tells a follower what it wants of a page.
func (f *Follower) hand(items []Item, made []*Told) {
	list := make([]*Told, 0, 8)
	for i := range items {
		if made[i] != nil && f.wants(&items[i]) {
			list = append(list, made[i])
		}
	}
	f.at = max(f.at, items[len(items)-1].Position)
	if len(list) == 0 {
		return
	}
	if err := f.sub.Tell(list); err != nil {
		resume := list[0].Position - 1
		f.seat.end(err, &resume)
	}
}

// standing is identity's, for followers: a token that may no longer subscribe is over too.
func (h *Hub) standing(ctx context.Context, before []identity.Actor) (map[identity.Credential]identity.Standing, error) {
	now, err := h.people.Standing(ctx, before)
	for c, one := range now {
		if one.Err == nil && !one.Who.May(identity.ScopeSubscribe) {
			now[c] = identity.Standing{Err: ErrScope}
		}
	}
	return now, err
}
