package feed

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// answerTime is how long a client may take to close its end after ours.
const answerTime = 5 * time.Second

// Stream is a response of server-sent events. It goes on after the handler that opened it, and what is sent
// goes through its outlet.
type Stream struct {
	*Outlet
	wait func()
}

// OpenStream sends the head of a response, with what is in its header already. The connection is taken from the
// HTTP server where that gives it, so that what it keeps for a request is not kept for a stream. gone is called
// once, when the connection has ended; one that takes nothing has ended when twice keepAlive has passed.
func OpenStream(w http.ResponseWriter, r *http.Request, keepAlive time.Duration, gone func()) *Stream {
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-store, no-transform") // a proxy that compresses holds events back
	head.Set("X-Accel-Buffering", "no")
	conn, in, err := taken(w)
	if err != nil {
		return overResponse(w, r, gone)
	}
	GiveUp(conn, 2*keepAlive)
	return overConn(conn, in, head, gone)
}

// Wait is to be called before the handler returns.
func (s *Stream) Wait() { s.wait() }

// taken takes a connection from the HTTP server, with what has been read from it already.
func taken(w http.ResponseWriter) (net.Conn, io.ByteReader, error) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	from := io.Reader(conn)
	if n := both.Reader.Buffered(); n > 0 {
		early, _ := both.Peek(n)
		from = io.MultiReader(bytes.NewReader(slices.Clone(early)), conn)
	}
	return conn, bufio.NewReaderSize(from, 64), nil
}

func overConn(conn net.Conn, in io.ByteReader, head http.Header, gone func()) *Stream {
	s := &Stream{wait: func() {}}
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
		gone()
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
	s := &Stream{Outlet: NewOutlet(response{w, http.NewResponseController(w)}, func(bool) { close(done) })}
	s.wait = func() {
		select {
		case <-done:
		case <-r.Context().Done():
			s.Fail()
			<-done
		}
		gone()
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
