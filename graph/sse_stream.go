package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// eventStream is a connection that is told events.
type eventStream struct {
	*streams
	*selection // nil where there is no subscription
	exec       graphql.GraphExecutor
	out        *feed.Outlet
	wait       func() // until the handler may return

	lock sync.Mutex
	seat *feed.Seat
	over bool
}

// start sends the head of the response. The connection is taken from the HTTP server where that gives it, so
// that what it keeps for a request is not kept for a stream.
func (e *eventStream) start(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeEvents+"; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	if conn, in, err := e.taken(w); err == nil {
		e.overConn(conn, in, w.Header())
		return
	}
	e.overResponse(w, r)
}

func (e *eventStream) overConn(conn net.Conn, in io.ByteReader, head http.Header) {
	e.out = feed.NewOutlet(conn, func(clean bool) {
		half, can := conn.(interface{ CloseWrite() error })
		_ = conn.SetReadDeadline(time.Now().Add(answerTime))
		if !clean || !can || half.CloseWrite() != nil {
			_ = conn.Close()
		}
	})
	e.wait = func() {}
	head.Set("Connection", "close")
	_ = e.out.Send(feed.Frame{Bytes: responseHead(head)}) // who has gone is found gone below
	go e.watch(conn, in)
}

// watch waits for the client to go; it says nothing more. io.Discard would take a large buffer for that.
func (e *eventStream) watch(conn net.Conn, in io.ByteReader) {
	for {
		if _, err := in.ReadByte(); err != nil {
			break
		}
	}
	_ = conn.Close()
	e.out.Fail()
	e.end()
}

func responseHead(head http.Header) []byte {
	var b []byte
	b = append(b, "HTTP/1.1 200 OK\r\nDate: "+time.Now().UTC().Format(http.TimeFormat)+"\r\n"...)
	for name, values := range head {
		for _, v := range values {
			b = append(b, name+": "+v+"\r\n"...)
		}
	}
	return append(b, "\r\n:\n\n"...)
}

// overResponse is for HTTP/2, whose connection is not given away: the handler stays as long as the stream.
func (e *eventStream) overResponse(w http.ResponseWriter, r *http.Request) {
	done := make(chan struct{})
	e.out = feed.NewOutlet(response{w, http.NewResponseController(w)}, func(bool) { close(done) })
	e.wait = func() {
		select {
		case <-done:
		case <-r.Context().Done():
			e.out.Fail()
			<-done
		}
		e.end()
	}
	_ = e.out.Send(feed.Frame{Bytes: []byte(":\n\n")})
}

// response is an HTTP response as an outlet writes to it.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (r response) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	if err == nil {
		err = r.control.Flush()
	}
	return n, err
}

func (r response) SetWriteDeadline(t time.Time) error { return r.control.SetWriteDeadline(t) }

// follow has the hub tell the stream what happens. Where this server goes away just now that is said as it
// is to those who follow already: a client that is refused may not come back.
func (e *eventStream) follow(ctx context.Context, after *feed.Position) {
	seat, err := e.hub.Take(identity.From(ctx), e)
	if err == nil && e.sit(seat) {
		_, err = seat.Follow(ctx, e, after)
	}
	switch {
	case err == nil || errors.Is(err, feed.ErrGone):
	case errors.Is(err, feed.ErrLeaving):
		e.Ended(err, nil)
	default:
		e.finish(nil, errorOf(ctx, e.exec, err))
	}
}

// sit takes a seat, unless the client has gone meanwhile.
func (e *eventStream) sit(seat *feed.Seat) bool {
	e.lock.Lock()
	e.seat = seat
	over := e.over
	e.lock.Unlock()
	if over {
		seat.Leave()
	}
	return !over
}

// end gives back what the stream has.
func (e *eventStream) end() {
	e.lock.Lock()
	first, seat := !e.over, e.seat
	e.over = true
	e.lock.Unlock()
	if seat != nil {
		seat.Leave()
	}
	if first && e.selection != nil {
		e.release()
	}
}

// finish sends the last response, where there is one, and ends the stream.
func (e *eventStream) finish(body, errs []byte) {
	if errs != nil {
		body = fmt.Appendf(nil, `{"errors":%s}`, errs)
	}
	e.out.End(func(*feed.Position) []byte { return append(event("next", "", body), event("complete", "", nil)...) })
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
	return e.out.Send(frames...)
}

func nextEvent(t *feed.Told) []byte { return event("next", t.Position.Cursor(), t.Body) }

// Ready waits until the client has read most of what it was sent.
func (e *eventStream) Ready(ctx context.Context) error { return e.out.Ready(ctx) }

// Expired ends the subscription: where it was to begin is not kept any more.
func (e *eventStream) Expired() {
	e.finish(nil, errorOf(context.Background(), e.exec, feed.ErrExpired))
}

// Pulse sends something now and then, or else a proxy takes the stream for dead.
func (e *eventStream) Pulse(time.Time) {
	if e.out.Quiet() >= e.keepAlive {
		_ = e.out.Send(feed.Frame{Bytes: []byte(":\n\n")}) // who has gone is found out by the read
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
	e.out.End(func(unsent *feed.Position) []byte {
		if unsent != nil && resume != nil {
			resume = new(min(*resume, *unsent))
		}
		b := fmt.Appendf(nil, "retry: %d\n", 1000+rand.IntN(4000))
		if resume != nil {
			b = append(b, "id: "+resume.Cursor()+"\n"...)
		}
		return append(b, ": "+reason.Error()+"\n\n"...)
	})
}
