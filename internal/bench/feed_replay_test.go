package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
)

const (
	replayed   = 100_000
	replayPage = 1000
)

// read is what reading all of the events one way took.
type read struct {
	name                   string
	took, server, database time.Duration // and of the CPU
}

// replay measures how fast one who comes late gets what happened since: as a follower, by pages of the query,
// and, to compare, as bare rows with what says who may see them, which this process reads itself.
func (s *stage) replay(b *testing.B) {
	s.begin(b)
	from := feed.Position(s.number(`SELECT max(position) FROM feed`))
	began := time.Now()
	s.exec(`WITH known AS (SELECT id, workspace_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS of FROM proposals)
		INSERT INTO events (id, workspace_id, proposal_id, type, status)
		SELECT gen_random_uuid(), p.workspace_id, p.id, 'extended', 'pending' FROM generate_series(1, $1) i JOIN known p ON p.place = i % p.of`, replayed)
	wrote := time.Since(began)
	s.placed(from)
	placed := time.Since(began) - wrote
	s.exec(`ANALYZE`)
	way := func(name string, all func(feed.Position) int) read {
		server, database, began := s.served.cpu(), s.databaseCPU(), time.Now()
		if n := all(from); n != replayed {
			b.Fatalf("%s: %d events of %d", name, n, replayed)
		}
		r := read{name: name, took: time.Since(began), server: s.served.cpu() - server}
		r.database = s.databaseCPU() - database
		return r
	}
	way("", s.byRows) // the first time is not like others
	s.served.call("Serving.Profile", "replay", new(int))
	reads := []read{way("one follower, from a cursor", s.byFollowing), way(fmt.Sprintf("the query, %d a page", replayPage), s.byPages)}
	s.served.call("Serving.Profile", "", new(int))
	s.printReplay(append(reads, way("the rows", s.byRows)), placed)
	b.ReportMetric(0, "ns/op")
}

// placed waits until the events that were written have their places.
func (s *stage) placed(after feed.Position) {
	s.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(4 * patience); time.Now().Before(until); <-look.C {
		if s.number(`SELECT count(*) FROM feed_queue`) == 0 && s.number(`SELECT count(*) FROM feed WHERE position > $1`, int64(after)) == replayed {
			return
		}
	}
	s.t.Fatal("the events have no places")
}

func (s *stage) byFollowing(from feed.Position) int {
	s.t.Helper()
	document := strings.Replace(followed, "proposalEvents", `proposalEvents(after: "`+from.Cursor()+`")`, 1)
	band := s.follow(s.address, document, 0, s.hellos[:1])
	s.told(band, replayed)
	s.leave(band)
	return replayed
}

func (s *stage) byPages(from feed.Position) (n int) {
	s.t.Helper()
	document := strings.TrimPrefix(followed, "subscription { proposalEvents ")
	document = fmt.Sprintf("query($after: String) { proposalEvents(after: $after, first: %d) { cursor pageInfo { hasNextPage } edges { node %s } } }", replayPage, strings.TrimSuffix(document, "}"))
	for cursor, more := from.Cursor(), true; more; {
		body := s.asks(document, map[string]any{"after": cursor})
		n += bytes.Count(body, []byte(`"proposalId"`))
		answer := struct {
			Data struct {
				ProposalEvents struct {
					Cursor   string
					PageInfo struct{ HasNextPage bool }
				}
			}
		}{}
		if err := json.Unmarshal(body, &answer); err != nil || answer.Data.ProposalEvents.Cursor == "" {
			s.t.Fatalf("%.200s %v", body, err)
		}
		cursor, more = answer.Data.ProposalEvents.Cursor, answer.Data.ProposalEvents.PageInfo.HasNextPage
	}
	return n
}

// asks gives what a query of the first follower is answered.
func (s *stage) asks(document string, variables map[string]any) []byte {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.address+"/graphql", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	hello := struct{ Authorization string }{}
	if err := json.Unmarshal([]byte(s.hellos[0]), &hello); err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", hello.Authorization)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	read, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	return read
}

func (s *stage) byRows(from feed.Position) (n int) {
	s.t.Helper()
	var workspace id.Workspace
	if err := s.db.Owner.QueryRow(s.t.Context(), `SELECT id FROM workspaces WHERE slug = 'harbor-mill'`).Scan(&workspace); err != nil {
		s.t.Fatal(err)
	}
	f := feed.New(s.db.Pools.Worker, nil, slog.New(slog.DiscardHandler))
	for {
		items, err := f.Since(s.t.Context(), postgres.As(s.db.Pools.Reader, workspace), from, replayPage)
		if err != nil {
			s.t.Fatal(err)
		}
		n += len(items)
		if len(items) < replayPage {
			return n
		}
		from = items[len(items)-1].Position
	}
}

func (s *stage) printReplay(reads []read, placed time.Duration) {
	out := os.Stdout
	_, _ = fmt.Fprintf(out, "\n\nOne who comes late reads %d events.\n%s\nThe rows are what both of the others read first, bare, in pages of %d. CPU is of an event.\n\n", replayed, s.headline(), replayPage)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tevents /s\tof the rows'\tCPU µs: server\tdatabase\t")
	rows := reads[len(reads)-1]
	for _, r := range reads {
		_, _ = fmt.Fprintf(table, "%s\t%.0f\t%.2f\t%.0f\t%.0f\t\n", r.name, replayed/r.took.Seconds(), rows.took.Seconds()/r.took.Seconds(),
			float64(r.server.Microseconds())/replayed, float64(r.database.Microseconds())/replayed)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(out, "\nAfter all of them committed at once, %.0f a second got their places.\n", replayed/placed.Seconds())
}
