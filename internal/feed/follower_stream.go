package feed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/identity"
)

// answerTime is how long a client may take to close its end after ours.
const answerTime = 5 * time.Second

// Stream is a response of server-sent events. It goes on after the handler that opened it, and what is sent
// goes through its outlet.
type Stream struct {
	*Outlet
	wait func()
	gone func()

	seated sync.Mutex
	seat   *Seat
	over   bool
}

// OpenStream sends the head of a response, with what is in its header already. The connection is taken from the
// HTTP server where that gives it, so that what it keeps for a request is not kept for a stream. gone is called
// once, when the connection has ended; one that takes nothing has ended when twice keepAlive has passed.
func OpenStream(w http.ResponseWriter, r *http.Request, keepAlive time.Duration, gone func()) *Stream {
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-store, no-transform") // a proxy that compresses holds events back
	head.Set("X-Accel-Buffering", "no")
	conn, in, err := Hijack(w, keepAlive)
	if err != nil {
		return overResponse(w, r, gone)
	}
	return overConn(conn, in, head, gone)
}

// Follow has the hub tell a subscriber what happens after a position, until the connection ends. It is nil also
// where the hub has ended the connection meanwhile, and said why.
func (s *Stream) Follow(ctx context.Context, hub *Hub, who identity.Actor, sub interface {
	Subscriber
	Connection
}, after *Position,
) error {
	seat, err := hub.Take(who, sub)
	if err == nil && s.sit(seat) {
		_, err = seat.Follow(ctx, sub, after)
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// sit takes a seat, unless the client has gone meanwhile.
func (s *Stream) sit(seat *Seat) bool {
	s.seated.Lock()
	s.seat = seat
	over := s.over
	s.seated.Unlock()
	if over {
		seat.Leave()
	}
	return !over
}

// leave gives back what the stream has.
func (s *Stream) leave() {
	s.seated.Lock()
	seat := s.seat
	s.over = true
	s.seated.Unlock()
	if seat != nil {
		seat.Leave()
	}
	s.gone()
}

// ComeBack ends the stream with a word why, so that the client comes back, each after another while, and goes on
// after what it was sent.
func (s *Stream) ComeBack(resume *Position, why string) {
	s.End(func(unsent *Position) []byte {
		if unsent != nil && resume != nil {
			resume = new(min(*resume, *unsent))
		}
		b := RetryLine()
		if resume != nil {
			b = append(b, "id: "+resume.Cursor()+"\n"...)
		}
		return append(b, ": "+why+"\n\n"...)
	})
}

// RetryLine says how long to wait before coming back: not all at once.
func RetryLine() []byte { return fmt.Appendf(nil, "retry: %d\n", 1000+rand.IntN(4000)) }

// Wait is to be called before the handler returns.
func (s *Stream) Wait() { s.wait() }

// Hijack takes a connection from the HTTP server, with what has been read from it already. One that takes nothing
// has ended when twice keepAlive has passed.
func Hijack(w http.ResponseWriter, keepAlive time.Duration) (net.Conn, *bufio.Reader, error) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	GiveUp(conn, 2*keepAlive)
	from := io.Reader(conn)
	if n := both.Reader.Buffered(); n > 0 {
		early, _ := both.Peek(n)
		from = io.MultiReader(bytes.NewReader(slices.Clone(early)), conn)
	}
	return conn, bufio.NewReaderSize(from, 64), nil
}

func overConn(conn net.Conn, in io.ByteReader, head http.Header, gone func()) *Stream {
	s := &Stream{wait: func() {}, gone: gone}
	s.Outlet = NewOutlet(conn, func(clean bool) {
		half, can := conn.(interface{ CloseWrite() error })
		_ = conn.SetReadDeadline(time.Now().Add(answerTime))
		if !clean || !can || half.CloseWrite() != nil {
			_ = conn.Close()
		}
	})
	head.Set("Connection", "close")
	_ = s.Send(Frame{Bytes: responseHead(head)}) // who has gone is found gone by the read
	go func() {
		for err := error(nil); err == nil; {
			_, err = in.ReadByte() // it says nothing more, and io.Discard would take a large buffer for that
		}
		_ = conn.Close()
		s.Fail()
		s.leave()
	}()
	return s
}

func responseHead(head http.Header) []byte {
	b := bytes.NewBufferString("HTTP/1.1 200 OK\r\nDate: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n")
	_ = head.Write(b) // which a buffer does not refuse
	b.WriteString("\r\n")
	return b.Bytes()
}

// overResponse is for HTTP/2, whose connection is not given away: the handler stays as long as the stream.
func overResponse(w http.ResponseWriter, r *http.Request, gone func()) *Stream {
	done := make(chan struct{})
	s := &Stream{gone: gone, Outlet: NewOutlet(response{w, http.NewResponseController(w)}, func(bool) { close(done) })}
	s.wait = func() {
		select {
		case <-done:
		case <-r.Context().Done():
			s.Fail()
			<-done
		}
		s.leave()
	}
	return s
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
