package gate

import (
	"context"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Confirm lets a person confirm what the card showed, and applies it: once, only to the records as the
// card showed them, in the transaction of the decision. seen is the fingerprint of the card decided on.
// Where the card or the configuration asks for the approval of others, nothing is written yet, and it waits
// for that: see Approve.
//
// Repeating it answers the same and writes nothing. A write that is refused leaves the proposal FAILED
// with the reason, which is an answer and not an error. An *Error means that nothing was decided:
// NotFound, Forbidden, or Unavailable, after which the proposal is as it was.
func (g *Gate) Confirm(ctx context.Context, by identity.Person, which id.Proposal, seen string) (*Answer, error) {
	return g.affirm(failpoint.In(ctx, failpoint.Confirm), by, which, sqlc.DecisionKindConfirm, seen)
}

// affirm is confirming and approving, top to bottom.
func (g *Gate) affirm(ctx context.Context, by identity.Person, which id.Proposal, kind sqlc.DecisionKind, seen string) (*Answer, error) {
	// 1. One transaction, begun and ended in decide, with its timeouts.
	// 2. The proposal's row is locked; then the clock, the sign-in, the membership and what was decided are read.
	return g.decide(ctx, by, which, kind, func(ctx context.Context, d *decision) (*Answer, error) {
		// 3. What comes of it is settled, from these facts alone.
		d.facts.seen, d.facts.checksCard = seen, true
		verdict := settle(d.facts)
		reason, refused := refusedAs[verdict]
		if verdict != apply && verdict != await && !refused {
			return d.refusal(ctx, verdict)
		}
		if alone, err := d.takesTheLastApprover(ctx, verdict); err != nil {
			return nil, err
		} else if alone {
			return nil, forbidden("You are one of those who have to approve this, and without you they are too few. Somebody else has to confirm it.")
		}
		// 4. The decision is inserted under its unique key.
		if err := d.insert(ctx, verdict, seen, ""); err != nil {
			return nil, err
		}
		// 5. The records are written as the person, under a savepoint, or it is said why not (yet).
		outcome := outcome{status: sqlc.ProposalStatusAwaitingApproval}
		switch {
		case refused:
			outcome = failed(reason)
		case verdict == apply:
			var err error
			if outcome, err = d.apply(ctx); err != nil {
				return nil, err
			}
		}
		// 6. The status moves from the one that was locked, with event, audit and tool-call rows.
		if err := d.move(ctx, outcome); err != nil {
			return nil, err
		}
		return d.answer(ctx, Stands, "")
	})
}
