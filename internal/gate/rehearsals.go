package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/record"
)

// rehearsals are the places for those at work: half of the gate's connections, so that changes which are slow to
// try leave the other half to decisions.
type rehearsals chan struct{}

func rehearsalsOn(pool *pgxpool.Pool) rehearsals {
	return make(rehearsals, max(1, pool.Config().MaxConns/2))
}

// enter waits for a place, no longer than patience; leave has to be called when it gave no error.
func (r rehearsals) enter(ctx context.Context, patience time.Duration) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case r <- struct{}{}:
		return func() { <-r }, nil
	case <-waiting.Done():
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: too many are at work", record.ErrNoLock)
	}
}
