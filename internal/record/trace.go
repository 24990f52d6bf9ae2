package record

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// trace tells the connection's tracer of an exchange as of a batch, without the parameters' values.
func (p *prepared) trace(ctx context.Context, conn *pgx.Conn, statements []statement) (context.Context, func(error)) {
	if p.tracer == nil {
		return ctx, func(error) {}
	}
	batch := &pgx.Batch{}
	for _, s := range statements {
		batch.Queue(s.sql)
	}
	ctx = p.tracer.TraceBatchStart(ctx, conn, pgx.TraceBatchStartData{Batch: batch})
	return ctx, func(err error) {
		for _, s := range statements {
			p.tracer.TraceBatchQuery(ctx, conn, pgx.TraceBatchQueryData{SQL: s.sql, Err: err})
		}
		p.tracer.TraceBatchEnd(ctx, conn, pgx.TraceBatchEndData{Err: err})
	}
}
