package gate

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// ChangedSince looks, as whoever asks, at the records of an open proposal, and says in a sentence where they are
// not as its card shows them: "" where they are, where nothing can be said, and of what has ended. It is a hint
// beside the card: a decision looks for itself. It is a statement for the proposal and one for each entity that
// its records are of.
func (g *Gate) ChangedSince(ctx context.Context, by identity.Actor, p *sqlc.Proposal) string {
	if final(p.Status) {
		return ""
	}
	writes, gone, changed, err := g.since(ctx, by, p)
	switch {
	case err != nil && !errors.Is(err, record.ErrUnreadable) && ctx.Err() == nil:
		g.log.WarnContext(ctx, "the records of a card were not looked at again", "proposal", p.ID, "error", err)
	case err != nil:
	case len(gone) > 0:
		return aboutSet("no longer there, or not for you to see", "The record is no longer there, or not for you to see.", append(gone, changed...), writes)
	case len(changed) > 0:
		return aboutSet("not as this card shows them any more", "The record changed after this card was made, so it will be left as it is. Propose the change again to see it as it is now.", changed, writes)
	}
	return ""
}

// hint is the longest that something beside a card is waited for.
const hint = time.Second

// since looks in a transaction of its own.
func (g *Gate) since(ctx context.Context, by identity.Actor, p *sqlc.Proposal) (writes []record.Write, gone, changed []int32, err error) {
	ctx, cancel := context.WithTimeout(ctx, hint)
	defer cancel()
	err = g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		if err := postgres.Enter(ctx, tx.Later(), by.Workspace().ID); err != nil {
			return err
		}
		writes, gone, changed, err = g.compared(ctx, tx, by, p.ID)
		return err
	})
	return writes, gone, changed, err
}

// compared reads the records of a proposal again. It gives the positions among writes of those that are gone, and
// of those that are not as the card shows them.
func (g *Gate) compared(ctx context.Context, tx *postgres.Tx, by identity.Actor, which id.Proposal) (writes []record.Write, gone, changed []int32, err error) {
	rows, err := g.queries.VersionsOfProposal(ctx, tx.Now(), which)
	if err != nil {
		return nil, nil, nil, err
	}
	indexes := make([]int, len(rows))
	for i, r := range rows {
		e, known := g.registry.Entity(r.Entity)
		if !known || !e.Offers(record.Get, string(by.Role())) {
			return nil, nil, nil, record.ErrUnreadable
		}
		indexes[i], writes = i, append(writes, record.Write{Entity: e, Key: r.Key, Version: r.Version, Salt: r.Salt})
	}
	begun, err := tx.Sent(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	gone, changed, err = g.lookAgain(ctx, begun, by, writes, indexes)
	return writes, gone, changed, err
}
