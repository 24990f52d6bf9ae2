package feed_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
)

// events is how many the writers write together; make slow-feed asks for 100 000.
func events(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("COUNTERSIGN_FEED_EVENTS"))
	if err != nil && os.Getenv("COUNTERSIGN_FEED_EVENTS") != "" {
		t.Fatal(err)
	}
	if n == 0 {
		return 5000
	}
	return n
}

// history is what was written: the events of each proposal in their order.
type history struct {
	mu  sync.Mutex
	own map[id.Proposal][]id.Event
}

// write has n events written in overlapping transactions, some of which are rolled back and some of which
// dawdle before they commit. Whoever writes of a proposal holds its row.
func (h *history) write(ctx context.Context, w *world, proposals []id.Proposal, n int) error {
	for range n {
		p := proposals[rand.N(len(proposals))]
		for kept := false; !kept; {
			kept = rand.N(20) > 0
			err := pgx.BeginFunc(ctx, w.db.Pools.Gate, func(tx pgx.Tx) error { return h.deed(ctx, w, tx, p, kept) })
			if kept && err != nil {
				return err
			}
		}
	}
	return nil
}

var errRolledBack = errors.New("rolled back, as planned")

func (h *history) deed(ctx context.Context, w *world, tx pgx.Tx, p id.Proposal, kept bool) error {
	if err := postgres.Enter(ctx, tx, w.mill); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `SELECT FROM proposals WHERE id = $1 FOR UPDATE`, p); err != nil {
		return err
	}
	e := id.NewEvent()
	if _, err := tx.Exec(ctx, insertEvent, e, w.mill, p); err != nil {
		return err
	}
	if !kept {
		return errRolledBack
	}
	if rand.N(50) == 0 {
		if _, err := tx.Exec(ctx, `SELECT pg_sleep(0.02)`); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own[p] = append(h.own[p], e)
	return nil
}

// follow reads to the n-th event.
func follow(ctx context.Context, w *world, f *feed.Feed, n int) ([]feed.Item, error) {
	var all []feed.Item
	at := feed.Oldest
	for {
		changed, _ := f.Changed()
		items, err := f.Since(ctx, w.as(w.mill), at, 1+rand.N(300))
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(items) > 0 {
			at = items[len(items)-1].Position
			continue
		}
		if len(all) >= n {
			return all, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
}

// Eight writers, two servers, and their listeners and sequencers killed all the while: every reader has
// every event once, all in one order, each proposal's own in its own.
func TestEveryReaderHasEveryEventOnceInOneOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	feeds := []*feed.Feed{w.run(w.db.Pools), w.run(w.db.OpenPools(t))}
	proposals := make([]id.Proposal, 40)
	for i := range proposals {
		proposals[i] = w.proposal(w.mill, 0)
	}
	const writers = 8
	each := events(t) / writers
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(each)*20*time.Millisecond)
	defer cancel()

	written, seen := &history{own: map[id.Proposal][]id.Event{}}, make([][]feed.Item, 4)
	var writing, reading, killing sync.WaitGroup
	for i := range seen {
		reading.Go(func() {
			var err error
			if seen[i], err = follow(ctx, w, feeds[i%2], each*writers); err != nil {
				t.Errorf("reader %d, after %d events: %v", i, len(seen[i]), err)
			}
		})
	}
	killed := make(chan struct{})
	killing.Go(func() { w.kill(killed) })
	began := time.Now()
	for range writers {
		writing.Go(func() {
			if err := written.write(ctx, w, proposals, each); err != nil {
				t.Errorf("a writer: %v", err)
			}
			feeds[0].Wake()
		})
	}
	writing.Wait()
	t.Logf("%d events written in %s", each*writers, time.Since(began).Round(time.Millisecond))
	close(killed)
	killing.Wait()
	reading.Wait()
	again, err := follow(ctx, w, feeds[0], each*writers)
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if len(seen[i]) != len(again) || !slices.EqualFunc(seen[i], again, func(a, b feed.Item) bool { return a.Position == b.Position && a.Event == b.Event }) {
			t.Errorf("reader %d has %d events, not the %d in the order they have now", i, len(seen[i]), len(again))
		}
	}
	written.hold(t, again)
}

// hold compares what was written with what the feed says.
func (h *history) hold(t *testing.T, all []feed.Item) {
	t.Helper()
	told := map[id.Proposal][]id.Event{}
	for i, item := range all {
		if i > 0 && item.Position <= all[i-1].Position {
			t.Errorf("position %d follows %d", item.Position, all[i-1].Position)
		}
		told[item.Proposal] = append(told[item.Proposal], item.Event)
	}
	for p, events := range h.own {
		if !slices.Equal(events, told[p]) {
			t.Errorf("of %s the feed has %d events, not the %d in their order", p, len(told[p]), len(events))
		}
	}
	if len(told) != len(h.own) {
		t.Errorf("the feed has events of %d proposals, not %d", len(told), len(h.own))
	}
}

// kill ends a listener's or a worker's session, again and again.
func (w *world) kill(until <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-until:
			return
		case <-time.After(100 * time.Millisecond):
			w.cut([]string{"countersign listener", "countersign worker"}[i%2])
		}
	}
}
