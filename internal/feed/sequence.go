package feed

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/sqlc"
)

const (
	// batch is the most events that get their positions in one transaction.
	batch = 1000
	// idle is the longest that an event waits for its position where nobody woke: its server died after the
	// commit, say.
	idle = 250 * time.Millisecond
	// answerWithin is how long the database may take over one batch before its connection is given up.
	answerWithin = 30 * time.Second
)

// sequence gives positions until ctx ends or the database does not answer. It has a connection of its own
// all the while, so that nobody who reads makes it wait for one.
func (f *Feed) sequence(ctx context.Context, works func()) error {
	defer f.look(ctx, false) // it ends where the database fails it
	conn, err := f.worker.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	known := &horizon{}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		more, err := f.step(ctx, conn, known)
		if err != nil {
			return err
		}
		works()
		f.look(ctx, !more)
		if more {
			continue
		}
		timer.Reset(idle)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.woken:
		case <-timer.C:
		}
	}
}

// look says where events have waited for long.
func (f *Feed) look(ctx context.Context, empty bool) {
	late, over := f.backlog.look(time.Now(), empty)
	if late > 0 {
		f.log.WarnContext(ctx, "the feed has not caught up for a while: followers wait for events", "for", late.Round(time.Second).String(), "lock_held_by_pid", f.holder(ctx))
	}
	if over {
		f.log.InfoContext(ctx, "the feed has caught up")
	}
}

// holder is the database's process that keeps positions from being given, another server's sequencer mostly; 0
// where there is none, or it is not known.
func (f *Feed) holder(ctx context.Context) int32 {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	pid, _ := f.queries.FeedHolder(ctx, f.worker) // the warning is said without it
	return pid
}

// step gives one batch of events their positions; true where there may be more of them.
func (f *Feed) step(ctx context.Context, conn *pgxpool.Conn, known *horizon) (more bool, err error) {
	ctx, cancel := context.WithTimeout(failpoint.In(ctx, failpoint.Feed), answerWithin)
	defer cancel()
	if known.due(time.Now()) {
		writers, err := f.queries.FeedWriters(ctx, conn)
		if err != nil {
			return false, err
		}
		known.look(writers)
	}
	if err := failpoint.Hit(ctx, failpoint.Sequencing); err != nil {
		return false, err
	}
	done, err := f.queries.SequenceFeed(ctx, conn, sqlc.SequenceFeedParams{Above: known.from(time.Now()), Most: batch})
	if err == nil && done.Taken > 0 {
		err = failpoint.Hit(ctx, failpoint.Sequenced)
	}
	if err != nil {
		return false, err
	}
	more = done.Taken == batch
	known.took(done.Top, !more)
	f.reached(Position(done.Head))
	return more, nil
}
