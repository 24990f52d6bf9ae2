package server_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEveryFollowerIsToldEverythingInOneOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	one, two := maria.follows(nil), maria.follows(nil)
	auditor, other, elsewhere := w.signIn("sam@harbor.example").follows(nil), w.signIn("paolo@harbor.example").follows(nil), w.signIn("olu@othersite.example").follows(nil)
	onAnother := (&client{w: &world{t: t, db: w.db, url: w.serve()}, token: maria.token}).follows(nil)
	begun := maria.gql(`{ feedCursor }`, nil).text("feedCursor")
	for i := range 20 {
		id, fingerprint := maria.rename("4", name(i))
		if i%2 == 0 {
			maria.confirm(id, fingerprint)
		} else {
			maria.gql(reject, vars{"in": vars{"id": id}})
		}
	}
	all := one.events(40)
	for who, s := range map[string]*wire{"the second": two, "the auditor": auditor, "one of another server": onAnother} {
		if got := s.events(40); !slices.Equal(got, all) {
			t.Errorf("%s was told\n%v\nnot\n%v", who, got, all)
		}
	}
	other.quiet()
	elsewhere.quiet()
	replayed := maria.follows(vars{"after": begun})
	if got := replayed.events(40); !slices.Equal(got, all) {
		t.Errorf("replayed were\n%v\nnot\n%v", got, all)
	}
	rest := maria.follows(vars{"after": all[24].Cursor, "filter": vars{"status": []string{"APPLIED"}}})
	for _, e := range all[25:] {
		if e.Status == "APPLIED" {
			if got := rest.event(); got != e {
				t.Errorf("after a cursor came %v, not %v", got, e)
			}
		}
	}
	rest.quiet()
}

// While others write, a follower that goes and comes back with its cursor is told everything once.
func TestComingBackLeavesNoGapAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	steady := maria.follows(nil)
	maria.rename("4", "first")
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 30 {
			w.churn(100)
		}
	}()
	all := steady.events(1)
	got, after := []told{all[0]}, all[0].Cursor
	for len(got) < 3001 {
		s := maria.follows(vars{"after": after})
		got = append(got, s.events(min(230, 3001-len(got)))...)
		after = got[len(got)-1].Cursor
		_ = s.conn.Close()
	}
	<-written
	all = append(all, steady.events(3000)...)
	if !slices.Equal(got, all) {
		t.Error("who came back was told something else than who stayed")
	}
	if again := maria.follows(vars{"after": all[0].Cursor}).events(3000); !slices.Equal(again, all[1:]) {
		t.Error("all at once is something else than bit by bit")
	}
}

func TestACursorThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	s := maria.socket()
	for cursor, code := range map[string]string{"nonsense": "CURSOR_INVALID", "ZmVlZDo5OTk5OTk": "CURSOR_EXPIRED"} {
		s.subscribe("x", streamed, vars{"after": cursor})
		if text := s.heard(patience); !strings.Contains(text, `"type":"error"`) || !strings.Contains(text, `"id":"x"`) || !strings.Contains(text, code) {
			t.Errorf("after %s: %s", cursor, text)
		}
	}
	s.settled() // and no complete after the error
}

func TestTheProtocolsViolations(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	noScope := w.db.APIToken(t, "maria@harbor.example", "read")
	start := `{"type":"subscribe","id":"1","payload":{"query":"subscription { proposalEvents { type } }"}}`
	for _, c := range []struct {
		name string
		code int
		say  []string // after connection_init, unless the first is empty
	}{
		{"subscribe before init", 4401, []string{"", start}},
		{"no credential", 4401, []string{"", `{"type":"connection_init"}`}},
		{"a made-up token", 4401, []string{"", `{"type":"connection_init","payload":{"authorization":"Bearer csa_x"}}`}},
		{"not a bearer", 4401, []string{"", `{"type":"connection_init","payload":{"authorization":"` + maria.token + `"}}`}},
		{"no scope", 4403, []string{"", `{"type":"connection_init","payload":{"authorization":"Bearer ` + noScope + `"}}`}},
		{"two inits", 4429, []string{`{"type":"connection_init"}`}},
		{"no JSON", 4400, []string{`{"type":`}},
		{"more than JSON", 4400, []string{`{"type":"ping"} {}`}},
		{"an unknown type", 4400, []string{`{"type":"start","id":"1","payload":{"query":"{ viewer { role } }"}}`}},
		{"no type", 4400, []string{`{}`}},
		{"no id", 4400, []string{`{"type":"subscribe","payload":{"query":"{ viewer { role } }"}}`}},
		{"an id that is no text", 4400, []string{`{"type":"subscribe","id":1,"payload":{"query":"{ viewer { role } }"}}`}},
		{"no query", 4400, []string{`{"type":"subscribe","id":"1","payload":{}}`}},
		{"variables that are none", 4400, []string{`{"type":"subscribe","id":"1","payload":{"query":"{ viewer { role } }","variables":[]}}`}},
		{"a live id again", 4409, []string{start, start}},
		{"complete without an id", 4400, []string{`{"type":"complete"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := w.upgrade()
			s.t = t
			if c.say[0] != "" {
				s.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + maria.token + `"}}`)
				s.hears(`{"type":"connection_ack"}`)
			}
			for _, text := range c.say {
				if text != "" {
					s.say(text)
				}
			}
			s.closes(c.code)
		})
	}
	t.Run("another subprotocol", func(t *testing.T) {
		t.Parallel()
		for _, offered := range []string{"X-Nothing: 1", "Sec-WebSocket-Protocol: graphql-ws"} {
			s, status := w.upgraded(offered)
			if s.t = t; status != http.StatusSwitchingProtocols {
				t.Fatal(status)
			}
			s.closes(4406)
		}
	})
	t.Run("no init", func(t *testing.T) {
		t.Parallel()
		begun := time.Now()
		s := w.upgrade()
		if s.heard(patience); s.code != 4408 || time.Since(begun) < 9*time.Second {
			t.Errorf("closed with %d after %v", s.code, time.Since(begun))
		}
	})
	for name, f := range map[string]func(*wire){
		"1002 a frame without a mask": func(s *wire) { _, _ = s.conn.Write([]byte{0x81, 2, '{', '}'}) },
		"1002 a reserved bit":         func(s *wire) { s.frame(0xC1, []byte(`{}`)) },
		"1002 a lone continuation":    func(s *wire) { s.frame(0x80, []byte(`{}`)) },
		"1002 a long ping":            func(s *wire) { s.frame(0x89, make([]byte, 126)) },
		"1002 half a reason":          func(s *wire) { s.frame(0x88, []byte{3}) },
		"1003 binary":                 func(s *wire) { s.frame(0x82, []byte(`{}`)) },
		"1007 not UTF-8":              func(s *wire) { s.frame(0x81, []byte{0xFF}) },
		"1009 too much":               func(s *wire) { s.frame(0x81, make([]byte, 1<<20+1)) },
		"4400 fragments":              func(s *wire) { s.frame(0x01, []byte(`{"ty`)); s.frame(0x89, nil); s.frame(0x80, []byte(`pe":1}`)) },
		"4999 the client's goodbye":   func(s *wire) { s.frame(0x88, []byte{4999 >> 8, 4999 & 0xFF}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := maria.socket()
			s.t = t
			f(s)
			if s.heard(patience); !strings.HasPrefix(name, strconv.Itoa(s.code)) {
				t.Errorf("closed with %d %s", s.code, s.why)
			}
		})
	}
}
