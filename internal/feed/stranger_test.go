package feed_test

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/postgres"
)

// Any login may notify whatever it likes, and lock what needs no right: it neither stops the feed nor makes it
// believe what is not so.
func TestAnyLoginsHintsAndLocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger, err := w.db.Pools.Identity.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Rollback(t.Context()) }()
	if _, err := stranger.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended('countersign feed', 0))`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Pools.Identity.Exec(t.Context(), `LOCK TABLE feed_restores IN ROW SHARE MODE`); err == nil {
		t.Error("any login may lock what the sequencer locks")
	}
	here, there := w.run(w.db.Pools), w.run(w.db.OpenPools(t))
	p := w.proposal(w.mill, 0)
	first := w.only(there, w.mill, feed.Oldest, w.event(w.mill, p))
	if _, err := w.db.Pools.Identity.Exec(t.Context(), `NOTIFY countersign_feed, '9000000000000000000'`); err != nil {
		t.Fatal(err)
	}
	at := first.Position
	for range 3 { // of which at least one comes after the lie was heard
		e := w.event(w.mill, p)
		here.Wake()
		at = w.only(there, w.mill, at, e).Position
		if _, last := there.Changed(); last > at {
			t.Errorf("the feed ends at %d, and it believes in %d", at, last)
		}
	}
}

// A backup knows nothing of what came after it. Whoever saw some of that is told, and is not led past what comes
// in its place.
func TestCursorsFromBeforeARestoreAreExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, at, cursors := w.proposal(w.mill, 0), feed.Oldest, []feed.Position{}
	f := w.run(w.db.Pools)
	for range 3 {
		at = w.only(f, w.mill, at, w.event(w.mill, p)).Position
		cursors = append(cursors, at)
	}
	for _, statement := range []string{
		`ALTER TABLE feed DISABLE TRIGGER USER`, `DELETE FROM feed WHERE position > (SELECT min(position) FROM feed)`, `ALTER TABLE feed ENABLE TRIGGER USER`,
		`SELECT setval('feed_position_seq', (SELECT max(position) FROM feed))`, `SELECT renew_feed()`,
	} {
		if _, err := w.db.Owner.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	restarted := w.run(w.db.OpenPools(t))
	if head, err := restarted.Head(t.Context(), w.mill); err != nil || head != cursors[0] {
		t.Errorf("the head is %d, %v", head, err)
	}
	for round := range 2 {
		for _, lost := range cursors[1:] {
			if items, err := restarted.Since(t.Context(), w.as(w.mill), lost, 10); !errors.Is(err, feed.ErrExpired) {
				t.Errorf("round %d, after what was lost: %d items, %v", round, len(items), err)
			}
		}
		e := w.event(w.mill, p)
		restarted.Wake()
		for {
			changed, _ := restarted.Changed()
			items, err := restarted.Since(t.Context(), w.as(w.mill), cursors[0], 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(items) == round+1 && items[round].Event == e {
				break
			}
			<-changed
		}
	}
	if _, err := postgres.As(w.db.Pools.Worker, w.mill).Exec(t.Context(), `SELECT renew_feed()`); err == nil {
		t.Error("the worker may renew the feed")
	}
}
