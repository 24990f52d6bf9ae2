package server_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
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
func settle(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			t.Fatalf("%d goroutines, %d before\n%.4000s", runtime.NumGoroutine(), before, stacks)
		}
		<-time.After(10 * time.Millisecond) // the others need the processors
	}
}

// Not parallel: it counts the goroutines of the process.
func TestAThousandSocketsLeaveNothingBehind(t *testing.T) {
	w := start(t)
	impatient := &world{t: t, db: w.db, url: w.serve(func(c *server.Config) { c.KeepAlive = 2 * time.Second })}
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
	settle(t, before)
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
		text := slow.heard(patience)
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
		quick.events(200) // while the slow one has read next to nothing
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

// With several subscriptions on a socket no one cursor leads on from all of them.
func TestASlowSocketOfSeveralNamesNoCursor(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "x")
	long := `subscription { proposalEvents { cursor type status proposalId proposal { ` + many("f", "fingerprint", 50) + ` } } }`
	slow, quick := maria.socket(), maria.follows(nil)
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	slow.subscribe("1", long, nil)
	slow.subscribe("2", streamed, nil)
	slow.settled()
	for range 10 {
		w.churn(200)
		quick.events(200)
	}
	for more := true; more; {
		more = slow.heard(patience) != ""
	}
	if slow.code != 1013 || slow.why != "Too slow" {
		t.Errorf("it was closed with %d %q", slow.code, slow.why)
	}
}

// What is made for one credential is bounded, over all its connections.
func TestHowMuchACredentialMayFollow(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, other := w.signIn("maria@harbor.example"), w.signIn("maria@harbor.example")
	one, two, others := maria.socket(), maria.socket(), other.socket()
	different := func(i int) string { return `subscription { proposalEvents { ` + many("c", "cursor", i+1) + `} }` }
	for i := range 50 {
		one.subscribe(name(i), different(i), nil)
	}
	one.settled()
	refused := func(s *wire, query, limit string) {
		t.Helper()
		s.subscribe("more", query, nil)
		if text := s.heard(patience); !strings.Contains(text, `"LIMIT_EXCEEDED"`) || !strings.Contains(text, limit) {
			t.Errorf("answered %s", text)
		}
	}
	refused(two, different(50), "different subscriptions")
	two.subscribe("the same", different(3), nil)
	two.settled()
	one.say(`{"type":"complete","id":"` + name(1) + `"}`)
	one.settled()
	two.subscribe("another", different(50), nil)
	two.settled()
	dear := func(i int) string {
		return `subscription { proposalEvents { ` + many("c", "cursor", i+1) + ` proposal { summary { records(first: 40) { edges { node { changes { field label type from { text } to { text } } } } } } } } }`
	}
	refusals := 0
	for i := range 10 {
		others.subscribe(name(i), dear(i), nil)
		others.say(`{"type":"ping"}`)
		for text := ""; text != `{"type":"pong"}`; {
			if text = others.heard(patience); strings.Contains(text, "all that one credential follows") {
				refusals++
			} else if text != `{"type":"pong"}` {
				t.Fatalf("answered %s", text)
			}
		}
	}
	if refusals == 0 || refusals == 10 {
		t.Errorf("%d of 10 dear ones were refused", refusals)
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
	w := &world{t: t, db: pgtest.New(t)}
	s, url := w.launch()
	w.url = url
	maria := w.signIn("maria@harbor.example")
	socket, unsubscribed, greeted, stream := maria.follows(nil), maria.socket(), w.upgrade(), maria.stream(streamed, nil)
	idle := maria.stream(streamed, vars{"filter": vars{"entity": []string{"none"}}})
	maria.rename("4", "x")
	socket.event()
	stream.next("event: next")
	s.SayGoodbye()
	for _, one := range []*wire{socket, unsubscribed, greeted} {
		one.closes(1012)
	}
	stream.goodbye()
	_, cursor, _ := strings.Cut(idle.next(":\nid: "), "id: ")
	idle.goodbye()

	// All else is answered as before, and who comes now hears the same.
	maria.rename("5", "y")
	w.upgrade("Authorization: Bearer " + maria.token).closes(1012)
	maria.stream(streamed, nil).goodbye()
	maria.stream(streamed, vars{"after": maria.feedCursor()}).goodbye()
	s.SayGoodbye()

	// A browser that was told nothing misses nothing.
	elsewhere := (&client{w: w, url: w.serve(), token: maria.token}).stream(streamed, nil, "Last-Event-ID: "+strings.TrimSpace(cursor))
	for range 2 {
		elsewhere.next("event: next")
	}
}

// Over HTTP/2 nothing is taken from the HTTP server, which then waits for what is under way.
func TestEventsOverHTTP2(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	s, url := w.launch()
	w.url = url
	maria := w.signIn("maria@harbor.example")
	h := httptest.NewUnstartedServer(s.Handler)
	h.EnableHTTP2 = true
	h.StartTLS()
	defer h.Close()
	secure := &client{w: w, url: h.URL, token: maria.token, http: h.Client()}
	one, other := secure.stream(streamed, nil), secure.stream(streamed, nil)
	for _, stream := range []*stream{one, other} {
		if stream.res.ProtoMajor != 2 {
			t.Errorf("answered by %s", stream.res.Proto)
		}
		stream.next(":\nid: ")
	}
	id, _ := maria.rename("4", "x")
	for _, stream := range []*stream{one, other} {
		if block := stream.next("event: next"); !strings.Contains(block, id) {
			t.Errorf("told %q", block)
		}
	}
	_ = other.res.Body.Close()
	s.SayGoodbye()
	one.goodbye()
	if err := h.Config.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Those who are just coming are told too, wherever the goodbye finds them.
func TestAGoodbyeReachesWhoIsJustComing(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	s, url := w.launch()
	w.url = url
	maria := w.signIn("maria@harbor.example")
	before := maria.feedCursor()
	var coming, ended sync.WaitGroup
	for i := range 60 {
		coming.Add(1)
		ended.Go(func() {
			after := vars{}
			if i%4 > 1 {
				after["after"] = before
			}
			if i%2 == 0 {
				coming.Done()
				maria.stream(streamed, after).goodbye()
				return
			}
			socket := w.upgrade()
			coming.Done()
			socket.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + maria.token + `"}}`)
			socket.subscribe("1", streamed, after)
			if text := socket.heard(patience); text == `{"type":"connection_ack"}` {
				text = socket.heard(patience)
				if text != "" {
					t.Errorf("a socket heard %s", text)
				}
			}
			if socket.code != 1012 {
				t.Errorf("a socket was closed with %d %q", socket.code, socket.why)
			}
		})
	}
	coming.Wait()
	s.SayGoodbye()
	ended.Wait()
}

// goodbye wants the stream to end, and its client to come back.
func (s *stream) goodbye() {
	s.t.Helper()
	rest := s.rest()
	if strings.HasPrefix(rest, ":\nid: ") { // the greeting
		_, rest, _ = strings.Cut(rest, "\n\n")
	}
	if s.res.StatusCode != http.StatusOK || !strings.HasPrefix(rest, "retry: ") || strings.Contains(rest, "event: ") {
		s.t.Errorf("the stream ended with %d %q", s.res.StatusCode, rest)
	}
}
