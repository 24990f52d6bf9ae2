package graph

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
)

// operation is one of a socket's that is open.
type operation struct {
	*selection // nil for a query or a mutation
	socket     *socket
	id         string
	opening    []byte // of a message about an event
	follower   *feed.Follower
	cancel     context.CancelFunc
}

// start runs in the goroutine that hears the client, so that what comes next finds it started.
func (o *operation) start(params *graphql.RawParams) {
	s := o.socket
	ctx, cancel := context.WithCancel(context.Background())
	who := s.seat.Who()
	oc, refused := operationOf(identity.With(ctx, who), s.exec, params)
	switch {
	case refused != nil:
		o.fail(refused)
	case oc.Operation.Operation == ast.Subscription:
		o.follow(ctx, who, oc)
	default:
		o.setCancel(cancel)
		go o.answer(ctx, oc)
		return
	}
	cancel()
}

// follow has the hub tell the operation what happens.
func (o *operation) follow(ctx context.Context, who identity.Actor, oc *graphql.OperationContext) {
	s := o.socket
	selected, after, refused := s.selectionOf(ctx, who, s.exec, oc)
	if refused != nil {
		o.fail(refused)
		return
	}
	o.selection, o.opening = selected, append(messageStart(o.id, "next"), payloadFollows...)
	follower, err := s.seat.Follow(ctx, o, after)
	if errors.Is(err, feed.ErrGone) {
		return // the socket is closed, and says why
	}
	if err != nil {
		o.fail(errorOf(ctx, s.exec, err))
		return
	}
	s.lock.Lock()
	o.follower = follower
	s.lock.Unlock()
}

// answer runs a query or a mutation, with the rights of now.
func (o *operation) answer(ctx context.Context, oc *graphql.OperationContext) {
	s := o.socket
	defer func() {
		if panicked := recover(); panicked != nil {
			s.log.Error("panic in an operation", "panic", redact.Panic(panicked), "stack", string(debug.Stack()))
			o.fail(errorOf(context.Background(), s.exec, errBroken))
		}
	}()
	who, err := s.seat.Now(ctx)
	if err == nil && !who.May(identity.ScopeRead) {
		err = errNoReading
	}
	if err != nil {
		o.fail(errorOf(ctx, s.exec, err))
		return
	}
	next, ctx := s.exec.DispatchOperation(graphql.StartOperationTrace(identity.With(ctx, who)), oc)
	body, err := json.Marshal(next(ctx))
	if err != nil {
		o.fail(errorOf(ctx, s.exec, err))
		return
	}
	s.last(o, feed.Frame{Bytes: textFrame(o.id, "next", body)}, feed.Frame{Bytes: textFrame(o.id, "complete", nil)})
}

// fail answers that it cannot be done, and nothing after it.
func (o *operation) fail(errs []byte) {
	o.socket.last(o, feed.Frame{Bytes: textFrame(o.id, "error", errs)})
}

func (o *operation) setCancel(cancel context.CancelFunc) {
	o.socket.lock.Lock()
	defer o.socket.lock.Unlock()
	o.cancel = cancel
}

// end gives back what an operation has.
func (o *operation) end() {
	o.socket.lock.Lock()
	follower, selected, cancel := o.follower, o.selection, o.cancel
	o.follower, o.cancel = nil, nil
	o.socket.lock.Unlock()
	if cancel != nil {
		cancel()
	}
	if follower != nil {
		follower.Leave()
	}
	if selected != nil {
		selected.release(identity.CredentialOf(o.socket.seat.Who()))
	}
}

// Tell sends events. What comes before them in a frame has the operation's id in it, which most clients make
// up for each; the rest is shared.
func (o *operation) Tell(told []*feed.Told) error {
	frames := make([]feed.Frame, len(told))
	opens := make([]byte, 0, len(told)*(len(o.opening)+10))
	for i, t := range told {
		from := len(opens)
		opens = beginFrame(opens, opText, len(o.opening)+len(t.Body)+len(messageEnd))
		opens = append(opens, o.opening...)
		frames[i] = feed.Frame{Open: opens[from:], Bytes: t.Body, End: messageEnd, At: t.Position}
	}
	return o.socket.send(o, frames...)
}

// Ready waits until the client has read most of what it was sent.
func (o *operation) Ready(ctx context.Context) error { return o.socket.out.Ready(ctx) }

// Expired ends the subscription: where it was to begin is not kept any more.
func (o *operation) Expired() {
	o.fail(errorOf(context.Background(), o.socket.exec, feed.ErrExpired))
}
