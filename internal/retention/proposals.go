package retention

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// A transaction deletes so many proposals, and, but for a single one that has more, so many records of theirs:
// it holds its locks for a fraction of a second.
const proposalsAtOnce, recordsAtOnce = 200, 5000

// forgetProposals deletes a workspace's old ones, the oldest first, until no more are found that are free.
func (r *Retention) forgetProposals(ctx context.Context, workspace id.Workspace) (deleted int, err error) {
	passedOver := []uuid.UUID{}
	for {
		var found, held, done int
		err := r.inside(ctx, workspace, func(tx pgx.Tx) error {
			old, err := r.lock(ctx, tx, workspace, passedOver)
			if err != nil || len(old) == 0 {
				return err
			}
			free, taken, err := r.apart(ctx, tx, old)
			if err != nil {
				return err
			}
			found, held = len(old), len(taken)
			passedOver = append(passedOver, taken...)
			done, err = r.forget(ctx, tx, free)
			return err
		})
		deleted += done
		if err != nil || found == 0 || done+held == 0 {
			return deleted, err
		}
	}
}

// lock takes the next batch. Whoever decides on one of them holds it, and it is not waited for.
func (r *Retention) lock(ctx context.Context, tx pgx.Tx, workspace id.Workspace, passedOver []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := r.queries.LockOldProposals(ctx, tx, sqlc.LockOldProposalsParams{WorkspaceID: workspace, Days: r.days, PassedOver: passedOver, Most: proposalsAtOnce})
	if err != nil {
		return nil, err
	}
	var batch []uuid.UUID
	records := 0
	for _, row := range rows {
		if records += int(row.RecordCount); records > recordsAtOnce && len(batch) > 0 {
			break
		}
		batch = append(batch, row.ID.UUID())
	}
	return batch, nil
}

// apart tells those that can go at once from those that another proposal names which somebody holds.
func (r *Retention) apart(ctx context.Context, tx pgx.Tx, old []uuid.UUID) (free, taken []uuid.UUID, err error) {
	held, err := r.queries.HeldByReference(ctx, tx, old)
	if err != nil {
		return nil, nil, err
	}
	taken = id.UUIDs(held)
	return slices.DeleteFunc(old, func(one uuid.UUID) bool { return slices.Contains(taken, one) }), taken, nil
}

func (r *Retention) forget(ctx context.Context, tx pgx.Tx, proposals []uuid.UUID) (int, error) {
	if err := r.queries.AuditLapsed(ctx, tx, proposals); err != nil {
		return 0, err
	}
	deleted, err := r.queries.DeleteProposals(ctx, tx, proposals)
	return int(deleted), err
}
