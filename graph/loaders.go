package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

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
	decisions     *loader[id.Proposal, []gate.Taken]
	others        *loader[id.Proposal, []int64]
	writes        *loader[id.Turn, []*sqlc.Proposal]
	messages      *nested[id.Conversation, *sqlc.Message]
	proposed      *nested[id.Conversation, *sqlc.Proposal]
	records       *nested[id.Proposal, *sqlc.ProposalRecord]
	refused       *nested[id.Proposal, *sqlc.ProposalRecord]
	policies      func() (gate.Policies, error)
	alone         alone
}

func newLoaders(q *sqlc.Queries, db sqlc.DBTX, sight gate.Sight) *loaders {
	l := &loaders{
		users: single(func(ctx context.Context, ids []id.User) ([]*sqlc.UsersByIDRow, error) {
			return q.UsersByID(ctx, db, id.UUIDs(ids))
		}, func(u *sqlc.UsersByIDRow) id.User { return u.ID }),
		records: recordsOf(q, db),
		refused: refusedOf(q, db),
		others: grouped(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.OtherOpenProposalsRow, error) {
			return q.OtherOpenProposals(ctx, db, sqlc.OtherOpenProposalsParams{Proposals: id.UUIDs(ids),
				Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
		}, func(o *sqlc.OtherOpenProposalsRow) (id.Proposal, int64) { return o.ProposalID, o.Number }),
	}
	l.proposals = single(func(ctx context.Context, ids []id.Proposal) ([]*sqlc.Proposal, error) {
		return l.expecting(q.ProposalsByID(ctx, db, id.UUIDs(ids)))
	}, func(p *sqlc.Proposal) id.Proposal { return p.ID })
	l.writes = grouped(func(ctx context.Context, turns []id.Turn) ([]*sqlc.VisibleProposalsOfTurnsRow, error) {
		rows, err := q.VisibleProposalsOfTurns(ctx, db, sqlc.VisibleProposalsOfTurnsParams{Turns: id.UUIDs(turns),
			Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
		l.expect(written(rows))
		return rows, err
	}, func(w *sqlc.VisibleProposalsOfTurnsRow) (id.Turn, *sqlc.Proposal) { return w.TurnID, &w.Proposal })
	l.decisions = grouped(func(ctx context.Context, ids []id.Proposal) ([]gate.Taken, error) {
		rows, err := q.DecisionsOfProposals(ctx, db, id.UUIDs(ids))
		taken := gate.TakenOf(rows)
		l.users.expect(keysOf(taken, func(d gate.Taken) id.User { return d.PersonID })...)
		return taken, err
	}, func(d gate.Taken) (id.Proposal, gate.Taken) { return d.ProposalID, d })
	l.conversations = single(func(ctx context.Context, ids []id.Conversation) ([]*sqlc.Conversation, error) {
		rows, err := q.ConversationsByID(ctx, db, id.UUIDs(ids))
		l.list(rows)
		return rows, err
	}, func(c *sqlc.Conversation) id.Conversation { return c.ID })
	l.nest(q, db, sight)
	return l
}

// nest makes the loaders of what conversations hold.
func (l *loaders) nest(q *sqlc.Queries, db sqlc.DBTX, sight gate.Sight) {
	l.messages = newNested(func(m *sqlc.Message) id.Conversation { return m.ConversationID }, func(ctx context.Context, part span, in []id.Conversation) ([]*sqlc.Message, error) {
		rows, err := messagesOf(ctx, q, db, part, in)
		l.conversations.expect(in...)
		l.writes.expect(keysOf(rows, func(m *sqlc.Message) id.Turn { return m.TurnID })...)
		return rows, err
	})
	l.proposed = newNested(func(p *sqlc.Proposal) id.Conversation { return p.ConversationID }, func(ctx context.Context, part span, in []id.Conversation) ([]*sqlc.Proposal, error) {
		return l.expecting(q.ProposalsOfConversations(ctx, db, sqlc.ProposalsOfConversationsParams{Conversations: id.UUIDs(in),
			Before: part.number, Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared, MaxRows: part.limit}))
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
	ids := keysOf(rows, func(c *sqlc.Conversation) id.Conversation { return c.ID })
	l.messages.list(ids)
	l.proposed.list(ids)
}

// expecting tells the loaders which proposals were read, and passes them on.
func (l *loaders) expecting(rows []*sqlc.Proposal, err error) ([]*sqlc.Proposal, error) {
	l.expect(rows)
	return rows, err
}

func written(rows []*sqlc.VisibleProposalsOfTurnsRow) []*sqlc.Proposal {
	list := make([]*sqlc.Proposal, len(rows))
	for i, row := range rows {
		list[i] = &row.Proposal
	}
	return list
}

func (l *loaders) expect(rows []*sqlc.Proposal) {
	ids := keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.ID })
	l.records.list(ids)
	l.refused.list(ids)
	l.decisions.expect(ids...)
	l.others.expect(ids...)
	l.users.expect(keysOf(rows, func(p *sqlc.Proposal) id.User { return p.ActingUserID })...)
	l.conversations.expect(keysOf(rows, func(p *sqlc.Proposal) id.Conversation { return p.ConversationID })...)
	l.proposals.expect(keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.SupersededByID })...)
	l.proposals.expect(keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.RevertOfID })...)
	l.proposals.expect(keysOf(rows, func(p *sqlc.Proposal) id.Proposal { return p.RevisionOfID })...)
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

func recordsOf(q *sqlc.Queries, db sqlc.DBTX) *nested[id.Proposal, *sqlc.ProposalRecord] {
	return newNested(ofProposal, func(ctx context.Context, part span, in []id.Proposal) ([]*sqlc.ProposalRecord, error) {
		return q.RecordsOfProposals(ctx, db, sqlc.RecordsOfProposalsParams{Proposals: id.UUIDs(in), After: int32(part.number), UpTo: int32(part.number) + part.limit}) //nolint:gosec // position bounds it
	})
}

func refusedOf(q *sqlc.Queries, db sqlc.DBTX) *nested[id.Proposal, *sqlc.ProposalRecord] {
	return newNested(ofProposal, func(ctx context.Context, part span, in []id.Proposal) ([]*sqlc.ProposalRecord, error) {
		return q.RefusedRecordsOfProposals(ctx, db, sqlc.RefusedRecordsOfProposalsParams{Proposals: id.UUIDs(in), After: int32(part.number), MaxRows: part.limit}) //nolint:gosec // position bounds it
	})
}

func ofProposal(r *sqlc.ProposalRecord) id.Proposal { return r.ProposalID }

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
	l := newLoaders(r.queries, r.db(ctx), r.Gate.Sight(identity.From(ctx)))
	l.policies = sync.OnceValues(func() (gate.Policies, error) {
		return gate.PoliciesOf(r.queries.PoliciesNow(ctx, r.db(ctx), identity.From(ctx).Workspace().ID))
	})
	return context.WithValue(ctx, loadersKey{}, l)
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

// know is told the policies that a mutation went by, which what it answers then goes by as well.
func (l *loaders) know(p *gate.Policies) {
	if p != nil {
		l.policies = func() (gate.Policies, error) { return *p, nil }
	}
}
