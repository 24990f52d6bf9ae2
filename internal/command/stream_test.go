package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
)

// patience is how long a test waits for what has to come. It is no claim about how long that takes.
const patience = time.Minute

// stream is a follower over server-sent events.
type stream struct {
	t  *testing.T
	in *bufio.Scanner
}

// follows subscribes, after a cursor where there is one.
func (c *caller) follows(after ...string) *stream {
	c.t.Helper()
	variables := map[string]any{}
	if len(after) > 0 {
		variables["after"] = after[0]
	}
	body, err := json.Marshal(map[string]any{"query": `subscription($after: String) { proposalEvents(after: $after) { cursor type proposalId } }`, "variables": variables})
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.origin+"/graphql", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("a stream: %v, %v", response, err)
	}
	late := time.AfterFunc(patience, func() { _ = response.Body.Close() })
	c.t.Cleanup(func() { late.Stop(); _ = response.Body.Close() })
	return &stream{c.t, bufio.NewScanner(response.Body)}
}

// event gives the next event's cursor and the JSON of it.
func (s *stream) event() (cursor, data string) {
	s.t.Helper()
	for s.in.Scan() {
		if id, is := strings.CutPrefix(s.in.Text(), "id: "); is {
			cursor = id
		}
		if data, is := strings.CutPrefix(s.in.Text(), "data: "); is {
			return cursor, data
		}
	}
	s.t.Fatalf("the stream ended: %v", s.in.Err())
	return "", ""
}

func (s *stream) rest() (text string) {
	for s.in.Scan() {
		text += s.in.Text() + "\n"
	}
	return text
}

// upgrade opens a socket that has said nothing yet.
func (c *caller) upgrade() net.Conn {
	c.t.Helper()
	at := strings.TrimPrefix(c.origin, "http://")
	conn, err := (&net.Dialer{}).DialContext(c.t.Context(), "tcp", at)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(conn, "GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nAuthorization: Bearer %s\r\n\r\n", at, c.token)
	head := []byte{}
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one...) {
		if _, err := io.ReadFull(conn, one); err != nil {
			c.t.Fatalf("the upgrade was answered %q, %v", head, err)
		}
	}
	return conn
}

// Whoever follows a program that is told to stop hears of it, and does not keep it from stopping.
func TestAProgramThatStopsSaysGoodbye(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	data := t.TempDir()
	for name, start := range map[string]func() *program{
		"serve": func() *program { return serveOn(t, db.OwnerURL) },
		"demo":  func() *program { return serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0") },
	} {
		t.Run(name, func(t *testing.T) {
			p := start()
			maria := signIn(t, p.ready, "maria@harbor.example")
			followed, socket := maria.follows(), maria.upgrade()
			maria.rename("reviewer")
			followed.event()
			began := time.Now()
			if err := p.end(syscall.SIGTERM); err != nil {
				t.Errorf("SIGTERM: %v\n%s", err, p.wrong)
			}
			t.Logf("it took %v", time.Since(began))
			if rest := followed.rest(); !strings.HasPrefix(strings.TrimLeft(rest, "\n"), "retry: ") {
				t.Errorf("the stream ended with %q", rest)
			}
			if frames, _ := io.ReadAll(socket); !bytes.HasSuffix(frames, []byte("\x88\x11\x03\xf4Service restart")) {
				t.Errorf("the socket ended with %q", frames)
			}
		})
	}
}

const sequencing = `LOCK TABLE countersign.feed_restores IN EXCLUSIVE MODE`

// Two servers are about to give the same events their positions; one is killed, and dead while its part of
// the database goes on. Who follows the other has every event once.
func TestAServerKilledInMidBatch(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	first, second := serveOn(t, db.OwnerURL), serveOn(t, db.OwnerURL)
	maria := signIn(t, second.ready, "maria@harbor.example")
	follower := maria.follows()
	maria.rename("reviewer")
	start, _ := follower.event()
	tx, err := db.Owner.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), sequencing)
	}
	if err != nil {
		t.Fatal(err)
	}
	const events = 3000 // several batches
	churn(t, db.OwnerURL, events)
	pgtest.WaitBlocked(t, db, 2)
	_ = first.end(syscall.SIGKILL)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := follower.take(events)
	maria.rename("watcher")
	told = append(told, follower.take(1)...)
	if again := maria.follows(start).take(events + 1); strings.Join(again, "\n") != strings.Join(told, "\n") {
		t.Error("who reads again is told something else")
	}
}

// take gives the cursors of the next events, which may not repeat.
func (s *stream) take(n int) (cursors []string) {
	s.t.Helper()
	known := map[string]bool{}
	for range n {
		cursor, data := s.event()
		if known[cursor] {
			s.t.Errorf("told again: %s", data)
		}
		known[cursor] = true
		cursors = append(cursors, cursor)
	}
	return cursors
}

// churn writes events of the newest proposal in one transaction.
func churn(t *testing.T, url string, n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `INSERT INTO countersign.events (id, workspace_id, proposal_id, type, status)
		SELECT gen_random_uuid(), p.workspace_id, p.id, 'extended', 'pending' FROM countersign.proposals p, generate_series(1, $1)
		WHERE p.number = (SELECT max(number) FROM countersign.proposals)`, n); err != nil {
		t.Fatal(err)
	}
}
