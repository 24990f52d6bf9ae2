package graph

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// node finds anything by its global id, by the rules of the field that it is usually read by.
func (r *Resolver) node(ctx context.Context, text string) (model.Node, error) {
	prefix, _, _ := strings.Cut(text, "_")
	switch prefix {
	case "prop":
		return found(r.proposal(ctx, text))
	case "conv":
		return found(r.conversation(ctx, text))
	case "msg":
		return found(r.message(ctx, text))
	case "user":
		return found(r.user(ctx, text))
	case "ws":
		return found(r.workspace(ctx, text))
	}
	return nil, errNotFound
}

// found keeps a nil row from becoming a node.
func found[T any, P interface {
	*T
	model.Node
}](row P, err error) (model.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}

func (r *Resolver) proposal(ctx context.Context, text string) (*sqlc.Proposal, error) {
	which, err := id.ParseProposal(text)
	if err != nil {
		return nil, err
	}
	load(ctx).alone.add(which)
	return r.visibleProposal(ctx, which)
}

func (r *Resolver) message(ctx context.Context, text string) (*sqlc.Message, error) {
	which, err := id.ParseMessage(text)
	if err != nil {
		return nil, err
	}
	m, err := r.queries.GetMessage(ctx, r.db(ctx), which)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNotFound
	} else if err != nil {
		return nil, err
	}
	_, err = r.conversation(ctx, m.ConversationID.String())
	return m, err
}

// user: members of the workspace know of each other.
func (r *Resolver) user(ctx context.Context, text string) (*sqlc.UsersByIDRow, error) {
	which, err := id.ParseUser(text)
	if err != nil {
		return nil, err
	}
	member, err := r.queries.IsMember(ctx, r.Reader, sqlc.IsMemberParams{UserID: which, WorkspaceID: identity.From(ctx).Workspace().ID})
	if err != nil {
		return nil, err
	}
	if !member {
		return nil, errNotFound
	}
	return load(ctx).users.Load(ctx, which)
}

func (r *Resolver) workspace(ctx context.Context, text string) (*sqlc.Workspace, error) {
	which, err := id.ParseWorkspace(text)
	if err != nil {
		return nil, err
	}
	list, err := r.queries.ListWorkspacesOfUser(ctx, r.Reader, identity.From(ctx).User().ID)
	for _, w := range list {
		if w.ID == which {
			return w, nil
		}
	}
	return nil, errors.Join(err, errNotFound)
}

func (r *Resolver) proposalList(ctx context.Context, f *model.ProposalFilter, orderBy *model.ProposalOrder, first *int32, after *string, last *int32, before *string) (*model.ProposalConnection, error) {
	w, err := windowOf(first, after, last, before, 20)
	if err != nil {
		return nil, err
	}
	order := model.ProposalOrderNewest
	if orderBy != nil {
		order = *orderBy
	}
	return r.proposalPage(ctx, f, order, w)
}

// actionableCount is what the badge shows; an auditor and a token never have any.
func (r *Resolver) actionableCount(ctx context.Context) (int32, error) {
	who := identity.From(ctx)
	sight := r.Gate.Sight(who)
	if !sight.Decides {
		return 0, nil
	}
	return r.queries.CountActionable(ctx, r.db(ctx), sqlc.CountActionableParams{WorkspaceID: who.Workspace().ID, Viewer: sight.Viewer,
		ConfirmsIn: sight.ConfirmsIn, Confirms: sight.Confirms, ApprovesAs: sight.ApprovesAs})
}
