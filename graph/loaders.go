package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// loaders are those of one query, or of one field of a mutation: what another field has changed is read
// anew.
type loaders struct {
	users         *loader[id.User, *sqlc.UsersByIDRow]
	conversations *loader[id.Conversation, *sqlc.Conversation]
	proposals     *loader[id.Proposal, *sqlc.Proposal]
	records       *loader[id.Proposal, []card.Record]
	decisions     *loader[id.Proposal, []*sqlc.ProposalDecision]
	others        *loader[id.Proposal, []int64]
	writes        *loader[id.Turn, []*sqlc.Proposal]
	messages      *nested[*sqlc.Message]
	proposed      *nested[*sqlc.Proposal]
}

func newLoaders(q *sqlc.Queries, db sqlc.DBTX, viewer sqlc.VisibleProposalsOfTurnsParams) *loaders {
	l := &loaders{
		users: single(func(ctx context.Context, ids []id.User) ([]*sqlc.UsersByIDRow, error) {
			return q.UsersByID(ctx, db, id.UUIDs(ids))
		}, func(u *sqlc.UsersByIDRow) id.User { return u.ID }),
		records: newLoader(recordsOf(q, db)),
		others: grouped(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.OtherOpenProposalsRow, error) {
			return q.OtherOpenProposals(ctx, db, id.UUIDs(ids))
		}, func(o *sqlc.OtherOpenProposalsRow) (id.Proposal, int64) { return o.ProposalID, o.Number }),
	}
	l.proposals = single(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.Proposal, error) {
		return l.expecting(q.ProposalsByID(ctx, db, id.UUIDs(ids)))
	}, func(p *sqlc.Proposal) id.Proposal { return p.ID })
	l.writes = grouped(func(ctx context.Context, turns []id.Turn) ([]*sqlc.Proposal, error) {
		viewer.Turns = id.UUIDs(turns)
		return l.expecting(q.VisibleProposalsOfTurns(ctx, db, viewer))
	}, func(p *sqlc.Proposal) (id.Turn, *sqlc.Proposal) { return p.TurnID, p })
	l.decisions = grouped(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.ProposalDecision, error) {
		rows, err := q.DecisionsOfProposals(ctx, db, id.UUIDs(ids))
		l.users.expect(keysOf(rows, func(d *sqlc.ProposalDecision) id.User { return d.PersonID })...)
		return rows, err
	}, func(d *sqlc.ProposalDecision) (id.Proposal, *sqlc.ProposalDecision) { return d.ProposalID, d })
	l.conversations = single(func(ctx context.Context, ids []id.Conversation) ([]*sqlc.Conversation, error) {
		rows, err := q.ConversationsByID(ctx, db, id.UUIDs(ids))
		l.list(rows)
		return rows, err
	}, func(c *sqlc.Conversation) id.Conversation { return c.ID })
	l.nest(q, db, viewer)
	return l
}

// nest makes the loaders of what conversations hold.
func (l *loaders) nest(q *sqlc.Queries, db sqlc.DBTX, viewer sqlc.VisibleProposalsOfTurnsParams) {
	l.messages = newNested(func(m *sqlc.Message) id.Conversation { return m.ConversationID }, func(ctx context.Context, part span, in []id.Conversation) ([]*sqlc.Message, error) {
		rows, err := messagesOf(ctx, q, db, part, in)
		l.conversations.expect(in...)
		l.writes.expect(keysOf(rows, func(m *sqlc.Message) id.Turn { return m.TurnID })...)
		return rows, err
	})
	l.proposed = newNested(func(p *sqlc.Proposal) id.Conversation { return p.ConversationID }, func(ctx context.Context, part span, in []id.Conversation) ([]*sqlc.Proposal, error) {
		return l.expecting(q.ProposalsOfConversations(ctx, db, sqlc.ProposalsOfConversationsParams{Conversations: id.UUIDs(in),
			Before: part.number, Viewer: viewer.Viewer, SeesAll: viewer.SeesAll, SeesApprovals: viewer.SeesApprovals, MaxRows: part.limit}))
	})
}

func messagesOf(ctx context.Context, q *sqlc.Queries, db sqlc.DBTX, part span, in []id.Conversation) ([]*sqlc.Message, error) {
	if part.forward {
		return q.FirstMessages(ctx, db, sqlc.FirstMessagesParams{Conversations: id.UUIDs(in), After: id.MessageOf(part.id), MaxRows: part.limit})
	}
	return q.LastMessages(ctx, db, sqlc.LastMessagesParams{Conversations: id.UUIDs(in), Before: id.MessageOf(part.id), MaxRows: part.limit})
}

// list tells the loaders which conversations stand in a list together.
func (l *loaders) list(rows []*sqlc.Conversation) {
	l.messages.list(rows)
	l.proposed.list(rows)
}

// expecting tells the loaders which proposals were read, and passes them on.
func (l *loaders) expecting(rows []*sqlc.Proposal, err error) ([]*sqlc.Proposal, error) {
	ids := keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.ID })
	l.records.expect(ids...)
	l.decisions.expect(ids...)
	l.others.expect(ids...)
	l.users.expect(keysOf(rows, func(p *sqlc.Proposal) id.User { return p.ActingUserID })...)
	l.conversations.expect(keysOf(rows, func(p *sqlc.Proposal) id.Conversation { return p.ConversationID })...)
	l.proposals.expect(keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.SupersededByID })...)
	l.proposals.expect(keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.RevertOfID })...)
	return rows, err
}

// keysOf gives what the rows refer to.
func keysOf[R any, K interface{ IsZero() bool }](rows []R, key func(R) K) []K {
	keys := make([]K, 0, len(rows))
	for _, row := range rows {
		if k := key(row); !k.IsZero() {
			keys = append(keys, k)
		}
	}
	return keys
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

// single loads one row a key; a key without one is nil.
func single[K comparable, V any](fetch func(context.Context, []K) ([]*V, error), key func(*V) K) *loader[K, *V] {
	return newLoader(func(ctx context.Context, keys []K) (map[K]*V, error) {
		rows, err := fetch(ctx, keys)
		found := make(map[K]*V, len(keys))
		for _, row := range rows {
			found[key(row)] = row
		}
		return found, err
	})
}

// grouped loads the rows of each key, in the query's order; a key without any is an empty list.
func grouped[K comparable, R, V any](fetch func(context.Context, []K) ([]R, error), split func(R) (K, V)) *loader[K, []V] {
	return newLoader(func(ctx context.Context, keys []K) (map[K][]V, error) {
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

func load(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }

func (r *Resolver) withLoaders(ctx context.Context) context.Context {
	who := identity.From(ctx)
	all, approvals := gate.Sight(who)
	viewer := sqlc.VisibleProposalsOfTurnsParams{Viewer: who.User().ID, SeesAll: all, SeesApprovals: approvals}
	return context.WithValue(ctx, loadersKey{}, newLoaders(r.queries, r.db(ctx), viewer))
}

// perOperation gives a query its loaders, perField a field of a mutation.
// A token that may not read asks no query; what it proposes itself it is answered.
func (r *Resolver) perOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Query && !identity.From(ctx).May(identity.ScopeRead) {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{errNoRead}})
	}
	if _, there := ctx.Value(loadersKey{}).(*loaders); !there { // the events of a page have theirs in common
		ctx = r.withLoaders(ctx)
	}
	return next(ctx)
}

func (r *Resolver) perField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		ctx = r.withLoaders(ctx)
	}
	return next(ctx)
}
