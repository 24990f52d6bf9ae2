package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

// restartable is a world on a PostgreSQL of its own, which loses nothing where it is killed.
type restartable struct {
	*world
	options postgres.ClusterOptions
	cluster *postgres.Cluster
}

func startRestartable(t *testing.T) *restartable {
	t.Helper()
	r := &restartable{options: postgres.ClusterOptions{Data: t.TempDir()}}
	r.begin(t)
	t.Cleanup(func() { _ = r.cluster.Stop() })
	owner := r.cluster.URL("countersign_owner", postgres.Database)
	if err := postgres.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := demo.Load(t.Context(), r.cluster.URL(postgres.Superuser, postgres.Database)); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), owner+"&search_path=countersign&pool_max_conns=4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	r.world = &world{t: t, db: &pgtest.DB{OwnerURL: owner, Owner: pool}}
	r.url = r.serve()
	return r
}

func (r *restartable) begin(t *testing.T) {
	t.Helper()
	cluster, err := postgres.StartCluster(t.Context(), r.options)
	if err != nil {
		t.Fatal(err)
	}
	r.cluster = cluster
}

// restart ends the server by a signal, and starts it again.
func (r *restartable) restart(signal syscall.Signal) {
	r.t.Helper()
	file, err := os.ReadFile(filepath.Join(r.options.Data, "pgdata", "postmaster.pid"))
	if err != nil {
		r.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(line)
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	<-r.cluster.Done()
	_ = r.cluster.Stop()
	r.begin(r.t.(*testing.T))
}

// PostgreSQL is stopped, and killed, under two servers and those who follow them while others write. Everyone
// has every event once, in the one order: who was let go comes back with the cursor.
func TestPostgreSQLRestartsUnderFollowers(t *testing.T) {
	t.Parallel()
	r := startRestartable(t)
	maria := r.signIn("maria@harbor.example")
	second := &world{t: t, db: r.db, url: r.serve()}
	there := second.as(maria.token)
	maria.rename("4", "first")
	r.sequenced()
	from := maria.feedCursor()
	seen := make([][]told, 4)
	var following, writing sync.WaitGroup
	for i, follow := range []func(string) []told{maria.socketReturns, there.socketReturns, maria.streamReturns, there.streamReturns} {
		following.Go(func() { seen[i] = follow(from) })
	}
	written, enough := atomic.Int64{}, make(chan struct{})
	writing.Go(func() { r.writeOn(&written, enough) })
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		reaches(t, &written, int64(i+1)*50)
		r.restart(signal)
	}
	reaches(t, &written, written.Load()+50)
	close(enough)
	writing.Wait()
	last, _ := maria.rename("5", "last")
	following.Wait()

	r.sequenced()
	if events, placed := r.sql(`SELECT count(*) FROM events`), r.sql(`SELECT count(*) FROM feed`); events != placed {
		t.Errorf("%s of %s events have their position", placed, events)
	}
	want := r.cursorsAfter(from)
	t.Logf("%d events", len(want))
	for i := range seen {
		if !slices.Equal(cursorsOf(seen[i]), want) {
			t.Errorf("follower %d was told of %d events, not of the %d there are in their order", i, len(seen[i]), len(want))
		}
		if n := len(seen[i]); n > 0 && seen[i][n-1].ProposalID != last {
			t.Errorf("follower %d was last told of %+v", i, seen[i][n-1])
		}
	}
}

// reaches waits until a number is that high.
func reaches(t *testing.T, number *atomic.Int64, goal int64) {
	t.Helper()
	for late := time.After(patience); number.Load() < goal; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-late:
			t.Fatalf("%d is not %d", number.Load(), goal)
		}
	}
}

// writeOn writes events, each in a transaction of its own, wherever the database takes them.
func (r *restartable) writeOn(written *atomic.Int64, enough <-chan struct{}) {
	for {
		_, err := r.db.Owner.Exec(r.t.Context(), `INSERT INTO events (id, workspace_id, proposal_id, type, status)
			SELECT gen_random_uuid(), workspace_id, id, 'extended', 'pending' FROM proposals WHERE number = (SELECT max(number) FROM proposals)`)
		if err == nil {
			written.Add(1)
		}
		select {
		case <-enough:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (w *world) cursorsAfter(cursor string) (cursors []string) {
	w.t.Helper()
	after, err := feed.ParseCursor(cursor)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, position := range strings.Fields(w.sql(`SELECT string_agg(position::text, ' ' ORDER BY position) FROM feed WHERE position > $1`, int64(after))) {
		number, err := strconv.ParseInt(position, 10, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		cursors = append(cursors, feed.Position(number).Cursor())
	}
	return cursors
}

func cursorsOf(events []told) []string {
	cursors := make([]string, len(events))
	for i, e := range events {
		cursors[i] = e.Cursor
	}
	return cursors
}

// ends tells the last event of these tests: the proposal that is made then.
func (e told) ends() bool { return e.Type == "PROPOSED" }

// socketReturns follows over sockets until the end, and comes back with the last cursor where it is told to
// try again.
func (c *client) socketReturns(after string) (all []told) {
	for c.w.t.Context().Err() == nil {
		s, status := c.w.upgraded("Sec-WebSocket-Protocol: graphql-transport-ws")
		if status != http.StatusSwitchingProtocols {
			c.w.t.Errorf("an upgrade was answered %d", status)
			return all
		}
		s.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + c.token + `"}}`)
		s.subscribe("1", streamed, vars{"after": after})
		for text := s.heard(patience); text != ""; text = s.heard(patience) {
			if strings.Contains(text, `"type":"error"`) && strings.Contains(text, `"UNAVAILABLE"`) {
				s.code = 1013
				break
			}
			e, is := eventIn(text)
			if !is {
				continue
			}
			if all, after = append(all, e), e.Cursor; e.ends() {
				return all
			}
		}
		_ = s.conn.Close()
		if s.code != 1013 {
			c.w.t.Errorf("a socket was closed with %d %q", s.code, s.why)
			return all
		}
		<-time.After(50 * time.Millisecond)
	}
	return all
}

func eventIn(text string) (told, bool) {
	m := struct {
		Payload struct {
			Data struct{ ProposalEvents told }
		}
	}{}
	_ = json.Unmarshal([]byte(text), &m)
	return m.Payload.Data.ProposalEvents, m.Payload.Data.ProposalEvents.Cursor != ""
}

// streamReturns is the same over server-sent events.
func (c *client) streamReturns(after string) (all []told) {
	for c.w.t.Context().Err() == nil {
		s := c.stream(streamed, vars{"after": after})
		if code := s.res.StatusCode; code != http.StatusOK && code != http.StatusServiceUnavailable {
			c.w.t.Errorf("a stream was answered %d", code)
			return all
		}
		for {
			line, err := s.in.ReadString('\n')
			if err != nil {
				break
			}
			e, is := eventIn(`{"payload":` + strings.TrimPrefix(strings.TrimSpace(line), "data:") + `}`)
			if !is {
				continue
			}
			if all, after = append(all, e), e.Cursor; e.ends() {
				return all
			}
		}
		_ = s.res.Body.Close()
		<-time.After(50 * time.Millisecond)
	}
	return all
}
