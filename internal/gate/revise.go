package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Revision is an open proposal as a person wants it instead: other values for the same records and the same
// operation. Seen is the fingerprint of the card they had before them.
type Revision struct {
	Of      id.Proposal
	Seen    string
	Values  map[string]json.RawMessage
	Channel sqlc.Channel
}

// Revise ends an open proposal as SUPERSEDED and stores a new one in its place, with a card, a fingerprint and
// versions of its own: both or neither. Values replace what was proposed for the same fields, and the rest
// stays as proposed. The person who revises becomes the acting user; whoever may confirm may revise.
//
// A *Refusal says why nothing was done: another decision came first, the card is another, or there is nothing
// to propose. An *Error is as for Confirm. After either the proposal is as it was.
func (g *Gate) Revise(ctx context.Context, by identity.Person, in Revision) (*sqlc.Proposal, error) {
	// 1. Who may not, or comes too late, is told that, and not what their values would have been answered.
	if _, err := g.supersede(failpoint.In(ctx, failpoint.Revisable), by, in, nil); err != nil {
		return nil, err
	}
	// 2. The new card is drafted as the reviser, from the records as they are now.
	next, err := g.redraft(ctx, by, in)
	if err != nil {
		return nil, err
	}
	// 3. In one transaction the old one ends and the new one is stored.
	return g.supersede(failpoint.In(ctx, failpoint.Revise), by, in, next)
}

// supersede settles whether a proposal may be revised and, where there is a new card, puts it in its place.
func (g *Gate) supersede(ctx context.Context, by identity.Person, in Revision, next *redrafted) (*sqlc.Proposal, error) {
	answer, err := g.decide(ctx, by, in.Of, sqlc.DecisionKindSupersede, func(ctx context.Context, d *decision) (*Answer, error) {
		d.facts.seen, d.facts.checksCard = in.Seen, true
		verdict := settle(d.facts)
		if verdict == replay {
			verdict = decided // there is one new card, and no telling whether it has these values
		}
		if verdict != apply {
			return d.refusal(ctx, verdict)
		}
		if err := d.facts.revisable(); err != nil || next == nil {
			return &Answer{Verdict: Stands}, err
		}
		made, err := d.replace(ctx, next)
		return &Answer{Verdict: Stands, Proposal: made}, err
	})
	switch {
	case err != nil:
		return nil, err
	case answer.Verdict == AlreadyDecided:
		return nil, &Refusal{Code: DecidedBefore, Message: answer.Message}
	case answer.Verdict == CardOutdated:
		return nil, &Refusal{Code: OtherCard, Message: answer.Message}
	}
	return answer.Proposal, nil
}

// revisable: what has values to edit, and is still offered to whoever edits them.
func (f facts) revisable() error {
	p := f.proposal
	switch {
	case p.Operation == sqlc.WriteOperationDelete || p.Operation == sqlc.WriteOperationAction:
		return &Refusal{Code: BadInput, Message: "This has no values to edit. Reject it, and propose what you want instead."}
	case !p.RevertOfID.IsZero():
		return &Refusal{Code: BadInput, Message: "This restores what there was before, so there are no values to edit. Reject it, and propose what you want instead."}
	case !f.offered:
		return &Refusal{Code: SwitchedOff, Message: refusedAs[switchoff].message}
	case !f.readable || !f.permitted:
		return &Refusal{Code: NotOffered, Message: refusedAs[unpermitted].message}
	}
	return nil
}

// replace stores the new card under a call of its own, inserts the decision and moves the old proposal.
func (d *decision) replace(ctx context.Context, next *redrafted) (*sqlc.Proposal, error) {
	q, later, by := d.gate.queries, d.tx.Later(), d.facts.person
	params, err := d.gate.seal(by, next.intent, next.draft, next.salt)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		q.RecordRevision(ctx, later, sqlc.RecordRevisionParams{ID: next.intent.Call.UUID(), UserID: by.User().ID.UUID(), SignInID: by.SignIn().UUID(),
			ConversationID: id.Null(next.intent.Conversation), Entity: next.intent.Entity.Name, Input: redact.JSONOf(fmt.Appendf(nil, "{%q: %q}", "id", d.facts.proposal.ID))}),
		q.Propose(ctx, later, params),
		d.insert(ctx, apply, d.facts.seen, ""),
		d.move(ctx, outcome{status: sqlc.ProposalStatusSuperseded, supersededBy: id.ProposalOf(params.ID)}))
	if err != nil {
		return nil, err
	}
	made, err := d.gate.finished(ctx, d.tx, next.intent, id.ProposalOf(params.ID), nil)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "CS006" {
		return nil, &Refusal{Code: NothingToChange, Message: "This is proposed already, by another proposal that is open. Decide that one."}
	}
	if refused := refusedBy(err); refused != nil {
		return nil, refused
	}
	return made, err
}
