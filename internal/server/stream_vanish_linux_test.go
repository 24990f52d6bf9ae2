package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/server"
)

// vanish makes a client's machine gone: it acknowledges nothing any more, refuses nothing, and says no
// goodbye.
func vanish(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	nothing := []syscall.SockFilter{{Code: syscall.BPF_RET | syscall.BPF_K}}
	if controlled := raw.Control(func(fd uintptr) { err = syscall.AttachLsf(int(fd), nothing) }); controlled != nil || err != nil { //nolint:staticcheck // the package that replaces it would be a dependency
		t.Fatal(controlled, err)
	}
}

// listens subscribes over server-sent events, on a connection of the test's own.
func (c *client) listens() net.Conn {
	c.w.t.Helper()
	at := strings.TrimPrefix(c.url, "http://")
	conn, err := (&net.Dialer{}).DialContext(c.w.t.Context(), "tcp", at)
	if err != nil {
		c.w.t.Fatal(err)
	}
	c.w.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(conn, "GET /graphql?query=%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n", url.QueryEscape(streamed), at, c.token)
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			c.w.t.Fatal(err)
		}
		if line == ":\n" {
			return conn
		}
	}
}

// Not parallel: it counts the goroutines of the process.
func TestWhoVanishesIsLetGo(t *testing.T) {
	w := start(t, func(c *server.Config) { c.KeepAlive = 2 * time.Second })
	maria := w.signIn("maria@harbor.example")
	maria.follows(nil).conn.Close() //nolint:errcheck // so that what starts once has started
	before := runtime.NumGoroutine() + 15
	var conns []net.Conn
	for range 40 {
		conns = append(conns, maria.follows(nil).conn, maria.listens())
	}
	if n := runtime.NumGoroutine(); n < before+20 { // the sockets of who does not answer may be closed already
		t.Errorf("%d goroutines for 80 streams, %d before", n, before)
	}
	for _, conn := range conns[:40] {
		vanish(t, conn)
	}
	maria.rename("4", "x") // which they are told, and never hear
	for _, conn := range conns[40:] {
		vanish(t, conn) // and these while nothing is told
	}
	settle(t, before)
}
