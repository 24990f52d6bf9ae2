package gate

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// IdempotencyMismatch says that the key was used for another request.
const IdempotencyMismatch Code = "IDEMPOTENCY_MISMATCH"

// repeated finds what an earlier request with the same key made; nil where there is none.
func (g *Gate) repeated(ctx context.Context, tx *postgres.Tx, by identity.Actor, in Intent) (*sqlc.Proposal, error) {
	if in.IdempotencyKey == "" {
		return nil, nil
	}
	before, err := g.queries.ProposalByKey(ctx, tx.Now(), sqlc.ProposalByKeyParams{WorkspaceID: by.Workspace().ID, UserID: by.User().ID, Key: redact.Key(in.IdempotencyKey)})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if !bytes.Equal(before.RequestHash, in.RequestHash) {
		return nil, &Error{Code: IdempotencyMismatch, Message: "This idempotency key was used for another request."}
	}
	return g.finished(ctx, tx, in, before.ProposalID, nil)
}

func raced(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.Is(err, errMoved) || errors.Is(err, errTwinGone) || errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "idempotency_keys_pkey"
}
