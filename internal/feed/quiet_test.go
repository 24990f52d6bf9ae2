package feed_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/postgres"
)

// statements remembers the last one with a word in it.
type statements struct {
	word string
	mu   sync.Mutex
	sql  string
	args []any
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(d.SQL, s.word) {
		s.sql, s.args = d.SQL, d.Args
	}
}

// Whoever has nothing new reads nothing, however much happens elsewhere: seen in the plan that the reader's pool
// has, also where its table was one workspace's when it was last looked at.
func TestAQuietWorkspaceReadsNothingOfTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := &statements{word: "name: FeedSince"}
	pools, err := postgres.OpenPools(t.Context(), w.db.OwnerURL, func(string) string { return "" }, seen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pools.Close)
	f := w.run(w.db.Pools)
	w.many(w.proposal(w.other, 0), 20_000)
	w.drained(f)
	if _, err := w.db.Owner.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	db := postgres.As(pools.Reader, w.mill)
	if items, err := f.Since(t.Context(), db, 1, 100); err != nil || len(items) > 0 {
		t.Fatalf("read %d, %v", len(items), err)
	}
	rows, err := db.Query(t.Context(), "EXPLAIN (ANALYZE, TIMING off, SUMMARY off) "+seen.sql, seen.args...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Removed by Filter") || !strings.Contains(text, "on feed f") {
		t.Errorf("%v\n%s", err, text)
	}
}

// What is asked for clients waits for none of the connections that the background has.
func TestTheHeadIsReadWhileTheWorkerIsBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := feed.New(w.db.Pools.Worker, w.db.Pools.Dial, nil)
	f.ReadBy(w.db.Pools.Reader)
	for range w.db.Pools.Worker.Config().MaxConns {
		conn, err := w.db.Pools.Worker.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := f.Head(ctx, w.mill); err != nil {
		t.Error(err)
	}
}
