package feed_test

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/feed"
)

// How long it takes for an event that has committed to be there for a reader of this server, alone and
// while someone else's transaction has kept 60 000 deleted rows in the queue.
func BenchmarkCommitToPosition(b *testing.B) {
	for name, open := range map[string]bool{"alone": false, "beside a stranger": true} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			f := w.run(w.db.Pools)
			p := w.proposal(w.mill, 0)
			if open {
				stranger, err := w.db.Owner.Begin(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = stranger.Rollback(b.Context()) }()
				if _, err := stranger.Exec(b.Context(), `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()`); err != nil {
					b.Fatal(err)
				}
				for range 60 {
					w.many(p, 1000)
					w.drained(f)
				}
			}
			took := make([]time.Duration, 0, b.N)
			for b.Loop() {
				tx := w.begin(w.mill)
				w.write(tx, w.mill, p)
				w.commit(tx)
				committed := time.Now()
				changed, _ := f.Changed()
				f.Wake()
				<-changed
				took = append(took, time.Since(committed))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}

// How many events a second get their positions, and are read.
func BenchmarkSequence(b *testing.B) {
	w := newWorld(b)
	p := w.proposal(w.mill, 0)
	const n = 50_000
	var sequenced, read time.Duration
	for b.Loop() {
		b.StopTimer()
		w.many(p, n)
		b.StartTimer()
		began := time.Now()
		f := w.run(w.db.Pools)
		w.drained(f)
		sequenced += time.Since(began)
		began = time.Now()
		for at, got := feed.Oldest, 0; got < n; {
			items := w.next(f, w.mill, at)
			got, at = got+len(items), items[len(items)-1].Position
		}
		read += time.Since(began)
	}
	b.ReportMetric(float64(n*b.N)/sequenced.Seconds(), "sequenced/s")
	b.ReportMetric(float64(n*b.N)/read.Seconds(), "read/s")
}

// drained returns when the queue is empty.
func (w *world) drained(f *feed.Feed) {
	for left := 1; left > 0; {
		changed, _ := f.Changed()
		f.Wake()
		w.scan(`SELECT count(*) FROM (SELECT FROM feed_queue LIMIT 1) AS one`, &left)
		if left > 0 {
			select {
			case <-changed:
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}
