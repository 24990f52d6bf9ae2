package gate

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// RevertTool is what a proposal that undoes another is made by.
const RevertTool = "revert_proposal"

// Reverting asks for a proposal that undoes an applied one. Take names fields that are to be restored though
// they changed since.
type Reverting struct {
	Of         id.Proposal
	Take       []string
	Call       id.ToolCall
	Channel    sqlc.Channel
	ClientName string
	Policies   record.Policies
}

// Revert stores a new proposal that restores what an applied one changed: values that were there before, a
// record that was deleted, not one that was created. What changed since is a conflict, on the card, and left as
// it is unless it is taken. It is a proposal like any other, and is answered as Propose answers.
func (g *Gate) Revert(ctx context.Context, by identity.Actor, in Reverting) (*sqlc.Proposal, error) {
	if !identity.Acts(by) {
		return nil, forbidden("Only somebody who is signed in, or a token of theirs, proposes.")
	}
	intent, err := g.reverting(ctx, by, in)
	if err != nil {
		return nil, unproposed(err)
	}
	return g.Propose(ctx, by, intent)
}

func (g *Gate) reverting(ctx context.Context, by identity.Actor, in Reverting) (Intent, error) {
	db := postgres.As(g.pools.Agent, by.Workspace().ID)
	p, err := g.queries.GetProposal(ctx, db, in.Of)
	if errors.Is(err, pgx.ErrNoRows) {
		return Intent{}, notFound()
	} else if err != nil {
		return Intent{}, err
	}
	if err := g.revertible(p, by, in.Policies); err != nil {
		return Intent{}, err
	}
	rows, err := g.queries.RecordsOfProposal(ctx, db, p.ID)
	if err != nil {
		return Intent{}, err
	}
	records, err := card.Records(rows)
	if err != nil {
		return Intent{}, err
	}
	created, err := g.queries.CreatedBy(ctx, db, p.ID)
	if err != nil {
		return Intent{}, err
	}
	intent, err := g.undoing(p, records, created)
	if err != nil {
		return Intent{}, err
	}
	intent.Call, intent.Channel, intent.ClientName, intent.Undo.take = in.Call, in.Channel, in.ClientName, in.Take
	intent.Policies = in.Policies
	intent.Undo.before, err = g.queries.AppliedRevert(ctx, db, p.ID.UUID())
	return intent, err
}

// undoing is the intent to take back what a proposal did, by the operation that does.
func (g *Gate) undoing(p *sqlc.Proposal, records []card.Record, created []*sqlc.CreatedByRow) (Intent, error) {
	entity, _ := g.registry.Entity(p.Entity) // revertible has found it
	op := inverse[p.Operation]
	intent := Intent{Tool: RevertTool, ActionKind: p.ActionKind, Entity: entity, Operation: op, RevertOf: p.ID}
	if a, custom := g.registry.Action(p.ActionKind); custom {
		intent.Action = a
	} else {
		intent.ActionKind = ActionKind(op)
	}
	var err error
	intent.Undo, err = undoOf(p, records, created)
	return intent, err
}

// revertible tells why someone cannot undo a proposal; nil where they can ask for it.
func (g *Gate) revertible(p *sqlc.Proposal, by identity.Actor, under record.Policies) error {
	switch {
	case !mayRevert(p, by) && g.Sees(by, p):
		return forbidden("You may see this proposal; undoing it is not yours.")
	case !mayRevert(p, by):
		return forbidden("This proposal is not yours to see or undo.")
	case p.Status != sqlc.ProposalStatusApplied:
		return &Refusal{Code: NotOffered, Message: "Only what was applied can be undone."}
	case p.PreviewOnly:
		return &Refusal{Code: NotOffered, Message: "Nothing was written for it, so there is nothing to undo."}
	case !g.offersInverse(p, string(by.Role()), under):
		return &Refusal{Code: NotOffered, Message: "What would undo this is not offered to you here."}
	}
	return nil
}

// mayRevert: whoever acted, also where the workspace shares it. A token may ask for what its user may.
func mayRevert(p *sqlc.Proposal, by identity.Actor) bool {
	return p.ActingUserID == by.User().ID && decides(by.Role()) && by.May(identity.ScopePropose)
}

// offersInverse tells whether the registry offers a role the operation that takes a proposal's back.
func (g *Gate) offersInverse(p *sqlc.Proposal, role string, under record.Policies) bool {
	e, known := g.registry.Entity(p.Entity)
	op := inverse[p.Operation]
	if op == record.Action {
		a, built := g.registry.Action(p.ActionKind)
		return known && built && !under.ActionOff(a, e) && a.Under(under, e).Offers(role) && (p.OutcomeKeys == nil || a.Opens(e, record.Delete)) // it created some
	}
	return known && e.Under(under, op).Offers(op, role) && (op == record.Create || e.Under(under, record.Get).Offers(record.Get, role))
}
