package graph

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
)

// socket is one WebSocket. There is one goroutine for each, which waits for the client.
type socket struct {
	*streams
	exec     graphql.GraphExecutor
	conn     net.Conn
	frames   frames
	out      *feed.Outlet
	greeting *greeting // nil once connection_init has come

	lock       sync.Mutex
	seat       *feed.Seat // nil until connection_ack
	operations []*operation
	over       bool // the close frame is sent, or need not be
	pings      time.Time
}

// read hears one message and lets another goroutine wait for the next: what hearing needed of a stack is not
// kept while nothing happens.
func (s *socket) read() {
	kind, payload, err := s.frames.next()
	if err != nil {
		s.unreadable(err)
		return
	}
	if !s.hear(kind, payload) {
		s.linger()
		return
	}
	go s.read()
}

// unreadable ends a socket from which nothing more can be read.
func (s *socket) unreadable(err error) {
	wrong := (*violation)(nil)
	switch {
	case errors.As(err, &wrong):
		s.close(wrong.code, wrong.reason)
	case errors.Is(err, os.ErrDeadlineExceeded) && s.greeting != nil:
		s.close(closeInitTimeout, "Connection initialisation timeout")
	default:
		s.gone()
		return
	}
	s.linger()
}

// hear takes what the client sent; false where nothing more is to be heard.
func (s *socket) hear(kind byte, payload []byte) (more bool) {
	defer func() {
		if panicked := recover(); panicked != nil {
			s.log.Error("panic on a socket", "panic", redact.Panic(panicked), "stack", string(debug.Stack()))
			s.close(closeInternal, "Internal server error")
			more = false
		}
	}()
	if s.greeting == nil && !s.stay() {
		return false
	}
	switch kind {
	case opPing:
		_ = s.out.Send(feed.Frame{Bytes: frameOf(opPong, payload)}) // who does not read is found out by what follows
	case opPong:
	case opClose:
		if len(payload) == 1 {
			s.close(closeProtocol, "Half a reason")
			return false
		}
		s.close(answeredClose(payload), "")
		return false
	default:
		if wrong := s.message(payload); wrong != nil {
			s.close(wrong.code, wrong.reason)
			return false
		}
	}
	return true
}

func answeredClose(payload []byte) int {
	if len(payload) < 2 {
		return closeNormal
	}
	if code := int(payload[0])<<8 | int(payload[1]); code >= 3000 && code < 5000 || code == 1001 {
		return code
	}
	return closeNormal
}

// stay gives the client until after the next ping to be heard again; false where the socket is over.
func (s *socket) stay() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.over {
		_ = s.conn.SetReadDeadline(time.Now().Add(2 * s.keepAlive))
	}
	return !s.over
}

// close says goodbye and why; the first one counts.
func (s *socket) close(code int, reason string) {
	s.finish(func(*feed.Position) []byte { return closeFrame(code, reason) })
}

func (s *socket) finish(last func(unsent *feed.Position) []byte) {
	s.lock.Lock()
	first := !s.over
	s.over = true
	if first {
		_ = s.conn.SetReadDeadline(time.Now().Add(goodbyeTime))
	}
	s.lock.Unlock()
	if first {
		s.out.End(last)
	}
}

// written is called when the last frame is on its way, or cannot be.
func (s *socket) written(clean bool) {
	_ = s.conn.SetReadDeadline(time.Now().Add(answerTime))
	half, can := s.conn.(interface{ CloseWrite() error })
	if !clean || !can || half.CloseWrite() != nil {
		_ = s.conn.Close()
	}
}

// linger waits for the client to close too: a connection that is closed with something unread in it takes
// the goodbye back.
func (s *socket) linger() {
	s.release()
	_, _ = io.Copy(io.Discard, s.conn)
	s.gone()
}

// gone closes the connection and gives back what it had.
func (s *socket) gone() {
	s.lock.Lock()
	s.over = true
	s.lock.Unlock()
	s.out.Fail()
	_ = s.conn.Close()
	s.release()
}

// release ends the operations and gives the seat back.
func (s *socket) release() {
	s.lock.Lock()
	open, seat := s.operations, s.seat
	s.operations = nil
	s.lock.Unlock()
	for _, o := range open {
		o.end()
	}
	s.hub.Forget(s)
	if seat != nil {
		seat.Leave()
	}
}

// Pulse keeps the connection alive, and known to be: the client has to answer.
func (s *socket) Pulse(now time.Time) {
	s.lock.Lock()
	due := !s.over && now.Sub(s.pings) >= s.keepAlive
	if due {
		s.pings = now
	}
	s.lock.Unlock()
	if due {
		_ = s.out.Send(feed.Frame{Bytes: pingFrame})
	}
}

var pingFrame = frameOf(opPing)

// Ended is called where the hub takes the seat away.
func (s *socket) Ended(reason error, resume *feed.Position) {
	refused := (*identity.Error)(nil)
	code, sentence := closeTryAgain, "Try again"
	switch {
	case errors.Is(reason, feed.ErrGone):
		s.out.Fail()
		return
	case errors.Is(reason, feed.ErrLeaving):
		code, sentence = closeRestart, "Service restart"
	case errors.Is(reason, feed.ErrSlow):
		sentence = "Too slow"
	case errors.As(reason, &refused):
		code, sentence = closeOf(refused)
	}
	if s.several() { // each has a cursor of its own
		resume = nil
	}
	s.finish(func(unsent *feed.Position) []byte {
		if unsent != nil && resume != nil {
			resume = new(min(*resume, *unsent))
		}
		if code == closeTryAgain && resume != nil {
			sentence += ": resume after " + resume.Cursor()
		}
		return closeFrame(code, sentence)
	})
}

func (s *socket) several() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.operations) > 1
}

func closeOf(refused *identity.Error) (code int, sentence string) {
	switch refused.Code {
	case identity.ErrUnauthenticated.Code:
		return closeUnauthorized, "Unauthorized"
	case identity.ErrNoWorkspace.Code:
		return closeForbidden, "Forbidden"
	}
	return closeTryAgain, "Try again"
}

// send sends frames of an operation that is still open.
func (s *socket) send(o *operation, frames ...feed.Frame) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.over || !slices.Contains(s.operations, o) {
		return nil
	}
	return s.out.Send(frames...)
}

// last sends the last frames of an operation.
func (s *socket) last(o *operation, frames ...feed.Frame) {
	if s.closed(o, frames) {
		o.end()
	}
}

// closed takes an operation off the socket, and sends its last frames; false where it was off already.
func (s *socket) closed(o *operation, frames []feed.Frame) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	i := slices.Index(s.operations, o)
	if i < 0 {
		return false
	}
	if !s.over {
		_ = s.out.Send(frames...)
	}
	s.operations = slices.Delete(s.operations, i, i+1)
	return true
}

func (s *socket) find(id string) *operation {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, o := range s.operations {
		if o.id == id {
			return o
		}
	}
	return nil
}

// begin opens an operation, unless there are too many.
func (s *socket) begin(o *operation) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.operations) >= maxOperations {
		return false
	}
	s.operations = append(s.operations, o)
	return true
}
