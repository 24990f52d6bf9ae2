package feed

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a connection over TCP with small buffers, as an outlet and what reads from it.
func pair(t *testing.T) (o *Outlet, client net.Conn, ended chan bool) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = server.(*net.TCPConn).SetWriteBuffer(16 << 10)
	_ = client.(*net.TCPConn).SetReadBuffer(16 << 10)
	ended = make(chan bool, 2)
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return NewOutlet(server, func(clean bool) { _ = server.Close(); ended <- clean }), client, ended
}

func frames(n, size int, at Position) (list []Frame) {
	for i := range n {
		list = append(list, Frame{Bytes: bytes.Repeat([]byte{'a' + byte(i%26)}, size), At: at + Position(i)})
	}
	return list
}

func TestEverythingIsWrittenInOrder(t *testing.T) {
	o, client, ended := pair(t)
	want := []byte{}
	for i := range 200 {
		some := frames(3, 1000+i, 0)
		for _, f := range some {
			want = append(want, f.Bytes...)
		}
		if err := o.Send(some...); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		waitEmpty(o)
		o.End(func(*Position) []byte { return []byte("bye") })
	}()
	got, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(got, append(want, "bye"...)) {
		t.Errorf("got %d bytes of %d, %v", len(got), len(want), err)
	}
	if !<-ended {
		t.Error("it did not end clean")
	}
}

func waitEmpty(o *Outlet) {
	for {
		o.lock.Lock()
		empty := !o.draining
		o.lock.Unlock()
		if empty {
			return
		}
		runtime.Gosched()
	}
}

// Who does not read is refused more, keeps no more than the limit, and is told where to go on.
func TestAFullOutletSaysFromWhere(t *testing.T) {
	o, client, ended := pair(t)
	at, sent := Position(1), 0
	for {
		err := o.Send(frames(10, 2000, at)...)
		if errors.Is(err, ErrSlow) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		at, sent = at+10, sent+10
	}
	if o.bytes > outletLimit {
		t.Errorf("%d bytes wait", o.bytes)
	}
	resume := Position(-1)
	o.End(func(unsent *Position) []byte { resume = *unsent; return []byte("bye") })
	got, err := io.ReadAll(client)
	whole := int(resume) // positions begin with 1
	if err != nil || len(got) != whole*2000+3 || string(got[len(got)-3:]) != "bye" {
		t.Errorf("%d bytes, resume after %d, %v", len(got), resume, err)
	}
	if !<-ended || o.Send(Frame{Bytes: []byte("x")}) != ErrGone { //nolint:errorlint // it is itself
		t.Error("it goes on")
	}
}

func TestAConnectionThatFailsEndsOnce(t *testing.T) {
	o, client, ended := pair(t)
	_ = client.(*net.TCPConn).SetLinger(0)
	_ = client.Close()
	err := error(nil)
	for err == nil {
		err = o.Send(frames(1, 2000, 0)...)
	}
	if <-ended {
		t.Error("it ended clean")
	}
	o.Fail()
	o.End(func(*Position) []byte { return nil })
	select {
	case <-ended:
		t.Error("it ended twice")
	default:
	}
}

// The writer of a connection that takes nothing gives up after a while.
func TestAStuckWriteIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		ended := make(chan bool, 1)
		o := NewOutlet(server, func(clean bool) { _ = server.Close(); ended <- clean })
		begun := time.Now()
		if err := o.Send(Frame{Bytes: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if clean := <-ended; clean || time.Since(begun) != writeTime {
			t.Errorf("after %v: %v", time.Since(begun), clean)
		}
		_ = client.Close()
	})
}
