package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
)

// Group, Wants and Make make a selection the part of a feed.Subscriber that does not depend on what it comes
// over.

// Group is equal for those who are told the same.
func (s *selection) Group() any { return s }

// Wants tells whether somebody may see an event and asked for it.
func (s *selection) Wants(who identity.Actor, item *feed.Item) bool {
	return shows(s.streams.sight(who), s.filter, item)
}

// makingKey is in the context of what is made for followers.
type makingKey struct{}

var errUnread = errors.New("the database did not answer")

const (
	// abreast is how many events are made at a time: more would take the connections from others.
	abreast = 2
	// maxEvent is how large one event may be as it is told, well within what is kept for a connection.
	maxEvent = 256 << 10
)

// Make executes the selection for some events, with what they read in common read once. What the database
// does not answer is an error; any other is told in the response.
func (s *selection) Make(ctx context.Context, who identity.Actor, items []*feed.Item) ([][]byte, error) {
	ctx = graphql.StartOperationTrace(identity.With(ctx, who))
	ctx = s.streams.loaders(context.WithValue(ctx, makingKey{}, true))
	load(ctx).proposals.expect(proposalsOf(items)...)
	bodies, errs := make([][]byte, len(items)), make([]error, len(items))
	if len(items) == 1 {
		bodies[0], errs[0] = s.make(ctx, items[0])
		return bodies, errs[0]
	}
	var made sync.WaitGroup
	places := make(chan struct{}, abreast)
	for i, item := range items {
		places <- struct{}{}
		made.Go(func() {
			defer func() { <-places }()
			bodies[i], errs[i] = s.make(ctx, item)
		})
	}
	made.Wait()
	return bodies, errors.Join(errs...)
}

// proposalsOf are those that events are of.
func proposalsOf(items []*feed.Item) []id.Proposal {
	return keysOf(items, func(i *feed.Item) id.Proposal { return i.Proposal })
}

func (s *selection) make(ctx context.Context, item *feed.Item) (body []byte, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("an event panicked: %s\n%s", redact.Panic(panicked), debug.Stack())
		}
	}()
	next, ctx := s.exec.DispatchOperation(context.WithValue(ctx, eventKey{}, item), s.operation)
	response := next(ctx)
	if response == nil || lacking(response.Errors) {
		return nil, errUnread
	}
	if body, err = json.Marshal(response); len(body) > maxEvent {
		body = tooLarge(len(body))
	}
	return body, err
}

// tooLarge is told in place of an event that is.
func tooLarge(size int) []byte {
	b, _ := json.Marshal(graphql.Response{Errors: gqlerror.List{exceeded("bytes of one event", maxEvent, size)}}) // of texts and numbers
	return b
}

func lacking(errs gqlerror.List) bool {
	for _, e := range errs {
		if e.Extensions["code"] == model.ErrorCodeUnavailable {
			return true
		}
	}
	return false
}
