// Package retention deletes what is old: proposals that ended or lapsed more days ago than the registry says,
// with all that belongs to them, the rows of their tool calls, and what was used in months that no budget looks
// at. The audit trail stays. It works as the worker, whose policies let it delete nothing else.
package retention

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Retention keeps so many days.
type Retention struct {
	worker  *pgxpool.Pool
	days    int32
	queries *sqlc.Queries
	log     *slog.Logger
}

// New is to be given a number of days of at least one.
func New(worker *pgxpool.Pool, days int, log *slog.Logger) *Retention {
	return &Retention{worker: worker, days: int32(days), queries: sqlc.New(), log: log}
}

// Sweep deletes what is old in every workspace and answers how many proposals that were. What somebody holds, or
// another holds that names it, is passed over and left for the next time; so is a workspace that fails, which
// keeps none of the others back.
func (r *Retention) Sweep(ctx context.Context) (proposals int, err error) {
	workspaces, err := r.queries.AllWorkspaces(ctx, r.worker)
	if err != nil {
		return 0, err
	}
	for _, workspace := range workspaces {
		deleted, failed := r.sweep(ctx, workspace)
		proposals += deleted
		err = errors.Join(err, failed)
	}
	return proposals, err
}

// sweep: tool calls come after the proposals that they are about.
func (r *Retention) sweep(ctx context.Context, workspace id.Workspace) (proposals int, err error) {
	proposals, err = r.forgetProposals(ctx, workspace)
	if err != nil {
		return proposals, err
	}
	err = r.forgetRows(ctx, workspace, func(tx pgx.Tx) (int64, error) {
		return r.queries.DeleteOldToolCalls(ctx, tx, sqlc.DeleteOldToolCallsParams{WorkspaceID: workspace, Days: r.days, Most: rowsAtOnce})
	})
	if err != nil {
		return proposals, err
	}
	return proposals, r.forgetRows(ctx, workspace, func(tx pgx.Tx) (int64, error) {
		return r.queries.DeleteOldUsage(ctx, tx, sqlc.DeleteOldUsageParams{WorkspaceID: workspace, Most: rowsAtOnce})
	})
}

// rowsAtOnce is how many rows without children one transaction deletes.
const rowsAtOnce = 2000

// forgetRows deletes batches until one is not full.
func (r *Retention) forgetRows(ctx context.Context, workspace id.Workspace, forget func(pgx.Tx) (int64, error)) error {
	for deleted := int64(rowsAtOnce); deleted == rowsAtOnce; {
		err := r.inside(ctx, workspace, func(tx pgx.Tx) (err error) {
			deleted, err = forget(tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Retention) inside(ctx context.Context, workspace id.Workspace, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, r.worker, func(tx pgx.Tx) error {
		if err := postgres.Enter(ctx, tx, workspace); err != nil {
			return err
		}
		return do(tx)
	})
}
