package server_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const streamed = `subscription($after: String, $filter: ProposalFilter) { proposalEvents(after: $after, filter: $filter) { cursor type status proposalId } }`

// patience is how long a test waits for what has to come. It is no claim about how long that takes.
const patience = time.Minute

// wire is a WebSocket of a client's that speaks in frames.
type wire struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	code int // what the server closed with
	why  string
}

// upgrade opens a socket with these headers, "Name: value" each.
func (w *world) upgrade(headers ...string) *wire {
	w.t.Helper()
	s, status := w.upgraded(append(headers, "Sec-WebSocket-Protocol: graphql-transport-ws")...)
	if status != http.StatusSwitchingProtocols {
		w.t.Fatalf("the upgrade was answered %d", status)
	}
	return s
}

func (w *world) upgraded(headers ...string) (*wire, int) {
	w.t.Helper()
	at := strings.TrimPrefix(w.url, "http://")
	conn, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	head := "GET /graphql HTTP/1.1\r\nHost: " + at + "\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
		base64.StdEncoding.EncodeToString([]byte("0123456789abcdef")) + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	_, _ = io.WriteString(conn, head+"\r\n")
	s := &wire{t: w.t, conn: conn, in: bufio.NewReaderSize(conn, 512)}
	res, err := http.ReadResponse(s.in, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s, res.StatusCode
}

// socket is an open one, acknowledged.
func (c *client) socket() *wire {
	c.w.t.Helper()
	s := c.w.upgrade()
	s.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + c.token + `"}}`)
	s.hears(`{"type":"connection_ack"}`)
	return s
}

// follows is an open socket with one subscription, "1".
func (c *client) follows(v vars) *wire {
	c.w.t.Helper()
	s := c.socket()
	s.subscribe("1", streamed, v)
	s.settled()
	return s
}

func (s *wire) subscribe(id, query string, v vars) {
	b, _ := json.Marshal(vars{"id": id, "type": "subscribe", "payload": vars{"query": query, "variables": v}})
	s.say(string(b))
}

// settled returns when the server has done what it was asked so far.
func (s *wire) settled() {
	s.t.Helper()
	s.say(`{"type":"ping"}`)
	s.hears(`{"type":"pong"}`)
}

func (s *wire) say(text string) { s.frame(0x81, []byte(text)) }

// frame sends one, with a mask of zeros.
func (s *wire) frame(first byte, payload []byte) {
	b := []byte{first, 0x80 | byte(len(payload))}
	switch n := len(payload); {
	case n >= 1<<16:
		b = binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, uint64(n))
	case n >= 126:
		b = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(n))
	}
	_, _ = s.conn.Write(append(append(b, 0, 0, 0, 0), payload...))
}

// heard gives the next text, "" where the connection has ended, with the code and reason of its close frame.
func (s *wire) heard(within time.Duration) string {
	_ = s.conn.SetReadDeadline(time.Now().Add(within))
	for {
		head := [2]byte{}
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return ""
		}
		size := int(head[1])
		switch size {
		case 126:
			b := [2]byte{}
			_, _ = io.ReadFull(s.in, b[:])
			size = int(binary.BigEndian.Uint16(b[:]))
		case 127:
			b := [8]byte{}
			_, _ = io.ReadFull(s.in, b[:])
			size = int(binary.BigEndian.Uint64(b[:]))
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(s.in, payload); err != nil {
			return ""
		}
		switch head[0] & 0x0F {
		case 1:
			return string(payload)
		case 8:
			if size >= 2 {
				s.code, s.why = int(binary.BigEndian.Uint16(payload)), string(payload[2:])
			}
			return ""
		case 9:
			s.frame(0x8A, payload)
		}
	}
}

func (s *wire) hears(want string) {
	s.t.Helper()
	if got := s.heard(patience); got != want {
		s.t.Fatalf("heard %s (%d %s), want %s", got, s.code, s.why, want)
	}
}

// closes wants the server to close with a code, and to say nothing before.
func (s *wire) closes(code int) {
	s.t.Helper()
	if text := s.heard(patience); text != "" || s.code != code {
		s.t.Errorf("closed with %d %q after %q, want %d", s.code, s.why, text, code)
	}
}

// signOut ends a client's sign-in.
func (c *client) signOut() {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodDelete, c.url+"/session", nil)
	if err != nil {
		c.w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode >= 300 {
		c.w.t.Fatalf("sign out: %v %v", res, err)
	}
	_ = res.Body.Close()
}

// told is an event as a follower is told it.
type told struct{ Cursor, Type, Status, ProposalID string }

func (s *wire) event() told {
	s.t.Helper()
	text := s.heard(patience)
	m := struct {
		ID, Type string
		Payload  struct {
			Data struct{ ProposalEvents told }
		}
	}{}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Type != "next" || m.Payload.Data.ProposalEvents.Cursor == "" {
		s.t.Fatalf("heard %s (%d %s), want an event", text, s.code, s.why)
	}
	return m.Payload.Data.ProposalEvents
}

func (s *wire) events(n int) []told {
	s.t.Helper()
	list := make([]told, n)
	for i := range list {
		list[i] = s.event()
	}
	return list
}

// quiet wants nothing to be told while something else goes on.
func (s *wire) quiet() {
	s.t.Helper()
	s.settled()
}

// churn writes events of the newest proposal straight into the database.
func (w *world) churn(n int) {
	w.t.Helper()
	w.exec(`INSERT INTO countersign.events (id, workspace_id, proposal_id, type, status)
		SELECT gen_random_uuid(), p.workspace_id, p.id, 'extended', 'pending' FROM countersign.proposals p, generate_series(1, $1)
		WHERE p.number = (SELECT max(number) FROM countersign.proposals)`, n)
}

func name(i int) string { return fmt.Sprintf("name %d", i) }
