package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

const (
	usualEvents = 100
	maxEvents   = 1000
	// maxLooked is how many events one page looks at to find those it is for.
	maxLooked = 10 * maxEvents
)

func (r *Resolver) feedCursor(ctx context.Context) (string, error) {
	head, err := r.Feed.Head(ctx, identity.From(ctx).Workspace().ID)
	return head.Cursor(), err
}

// eventPage reads on in the feed: what the viewer may see and asked for, and the place reached.
func (r *Resolver) eventPage(ctx context.Context, after *string, first *int32, f *model.ProposalFilter) (*model.ProposalEventConnection, error) {
	size := usualEvents
	if first != nil {
		size = int(*first)
	}
	if size < 1 || size > maxEvents {
		return nil, invalid("first", fmt.Sprintf("first is a number from 1 to %d.", maxEvents))
	}
	at, head, err := r.startOf(ctx, after)
	if err != nil {
		return nil, err
	}
	items, at, more, err := r.shown(ctx, at, size, f)
	if err != nil {
		return nil, err
	}
	load(ctx).proposals.expect(proposalsOf(items)...)
	load(ctx).users.expect(keysOf(items, func(i *feed.Item) id.User { return i.Actor })...)
	c := connect(window{size: size, cursor: after, forward: true}, items, func(i *feed.Item) string { return i.Cursor() })
	c.PageInfo.HasNextPage = more
	if at == feed.Oldest {
		at = head
	}
	return &model.ProposalEventConnection{Connection: *c, Cursor: at.Cursor()}, nil
}

// shown reads the next events that are for the viewer, at most size; how far it got, and whether there is
// more to look at.
func (r *Resolver) shown(ctx context.Context, at feed.Position, size int, f *model.ProposalFilter) (items []*feed.Item, reached feed.Position, more bool, err error) {
	sight, db := r.Gate.Sight(identity.From(ctx)), r.db(ctx)
	for looked := 0; looked < maxLooked; {
		read, err := r.Feed.Since(ctx, db, at, size+1)
		if err != nil {
			return nil, at, false, err
		}
		for i := range read {
			show := shows(sight, f, &read[i])
			if show && len(items) == size {
				return items, at, true, nil
			}
			if show {
				items = append(items, &read[i])
			}
			at = read[i].Position
		}
		if len(read) <= size {
			return items, at, false, nil
		}
		looked += len(read)
	}
	return items, at, true, nil
}

// startOf gives where to read on from; where that is the oldest, also where the feed stood before it was
// read, which is the place reached if nothing is found.
func (r *Resolver) startOf(ctx context.Context, after *string) (at, head feed.Position, err error) {
	if after != nil {
		at, err = feed.ParseCursor(*after)
		return at, at, err
	}
	head, err = r.Feed.Head(ctx, identity.From(ctx).Workspace().ID)
	return feed.Oldest, head, err
}

// shows tells whether an event is for someone, by their rights now, and passes the filter. The filter's
// status is the one that the event made, so that reading again finds the same; what is actionable is so now.
func shows(sight gate.Sight, f *model.ProposalFilter, i *feed.Item) bool {
	p := gate.Seen{ActingUser: i.ActingUser, RequiresApproval: i.RequiresApproval, ApproverRole: i.ApproverRole, Shared: i.Shared,
		Entity: i.Entity, ActionKind: i.ActionKind, Status: i.Now, Deciders: i.Deciders}
	if !sight.Sees(p) {
		return false
	}
	return f == nil ||
		oneOf(f.Status, i.Status) && oneOf(f.Entity, i.Entity) && oneOf(f.Operation, i.Operation) &&
			(f.ConversationID == nil || *f.ConversationID == i.Conversation) &&
			(f.ActingUserID == nil || *f.ActingUserID == i.ActingUser) &&
			(f.Actionable == nil || *f.Actionable == sight.Awaits(p))
}

// oneOf is true for every value where no list is given.
func oneOf[T comparable](list []T, one T) bool { return list == nil || slices.Contains(list, one) }

// eventProposal is the event's proposal now; nil where it is gone.
func eventProposal(ctx context.Context, i *feed.Item) (*sqlc.Proposal, error) {
	return load(ctx).proposals.Load(ctx, i.Proposal)
}
