package gate

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// sweep is the longest that a lapsed proposal waits to be stored as EXPIRED where no timer woke. Reads
// and decisions say EXPIRED in any case.
const sweep = 30 * time.Second

// Expire stores EXPIRED, with its event, for everything that has lapsed in any workspace. What a
// decision holds is passed over: it sees the time for itself. One that cannot be stored keeps none of the
// others back. Several servers may do it at once.
func (g *Gate) Expire(ctx context.Context) error {
	for {
		list, err := g.queries.Lapsed(ctx, g.pools.Worker, lapsedAtOnce)
		if err != nil {
			return err
		}
		stored := 0
		var failed error
		for _, one := range list {
			done, err := g.expire(ctx, one.WorkspaceID, one.ID)
			failed = errors.Join(failed, err)
			if done {
				stored++
			}
		}
		if stored > 0 {
			g.tell(failpoint.In(ctx, failpoint.Expire))
		}
		if stored == 0 || failed != nil || len(list) < lapsedAtOnce {
			return failed
		}
	}
}

const lapsedAtOnce = 100

// expire stores one, in a transaction of its own; false where someone else does.
func (g *Gate) expire(ctx context.Context, workspace id.Workspace, which id.Proposal) (bool, error) {
	ctx = failpoint.In(ctx, failpoint.Expire)
	done := false
	err := pgx.BeginFunc(ctx, g.pools.Worker, func(tx pgx.Tx) error {
		if err := failpoint.Hit(ctx, failpoint.Locking); err != nil {
			return err
		}
		if err := postgres.Enter(ctx, tx, workspace); err != nil {
			return err
		}
		p, err := g.queries.LockLapsed(ctx, tx, which)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		} else if err != nil {
			return err
		}
		if err := failpoint.Hit(ctx, failpoint.Locked); err != nil {
			return err
		}
		operation := string(p.Operation)
		err = g.queries.RecordExpiry(ctx, tx, sqlc.RecordExpiryParams{ID: p.ID, WorkspaceID: p.WorkspaceID, At: p.ExpiresAt, Fingerprint: &p.Fingerprint,
			EventID: id.NewEvent(), AuditID: id.NewAudit(), Tool: &p.Tool, Entity: &p.Entity, Operation: &operation})
		if err == nil {
			err = failpoint.Hit(ctx, failpoint.Decided)
		}
		if err != nil {
			return err
		}
		rows, err := g.queries.SetExpired(ctx, tx, sqlc.SetExpiredParams{ID: p.ID, LockedStatus: p.Status})
		done = rows == 1
		if err == nil {
			err = failpoint.Hit(ctx, failpoint.Moved)
		}
		if err == nil {
			err = failpoint.Hit(ctx, failpoint.Committing)
		}
		return err
	})
	if err == nil && done {
		err = failpoint.Hit(ctx, failpoint.Committed)
	}
	return done, err
}

// Run stores expiries as they fall due, until ctx ends.
func (g *Gate) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := sweep // also after an error, which is then not met again at once
		if err := g.Expire(ctx); err == nil {
			next = g.untilNext(ctx)
		} else if ctx.Err() == nil {
			g.log.ErrorContext(ctx, "what has expired could not be stored", "error", err)
		}
		timer.Reset(next)
	}
}

func (g *Gate) untilNext(ctx context.Context) time.Duration {
	seconds, err := g.queries.NextExpiry(ctx, g.pools.Worker)
	if err != nil || seconds < 0 {
		return sweep
	}
	return min(sweep, max(50*time.Millisecond, time.Duration(seconds*float64(time.Second))))
}
