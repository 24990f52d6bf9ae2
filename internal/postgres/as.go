package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

const enter = `SELECT set_config('countersign.workspace', $1, true)`

// Batcher is a pool, a connection or a transaction.
type Batcher interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// As gives a handle whose every statement sees one workspace's rows and no other's. Setting and
// statement go in one round trip and one implicit transaction, with which the setting ends. Given a
// transaction, the setting ends with that one.
func As(db Batcher, workspace id.Workspace) sqlc.DBTX { return inWorkspace{db, workspace} }

// Enter makes the rest of a transaction see one workspace's rows and no other's.
func Enter(ctx context.Context, tx pgx.Tx, workspace id.Workspace) error {
	_, err := tx.Exec(ctx, enter, workspace.UUID().String())
	return err
}

type inWorkspace struct {
	db        Batcher
	workspace id.Workspace
}

// Exec runs a statement. Where it answers no error, the statement has committed.
func (w inWorkspace) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	results, err := w.send(ctx, sql, arguments)
	var tag pgconn.CommandTag
	if err == nil {
		tag, err = results.Exec()
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}

// Query runs a statement. The rows hold a connection until they are read to the end or closed.
func (w inWorkspace) Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error) {
	results, failed := w.send(ctx, sql, arguments)
	read, err := results.Query()
	opened := &rows{Rows: read, results: results}
	if failed != nil {
		err = failed
	}
	if err != nil {
		opened.Close()
	}
	return opened, err
}

// QueryRow runs a statement; its error comes out of Scan, pgx.ErrNoRows where there is no row.
func (w inWorkspace) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	read, err := w.Query(ctx, sql, arguments...)
	return row{read, err}
}

// send gives the results of the statement, its setting read already. They are to be closed, error or not.
func (w inWorkspace) send(ctx context.Context, sql string, arguments []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	batch.Queue(enter, w.workspace.UUID().String())
	batch.Queue(sql, arguments...)
	results := w.db.SendBatch(ctx, batch)
	_, err := results.Exec()
	return results, err
}
