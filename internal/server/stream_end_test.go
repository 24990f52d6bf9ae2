package server_test

import (
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// crowd is many sockets of a few tokens, one subscription each.
func (w *world) crowd(n int) []*wire {
	w.t.Helper()
	sockets := make([]*wire, n)
	c := (*client)(nil)
	for i := range sockets {
		if i%100 == 0 {
			c = w.as(w.db.APIToken(w.t, "maria@harbor.example", "subscribe"))
		}
		sockets[i] = c.follows(nil)
	}
	return sockets
}

// settle waits until there are no more goroutines than before, or fails.
func settle(t *testing.T, before int, within time.Duration) {
	t.Helper()
	deadline := time.Now().Add(within)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			t.Fatalf("%d goroutines, %d before\n%.4000s", runtime.NumGoroutine(), before, stacks)
		}
		runtime.Gosched()
	}
}

// Not parallel: it counts the goroutines of the process.
func TestAThousandSocketsLeaveNothingBehind(t *testing.T) {
	w := start(t)
	impatient := &world{t: t, db: w.db, url: w.serve(func(c *server.Config) { c.KeepAlive = time.Second })}
	maria := w.signIn("maria@harbor.example")
	maria.follows(nil).conn.Close()    //nolint:errcheck // so that what starts once has started
	impatient.crowd(1)[0].conn.Close() //nolint:errcheck // the same
	before := runtime.NumGoroutine() + 15
	sockets := w.crowd(700)
	if n := runtime.NumGoroutine(); n < before+600 || n > before+800 {
		t.Errorf("%d goroutines for 700 sockets, %d before", n, before)
	}
	maria.rename("4", "x")
	for i, s := range sockets {
		s.event()
		if i%2 == 0 {
			s.frame(0x88, []byte{3, 232})
			s.closes(1000)
		} else {
			_ = s.conn.(*net.TCPConn).SetLinger(0) // a reset
		}
		_ = s.conn.Close()
	}
	impatient.crowd(300) // which say nothing more, not even that they are alive
	settle(t, before, 30*time.Second)
}

// A follower that stops reading is let go, with the cursor from which to go on, and holds up nobody.
func TestASlowFollowerHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "x")
	long := `subscription { proposalEvents { cursor type status proposalId proposal { ` + many("f", "fingerprint", 50) + ` } } }`
	slow := maria.socket()
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	slow.subscribe("1", long, nil)
	slow.settled()
	quick := maria.follows(nil)
	last, n := "", 0
	read := func() bool {
		text := slow.heard(5 * time.Second)
		if text == "" {
			return false
		}
		_, rest, _ := strings.Cut(text, `"cursor":"`)
		last, _, _ = strings.Cut(rest, `"`)
		n++
		return true
	}
	for range 10 {
		w.churn(200)
		begun := time.Now()
		quick.events(200)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the quick one waited for %v", took)
		}
		read()
	}
	for read() {
	}
	if slow.code != 1013 || !strings.HasSuffix(slow.why, ": resume after "+last) {
		t.Fatalf("after %d events up to %s it was closed with %d %q", n, last, slow.code, slow.why)
	}
	if again := maria.follows(vars{"after": last}).events(2000 - n); again[0].Cursor == last {
		t.Error("it was told again what it knew")
	}
}

func many(alias, field string, n int) string {
	b := strings.Builder{}
	for i := range n {
		b.WriteString(alias + strings.Repeat("x", i) + ": " + field + " ")
	}
	return b.String()
}

// When a server goes away its streams end at once, so that clients come back to another.
func TestAServerThatGoesSaysGoodbye(t *testing.T) {
	t.Parallel()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: pgtest.New(t)}
	s, err := server.New(t.Context(), server.Config{OwnerURL: w.db.OwnerURL, Registry: yaml, CookieName: "countersign", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler)
	defer h.Close()
	w.url = h.URL
	maria := w.signIn("maria@harbor.example")
	socket, stream := maria.follows(nil), maria.stream(streamed, nil)
	stream.next(":")
	begun := time.Now()
	s.Close()
	socket.closes(1012)
	if rest := stream.rest(); !strings.HasPrefix(rest, "retry: ") {
		t.Errorf("the stream ended with %q", rest)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
