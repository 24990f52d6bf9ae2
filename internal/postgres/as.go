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
func As(db Batcher, workspace id.Workspace) sqlc.DBTX {
	return ask(func(ctx context.Context, sql string, arguments []any) (pgx.BatchResults, error) {
		batch := &pgx.Batch{}
		batch.Queue(enter, workspace.UUID().String())
		batch.Queue(sql, arguments...)
		return sent(db.SendBatch(ctx, batch), 1)
	})
}

// Enter makes the rest of a transaction see one workspace's rows and no other's.
func Enter(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace) error {
	_, err := tx.Exec(ctx, enter, workspace.UUID().String())
	return err
}

// ask is a handle by how it sends a statement: among others in a batch, of whose results that of the
// statement is the next to be read. The results are to be closed, error or not.
type ask func(ctx context.Context, sql string, arguments []any) (pgx.BatchResults, error)

// sent reads the results of the statements before the one that was asked.
func sent(results pgx.BatchResults, before int) (pgx.BatchResults, error) {
	for range before {
		if _, err := results.Exec(); err != nil {
			return results, err
		}
	}
	return results, nil
}

// Exec runs a statement. Where it answers no error, what was sent with the statement was done too.
func (a ask) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	results, err := a(ctx, sql, arguments)
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
func (a ask) Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error) {
	results, failed := a(ctx, sql, arguments)
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
func (a ask) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	read, err := a.Query(ctx, sql, arguments...)
	return row{read, err}
}
