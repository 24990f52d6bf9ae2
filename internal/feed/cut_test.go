package feed_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

// The connection is lost in the middle of a batch: before the database has heard of it, and after it
// committed without the sequencer's hearing so.
func TestASequencerCutInMidBatch(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]pgtest.Lost{"question": pgtest.Question, "answer": pgtest.Answer} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			wire := w.db.Wire(t, "countersign_worker")
			pools, err := postgres.OpenPools(t.Context(), wire.URL, func(string) string { return "" }, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pools.Close)
			p := w.proposal(w.mill, 0)
			var armed atomic.Bool
			cut := wire.Cut(func(sent []byte) bool { return armed.Load() && sent[0] == 'B' }, lost, nil)
			f := w.run(pools)
			first := w.only(f, w.mill, feed.Oldest, w.event(w.mill, p))
			second := w.event(w.mill, p)
			armed.Store(true)
			f.Wake()
			select {
			case <-cut:
			case <-time.After(patience):
				t.Fatal("the wire was not cut")
			}
			at := w.only(f, w.mill, first.Position, second)
			w.only(f, w.mill, at.Position, w.event(w.mill, p))
		})
	}
}

// Somebody else's transaction, which keeps vacuum from what was deleted and every horizon where it is.
func TestAStrangersTransactionDelaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Rollback(t.Context()) }()
	if _, err := stranger.Exec(t.Context(), `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	f := w.run(w.db.Pools)
	p := w.proposal(w.mill, 0)
	at := w.only(f, w.mill, feed.Oldest, w.event(w.mill, p)).Position
	for range 3 {
		w.many(p, 2000)
		for got := 0; got < 2000; {
			items := w.next(f, w.mill, at)
			got, at = got+len(items), items[len(items)-1].Position
		}
		e := w.event(w.mill, p)
		f.Wake()
		at = w.only(f, w.mill, at, e).Position
	}
}

// many writes n events of a proposal in one transaction.
func (w *world) many(p any, n int) {
	w.t.Helper()
	_, err := w.db.Owner.Exec(w.t.Context(), `INSERT INTO events (id, workspace_id, proposal_id, type, status) SELECT gen_random_uuid(), workspace_id, id, 'extended', 'pending' FROM proposals, generate_series(1, $2) WHERE id = $1`, p, n)
	if err != nil {
		w.t.Fatal(err)
	}
}
