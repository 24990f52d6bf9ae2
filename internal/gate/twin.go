package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// openTwin says that the same is proposed already for the same person, and open.
type openTwin struct { //nolint:errname // it is an answer, and no error, to whoever proposes
	intent []byte
	cause  error
}

func (t *openTwin) Error() string { return fmt.Sprintf("the same intent is open: %v", t.cause) }
func (t *openTwin) Unwrap() error { return t.cause }

func twinOf(err error, intent []byte) error {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "CS006" {
		return &openTwin{intent: intent, cause: err}
	}
	return err
}

// twinAttempts bounds how often one is proposed again whose twin ends before it can be answered: each time
// another's proposal has come and gone.
const twinAttempts = 10

var errTwinGone = errors.New("the proposal of the same intent is not open any more, or its records changed since")

// twin answers the open proposal of an intent, and ends the call with it. Where the records of the newest are not
// as its card shows them any more, it gives all that are open: the wish is drafted anew and stands beside them.
func (g *Gate) twin(ctx context.Context, by identity.Actor, in Intent, intent []byte) (made *sqlc.Proposal, stale []id.Proposal, err error) {
	ctx = failpoint.In(ctx, failpoint.Twin)
	err = g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		if err := failpoint.Hit(ctx, failpoint.Locking); err != nil {
			return err
		}
		if err := postgres.Enter(ctx, tx.Later(), by.Workspace().ID); err != nil {
			return err
		}
		open, err := g.queries.OpenProposalsByIntent(ctx, tx.Now(), sqlc.OpenProposalsByIntentParams{WorkspaceID: by.Workspace().ID, ActingUserID: by.User().ID, Intent: intent})
		if err != nil {
			return err
		}
		if len(open) == 0 {
			return errTwinGone
		}
		_, gone, changed, err := g.compared(ctx, tx, by, open[0])
		if err != nil {
			return err
		}
		if len(gone)+len(changed) > 0 {
			stale = open
			return errTwinGone
		}
		if err := failpoint.Hit(ctx, failpoint.Found); err != nil {
			return err
		}
		made, err = g.finished(ctx, tx, in, open[0], optional(redact.Key(in.IdempotencyKey)))
		return err
	})
	return made, stale, err
}
