package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/identity"
)

// Rehearsal is what the database did with some writes before it was made to forget them.
type Rehearsal struct {
	// Records are as the writes left them, in the order of the writes; a deleted one as it was.
	Records []*Record
	// Effects are what else was written, by table and operation.
	Effects []Effect
}

// ErrNoLock says that a rehearsal did not get a lock, a connection or enough time. It says nothing of the writes.
var ErrNoLock = errors.New("the rehearsal did not get its locks in time")

// What a rehearsal waits for: a lock, a statement, a connection, and all of it.
const (
	rehearsalLock      = "200ms"
	rehearsalStatement = "1s"
	rehearsalConnects  = 2 * time.Second
	rehearsalEnds      = 5 * time.Second
)

// Rehearse makes the writes as Write does and takes them back, in a transaction of its own that never commits,
// whatever happens. It is one round trip. ErrNoLock: nothing is known. Other errors are as for Write.
func (r *Registry) Rehearse(ctx context.Context, pool *pgxpool.Pool, as identity.Actor, writes []Write) (*Rehearsal, error) {
	if as.SignIn().IsZero() && as.Token().IsZero() {
		return nil, errors.New("nobody is signed in, so nothing is rehearsed")
	}
	limited, cancel := context.WithTimeout(ctx, rehearsalEnds)
	defer cancel()
	made, err := rehearse(limited, pool, &batch{groups: grouped(writes), as: as, rehearses: true}, r.tables)
	if err != nil && ctx.Err() == nil && late(err) {
		return nil, fmt.Errorf("%w: %w", ErrNoLock, err)
	}
	return made, err
}

func rehearse(ctx context.Context, pool *pgxpool.Pool, b *batch, tables int) (*Rehearsal, error) {
	conn, err := connect(ctx, pool)
	if err != nil {
		return nil, err
	}
	defer conn.Release() // closes a connection whose transaction has not ended
	defer takeBack(ctx, conn.Conn())
	known := knownOn(conn.Conn())
	c := census{pooled: known.disabled, begun: known.wrote, few: tables <= fewTables}
	b.statements = c.before()
	if err := b.queue(); err != nil {
		return nil, err
	}
	b.statements = append(b.statements, c.after(), statement{sql: "ROLLBACK"})
	known.wrote = true
	results, err := exchange(ctx, conn.Conn(), b.statements)
	if err != nil {
		return nil, b.explain(err)
	}
	known.wrote = false
	records, err := b.written(results)
	if err != nil {
		return nil, err
	}
	effects, err := c.effects(b.groups, results)
	return &Rehearsal{Records: records, Effects: effects}, err
}

// takeBack ends a transaction that an error kept from its own end.
func takeBack(ctx context.Context, conn *pgx.Conn) {
	if conn.IsClosed() || conn.PgConn().TxStatus() == idle {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rehearsalConnects)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
}

const idle = 'I'

func connect(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearsalConnects)
	defer cancel()
	return pool.Acquire(ctx)
}

// late tells whether it was time that ran out, or another transaction that was in the way.
func late(err error) bool {
	switch sqlState(err) {
	case "55P03", "57014", "40P01", "40001":
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}
