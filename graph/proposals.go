package graph

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// visibleProposal is NOT_FOUND in another workspace, FORBIDDEN where it is there and not theirs to see.
func (r *Resolver) visibleProposal(ctx context.Context, which id.Proposal) (*sqlc.Proposal, error) {
	sight := r.Gate.Sight(identity.From(ctx))
	p, err := r.queries.VisibleProposal(ctx, r.db(ctx), sqlc.VisibleProposalParams{ID: which, Viewer: sight.Viewer, SeesAll: sight.All,
		ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared})
	if !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	_, err = r.queries.GetProposal(ctx, r.db(ctx), which)
	return nil, missing(err)
}

// missing tells apart what is not there from what is not theirs: err is that of reading it as anyone.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return errNotFound
	}
	if err != nil {
		return err
	}
	return errNotYours
}

// proposalsArgs are the filter and the viewer, as every order of the list takes them.
type proposalsArgs = sqlc.ProposalsNewestParams

func (r *Resolver) proposalsArgsOf(who identity.Actor, f *model.ProposalFilter) proposalsArgs {
	sight := r.Gate.Sight(who)
	args := proposalsArgs{WorkspaceID: who.Workspace().ID, Viewer: sight.Viewer, SeesAll: sight.All, ApprovalsOf: sight.ApprovalsOf, SharedEntities: sight.Shared,
		Decides: sight.Decides, Confirms: sight.Confirms, ApprovesAs: sight.ApprovesAs}
	if f == nil {
		return args
	}
	args.Statuses, args.Operations = texts(f.Status), texts(f.Operation)
	args.Entities, args.Actionable = f.Entity, f.Actionable
	if args.Entities != nil { // no entity's name holds what the database does not take
		args.Entities = slices.DeleteFunc(slices.Clone(f.Entity), func(e string) bool { return strings.ContainsRune(e, 0) })
	}
	args.InConversation, args.ActingUser = uuidOf(f.ConversationID), uuidOf(f.ActingUserID)
	return args
}

func texts[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

func uuidOf[T interface{ UUID() uuid.UUID }](p *T) *uuid.UUID {
	if p == nil {
		return nil
	}
	u := (*p).UUID()
	return &u
}

// proposalPage reads one page of the proposals someone may see.
func (r *Resolver) proposalPage(ctx context.Context, f *model.ProposalFilter, order model.ProposalOrder, w window) (*model.ProposalConnection, error) {
	who := identity.From(ctx)
	list := string(order)
	at := place{Number: math.MaxInt64, At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	if w.forward == (order == model.ProposalOrderExpiresSoonest) {
		at = place{Number: -1, At: time.Unix(0, 0)}
	}
	if w.cursor != nil {
		var err error
		if at, err = placeOf(*w.cursor, list, who.Workspace().ID); err != nil {
			return nil, err
		}
	}
	args := r.proposalsArgsOf(who, f)
	args.MaxRows, args.Before = w.limit(), at.Number
	read := r.proposalRows
	if order == model.ProposalOrderNewest && waiting(f) && args.Decides {
		read = r.waitingRows
	}
	rows, err := load(ctx).expecting(read(ctx, args, order, w, at))
	if err != nil {
		return nil, err
	}
	return connect(w, rows, func(p *sqlc.Proposal) string {
		return place{List: list, Workspace: p.WorkspaceID, Number: p.Number, At: p.ExpiresAt}.String()
	}), nil
}

// waiting: what waits for the viewer, and nothing else is asked for.
func waiting(f *model.ProposalFilter) bool {
	return f != nil && f.Actionable != nil && *f.Actionable && f.Status == nil && f.Entity == nil && f.Operation == nil && f.ConversationID == nil && f.ActingUserID == nil
}

// waitingRows finds the few that wait among however many there are.
func (r *Resolver) waitingRows(ctx context.Context, a proposalsArgs, _ model.ProposalOrder, w window, _ place) ([]*sqlc.Proposal, error) {
	sight := r.Gate.Sight(identity.From(ctx))
	few := sqlc.ActionableParams{WorkspaceID: a.WorkspaceID, Viewer: a.Viewer, ConfirmsIn: sight.ConfirmsIn, Confirms: sight.Confirms, ApprovesAs: sight.ApprovesAs, Before: a.Before, MaxRows: a.MaxRows}
	if w.forward {
		return r.queries.Actionable(ctx, r.db(ctx), few)
	}
	return r.queries.ActionableBackward(ctx, r.db(ctx), sqlc.ActionableBackwardParams(few))
}

func (r *Resolver) proposalRows(ctx context.Context, a proposalsArgs, order model.ProposalOrder, w window, at place) ([]*sqlc.Proposal, error) {
	if order == model.ProposalOrderExpiresSoonest {
		soonest := sqlc.ProposalsExpiringSoonestParams{WorkspaceID: a.WorkspaceID, AfterExpiry: at.At, AfterNumber: at.Number, Viewer: a.Viewer, SeesAll: a.SeesAll,
			ApprovalsOf: a.ApprovalsOf, SharedEntities: a.SharedEntities, Confirms: a.Confirms, ApprovesAs: a.ApprovesAs, Statuses: a.Statuses, Entities: a.Entities, Operations: a.Operations, InConversation: a.InConversation,
			ActingUser: a.ActingUser, Actionable: a.Actionable, Decides: a.Decides, MaxRows: a.MaxRows}
		if w.forward {
			return r.queries.ProposalsExpiringSoonest(ctx, r.db(ctx), soonest)
		}
		return r.queries.ProposalsExpiringSoonestBackward(ctx, r.db(ctx), sqlc.ProposalsExpiringSoonestBackwardParams(soonest))
	}
	if w.forward {
		return r.queries.ProposalsNewest(ctx, r.db(ctx), a)
	}
	return r.queries.ProposalsNewestBackward(ctx, r.db(ctx), sqlc.ProposalsNewestBackwardParams(a))
}
