package graph

import (
	"context"
	"time"

	"github.com/vikstrous/dataloadgen"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// loaders turn the single reads of many resolvers into one query each. They are made for one operation
// and see nothing of another's.
type loaders struct {
	users         *dataloadgen.Loader[id.User, *sqlc.UsersByIDRow]
	conversations *dataloadgen.Loader[id.Conversation, *sqlc.Conversation]
	proposals     *dataloadgen.Loader[id.Proposal, *sqlc.Proposal]
	records       *dataloadgen.Loader[id.Proposal, []card.Record]
	decisions     *dataloadgen.Loader[id.Proposal, []*sqlc.ProposalDecision]
	others        *dataloadgen.Loader[id.Proposal, []int64]
	writes        *dataloadgen.Loader[id.Turn, []*sqlc.Proposal]
}

// gather is how long a loader waits for more keys.
const gather = 100 * time.Microsecond

func newLoaders(q *sqlc.Queries, db sqlc.DBTX) *loaders {
	return &loaders{
		users: single(func(ctx context.Context, ids []id.User) ([]*sqlc.UsersByIDRow, error) {
			return q.UsersByID(ctx, db, id.UUIDs(ids))
		}, func(u *sqlc.UsersByIDRow) id.User { return u.ID }),
		conversations: single(func(ctx context.Context, ids []id.Conversation) ([]*sqlc.Conversation, error) {
			return q.ConversationsByID(ctx, db, id.UUIDs(ids))
		}, func(c *sqlc.Conversation) id.Conversation { return c.ID }),
		proposals: single(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.Proposal, error) {
			return q.ProposalsByID(ctx, db, id.UUIDs(ids))
		}, func(p *sqlc.Proposal) id.Proposal { return p.ID }),
		records: mapped(recordsOf(q, db)),
		decisions: grouped(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.ProposalDecision, error) {
			return q.DecisionsOfProposals(ctx, db, id.UUIDs(ids))
		}, func(d *sqlc.ProposalDecision) (id.Proposal, *sqlc.ProposalDecision) { return d.ProposalID, d }),
		others: grouped(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.OtherOpenProposalsRow, error) {
			return q.OtherOpenProposals(ctx, db, id.UUIDs(ids))
		}, func(o *sqlc.OtherOpenProposalsRow) (id.Proposal, int64) { return o.ProposalID, o.Number }),
		writes: grouped(func(ctx context.Context, ids []id.Turn) ([]*sqlc.Proposal, error) {
			return q.ProposalsOfTurns(ctx, db, id.UUIDs(ids))
		}, func(p *sqlc.Proposal) (id.Turn, *sqlc.Proposal) { return p.TurnID, p }),
	}
}

func recordsOf(q *sqlc.Queries, db sqlc.DBTX) func(context.Context, []id.Proposal) (map[id.Proposal][]card.Record, error) {
	return func(ctx context.Context, ids []id.Proposal) (map[id.Proposal][]card.Record, error) {
		rows, err := q.RecordsOfProposals(ctx, db, id.UUIDs(ids))
		if err != nil {
			return nil, err
		}
		stored := map[id.Proposal][]*sqlc.ProposalRecord{}
		for _, row := range rows {
			stored[row.ProposalID] = append(stored[row.ProposalID], row)
		}
		found := map[id.Proposal][]card.Record{}
		for _, one := range ids {
			if found[one], err = card.Records(stored[one]); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
}

func mapped[K comparable, V any](fetch func(context.Context, []K) (map[K]V, error)) *dataloadgen.Loader[K, V] {
	return dataloadgen.NewMappedLoader(fetch, dataloadgen.WithWait(gather), dataloadgen.WithBatchCapacity(maxPage*10))
}

// single loads one row a key; a key without one is nil.
func single[K comparable, V any](fetch func(context.Context, []K) ([]*V, error), key func(*V) K) *dataloadgen.Loader[K, *V] {
	return mapped(func(ctx context.Context, keys []K) (map[K]*V, error) {
		rows, err := fetch(ctx, keys)
		found := make(map[K]*V, len(keys))
		for _, k := range keys {
			found[k] = nil
		}
		for _, row := range rows {
			found[key(row)] = row
		}
		return found, err
	})
}

// grouped loads the rows of each key, in the query's order; a key without any is an empty list.
func grouped[K comparable, R, V any](fetch func(context.Context, []K) ([]R, error), split func(R) (K, V)) *dataloadgen.Loader[K, []V] {
	return mapped(func(ctx context.Context, keys []K) (map[K][]V, error) {
		rows, err := fetch(ctx, keys)
		found := make(map[K][]V, len(keys))
		for _, k := range keys {
			found[k] = []V{}
		}
		for _, row := range rows {
			k, v := split(row)
			found[k] = append(found[k], v)
		}
		return found, err
	})
}

type loadersKey struct{}

func withLoaders(ctx context.Context, l *loaders) context.Context {
	return context.WithValue(ctx, loadersKey{}, l)
}

func load(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }
