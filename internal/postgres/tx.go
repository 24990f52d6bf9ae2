package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/sqlc"
)

// Tx is a transaction that makes few round trips. What is run on Later waits, BEGIN first, and goes with
// what is run on Now; what is run on Last takes COMMIT along.
type Tx struct {
	conn    *pgx.Conn
	waiting *pgx.Batch
	begun   pgx.Tx // nil until something was sent
	ended   bool
}

// Transact runs do in a READ COMMITTED transaction: rolled back where do answers an error, and else
// committed, with what still waits. It does not try again. A connection that was lost, or whose transaction
// could not be rolled back, is of no use any more; a pool closes it.
func Transact(ctx context.Context, conn *pgx.Conn, do func(*Tx) error) error {
	tx := &Tx{conn: conn, waiting: &pgx.Batch{}}
	tx.waiting.BeginTx(pgx.TxOptions{})
	err := do(tx)
	if err == nil && !tx.ended {
		err = tx.commit(ctx)
	}
	if err == nil { // PostgreSQL has said that it committed, and its answer gets lost on the way
		err = failpoint.Hit(ctx, failpoint.Committed)
	}
	if conn.PgConn().TxStatus() != idle {
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	if tx.ended && lost(err) {
		err = errors.Join(ErrUnheard, err)
	}
	return err
}

const idle = 'I'

// ErrUnheard says that the session was lost while it committed, so that it may have committed.
var ErrUnheard = errors.New("the commit was sent and its answer was lost")

// lost: it is not PostgreSQL that refused, or it is PostgreSQL that ended the session.
func lost(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return err != nil && !errors.Is(err, pgx.ErrTxCommitRollback) && (!errors.As(err, &refused) || strings.HasPrefix(refused.Code, "57P"))
}

func (t *Tx) commit(ctx context.Context) error {
	if err := failpoint.Hit(ctx, failpoint.Committing); err != nil {
		return err
	}
	t.ended = true
	tag, err := t.Now().Exec(ctx, "COMMIT")
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// Later takes statements that answer nothing: they go with the next that is sent, in their order, and their
// errors are that one's.
func (t *Tx) Later() sqlc.DBTX { return later{t} }

// Now runs a statement.
func (t *Tx) Now() sqlc.DBTX {
	return ask(func(ctx context.Context, sql string, arguments []any) (pgx.BatchResults, error) {
		return t.ask(ctx, sql, arguments)
	})
}

// Last runs the last statement and commits. Where its answer is read without an error, the transaction has
// committed; one that cannot be read comes too late to undo it.
func (t *Tx) Last() sqlc.DBTX {
	return ask(func(ctx context.Context, sql string, arguments []any) (pgx.BatchResults, error) {
		if err := failpoint.Hit(ctx, failpoint.Committing); err != nil {
			return nil, err
		}
		t.ended = true
		return t.ask(ctx, sql, arguments, "COMMIT")
	})
}

// Sent sends what waits and gives the transaction itself, for what needs that.
func (t *Tx) Sent(ctx context.Context) (pgx.Tx, error) {
	var err error
	if t.waiting.Len() > 0 {
		err = t.send(ctx).Close()
	}
	return t.begun, err
}

// Mark is where Back goes back to.
func (t *Tx) Mark() { t.waiting.Queue("SAVEPOINT mark") }

// Back undoes what was done since Mark.
func (t *Tx) Back(ctx context.Context) error {
	_, err := t.Now().Exec(ctx, "ROLLBACK TO SAVEPOINT mark")
	return err
}

// ask sends what waits, a statement, and what comes after it.
func (t *Tx) ask(ctx context.Context, sql string, arguments []any, after ...string) (pgx.BatchResults, error) {
	before := t.waiting.Len()
	t.waiting.Queue(sql, arguments...)
	for _, one := range after {
		t.waiting.Queue(one)
	}
	return sent(t.send(ctx), before)
}

func (t *Tx) send(ctx context.Context) pgx.BatchResults {
	results := t.conn.SendBatch(ctx, t.waiting)
	t.waiting = &pgx.Batch{}
	if begun := results.Tx(); begun != nil {
		t.begun = begun
	}
	return results
}

type later struct{ tx *Tx }

var errAnswers = errors.New("a statement that answers something cannot wait")

func (l later) Exec(_ context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	l.tx.waiting.Queue(sql, arguments...)
	return pgconn.CommandTag{}, nil
}

func (l later) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, errAnswers }

func (l later) QueryRow(context.Context, string, ...any) pgx.Row { return row{err: errAnswers} }
