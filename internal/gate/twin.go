package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
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

var errTwinGone = errors.New("the proposal of the same intent is not open any more")

// twin answers the open proposal of an intent, and ends the call with it.
func (g *Gate) twin(ctx context.Context, by identity.Actor, in Intent, intent []byte) (made *sqlc.Proposal, err error) {
	err = g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		if err := postgres.Enter(ctx, tx.Later(), by.Workspace().ID); err != nil {
			return err
		}
		open, err := g.queries.OpenProposalByIntent(ctx, tx.Now(), sqlc.OpenProposalByIntentParams{WorkspaceID: by.Workspace().ID, ActingUserID: by.User().ID, Intent: intent})
		if errors.Is(err, pgx.ErrNoRows) {
			return errTwinGone
		} else if err != nil {
			return err
		}
		made, err = g.finished(ctx, tx, in, open, optional(in.IdempotencyKey))
		return err
	})
	return made, err
}
