package feed_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/postgres"
)

func TestAWorkspaceReadsItsOwnAndNoWorkspaceNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.run(w.db.Pools)
	w.only(f, w.mill, feed.Oldest, w.event(w.mill, w.proposal(w.mill, 0)))
	w.only(f, w.other, feed.Oldest, w.event(w.other, w.proposal(w.other, 0)))
	if items, err := f.Since(t.Context(), w.db.Pools.Reader, feed.Oldest, 10); err != nil || len(items) != 0 {
		t.Errorf("without a workspace: %+v, %v", items, err)
	}
	var rows int
	err := postgres.As(w.db.Pools.Reader, w.mill).QueryRow(t.Context(), `SELECT count(*) FROM feed`).Scan(&rows)
	if err != nil || rows != 1 {
		t.Errorf("the reader sees %d rows in one workspace, %v", rows, err)
	}
}

// What each login may do, seen by trying.
func TestOnlyTheWorkerSequences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.db.Pools
	pools := map[string]*pgxpool.Pool{"gate": p.Gate, "agent": p.Agent, "reader": p.Reader, "worker": p.Worker, "identity": p.Identity}
	for statement, allowed := range map[string]map[string]bool{
		`SELECT sequence_feed(0, 1)`: {"worker": true},
		`SELECT seq FROM feed_queue`: {"worker": true},
		`SELECT position FROM feed`:  {"worker": true, "reader": true},
		`INSERT INTO feed (event_id, workspace_id) SELECT NULL, NULL WHERE false`: {"worker": true},
		`INSERT INTO feed_queue (event_id) SELECT NULL WHERE false`:               {},
		`UPDATE feed SET workspace_id = NULL WHERE false`:                         {},
		`DELETE FROM feed WHERE false`:                                            {},
		`UPDATE feed_floor SET position = 0 WHERE false`:                          {},
		`TRUNCATE feed`: {},
	} {
		for login, pool := range pools {
			if _, err := pool.Exec(t.Context(), statement); (err == nil) != allowed[login] {
				t.Errorf("%s: %s: %v", login, statement, err)
			}
		}
	}
}

// The order does not change, whoever tries.
func TestThePlacesInTheFeedStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only(w.run(w.db.Pools), w.mill, feed.Oldest, w.event(w.mill, w.proposal(w.mill, 0)))
	for _, statement := range []string{`UPDATE feed SET workspace_id = workspace_id`, `TRUNCATE feed`} {
		if _, err := w.db.Owner.Exec(t.Context(), statement); err == nil {
			t.Errorf("the owner may %s", statement)
		}
	}
}
