package gate

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// MaxReason is how many characters a reason has at most.
const MaxReason = 2000

// Reject ends an open proposal with the person's reason, which may be empty. Nothing is written to any
// record. Repeating it answers the same.
func (g *Gate) Reject(ctx context.Context, by identity.Person, which id.Proposal, reason string) (*Answer, error) {
	if err := sayable(reason); err != nil {
		return nil, err
	}
	return g.end(failpoint.In(ctx, failpoint.Reject), by, which, sqlc.DecisionKindReject, sqlc.ProposalStatusRejected, reason)
}

func sayable(reason string) error {
	if utf8.RuneCountInString(reason) > MaxReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return &Error{Code: InvalidInput, Message: "reason: at most 2000 characters of text, without NUL characters."}
	}
	return nil
}

// end is what rejecting, disapproving and withdrawing have in common: a final decision that writes no record.
func (g *Gate) end(ctx context.Context, by identity.Person, which id.Proposal, kind sqlc.DecisionKind, becomes sqlc.ProposalStatus, reason string) (*Answer, error) {
	return g.decide(ctx, by, which, kind, func(ctx context.Context, d *decision) (*Answer, error) {
		v := settle(d.facts)
		if v != apply {
			return d.refusal(ctx, v)
		}
		if err := d.insert(ctx, v, d.facts.proposal.Fingerprint, reason); err != nil {
			return nil, err
		}
		if err := d.move(ctx, outcome{status: becomes}); err != nil {
			return nil, err
		}
		return d.answer(ctx, Stands, "")
	})
}
