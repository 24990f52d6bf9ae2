package graph

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// eventStream is a connection that is told events.
type eventStream struct {
	*streams
	*selection // nil where there is no subscription
	*feed.Stream
	exec graphql.GraphExecutor
	by   identity.Credential
}

// start sends the head of the response, and the place after which events will be told: a browser comes back
// with it, also where it was told nothing.
func (e *eventStream) start(w http.ResponseWriter, r *http.Request, after *feed.Position) {
	e.Stream = feed.OpenStream(w, r, e.keepAlive, e.leave)
	first := ":\n"
	if after != nil {
		first += "id: " + after.Cursor() + "\n"
	}
	_ = e.Send(feed.Frame{Bytes: []byte(first + "\n")}) // who has gone is found out by the read
}

// follow has the hub tell the stream what happens. Where this server goes away just now that is said as it
// is to those who follow already: a client that is refused may not come back.
func (e *eventStream) follow(ctx context.Context, after *feed.Position) {
	err := e.Follow(ctx, e.hub, identity.From(ctx), e, after)
	switch {
	case err == nil:
	case errors.Is(err, feed.ErrLeaving):
		e.Ended(err, nil)
	default:
		e.finish(nil, errorOf(ctx, e.exec, err))
	}
}

// leave gives back the share of what the credential may follow. It is called once.
func (e *eventStream) leave() {
	if e.selection != nil {
		e.release(e.by)
	}
}

// finish sends the last response, where there is one, and ends the stream.
func (e *eventStream) finish(body, errs []byte) {
	if errs != nil {
		body = fmt.Appendf(nil, `{"errors":%s}`, errs)
	}
	e.End(func(*feed.Position) []byte { return append(event("next", "", body), event("complete", "", nil)...) })
}

func event(kind, id string, data []byte) []byte {
	b := []byte("event: " + kind + "\n")
	if id != "" {
		b = append(b, "id: "+id+"\n"...)
	}
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// Tell sends events, each with its cursor as its id.
func (e *eventStream) Tell(told []*feed.Told) error {
	frames := make([]feed.Frame, len(told))
	for i, t := range told {
		frames[i] = feed.Frame{Bytes: t.Frame("", nextEvent), At: t.Position}
	}
	return e.Send(frames...)
}

func nextEvent(t *feed.Told) []byte { return event("next", t.Position.Cursor(), t.Body) }

// Expired ends the subscription: where it was to begin is not kept any more.
func (e *eventStream) Expired() {
	e.finish(nil, errorOf(context.Background(), e.exec, feed.ErrExpired))
}

// Pulse sends something now and then, or else a proxy takes the stream for dead.
func (e *eventStream) Pulse(time.Time) {
	if e.Quiet() >= e.keepAlive {
		_ = e.Send(feed.Frame{Bytes: []byte(":\n\n")}) // who has gone is found out by the read
	}
}

// Ended is called where the hub takes the seat away. A client whose rights are as they were comes back, each
// after another while.
func (e *eventStream) Ended(reason error, resume *feed.Position) {
	refused := (*identity.Error)(nil)
	if errors.As(reason, &refused) && refused.Code != "UNAVAILABLE" {
		e.finish(nil, errorOf(context.Background(), e.exec, reason))
		return
	}
	e.ComeBack(resume, reason.Error())
}
