// Package feed gives the events of proposals one order that never changes, and reads them in it.
//
// An event is written in the transaction of its deed, which also queues it and does nothing more. After the
// commit a sequencer moves it from the queue into the feed: its position there is its place for good. Every
// server runs one; they take turns. So a transaction that commits late gets a later position, and who reads
// on from a position misses nothing.
package feed

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/sqlc"
)

// Feed is the feed as one server has it. It is safe for use by many goroutines, and by many servers on one
// database.
type Feed struct {
	worker  *pgxpool.Pool
	reader  *pgxpool.Pool
	listen  func(context.Context) (*pgx.Conn, error)
	queries *sqlc.Queries
	log     *slog.Logger
	woken   chan struct{}
	backlog backlog // the sequencer's

	mu      sync.Mutex
	changed chan struct{}
	last    Position
}

// New makes a feed that does nothing by itself until Run. listen opens a connection of the listener's own, under
// the worker's login like the pool.
func New(worker *pgxpool.Pool, listen func(context.Context) (*pgx.Conn, error), log *slog.Logger) *Feed {
	return &Feed{worker: worker, reader: worker, listen: listen, queries: sqlc.New(), log: log, woken: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Run gives positions, and hears of those that other servers give, until ctx ends. Where the database goes
// away it goes on when it is back, and nothing is missed.
func (f *Feed) Run(ctx context.Context) {
	f.backlog.empty = time.Now()
	var running sync.WaitGroup
	running.Go(func() { f.keep(ctx, "the feed's sequencer", f.sequence) })
	running.Go(func() { f.keep(ctx, "the feed's listener", f.follow) })
	running.Wait()
}

// Wake says that an event has committed. It never waits. Nothing depends on it but how soon the event gets
// its position.
func (f *Feed) Wake() {
	select {
	case f.woken <- struct{}{}:
	default: // it will look again in any case
	}
}

// Changed gives the last position that this server knows of, in any workspace, and a channel that is closed
// when there is a later one. What has a position is there to be read.
func (f *Feed) Changed() (<-chan struct{}, Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed, f.last
}

// reached says that the feed has got to a position, or further.
func (f *Feed) reached(p Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p <= f.last {
		return
	}
	f.last = p
	close(f.changed)
	f.changed = make(chan struct{})
}

// The pause before something that broke off is done again.
const shortestPause, longestPause = 50 * time.Millisecond, 3 * time.Second

// keep does something again whenever it breaks off. It says so when that begins and when it works again.
func (f *Feed) keep(ctx context.Context, what string, do func(ctx context.Context, works func()) error) {
	pause := shortestPause
	for {
		err := do(ctx, func() {
			if pause > shortestPause {
				f.log.InfoContext(ctx, what+" works again")
			}
			pause = shortestPause
		})
		if ctx.Err() != nil {
			return
		}
		if pause == shortestPause {
			f.log.WarnContext(ctx, what+" broke off", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, longestPause)
	}
}
