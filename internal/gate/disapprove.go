package gate

import (
	"context"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Disapprove ends, by one of those who may approve it, what was confirmed, with the person's reason, which may
// be empty. Nothing is written to any record. Repeating it answers the same.
func (g *Gate) Disapprove(ctx context.Context, by identity.Person, which id.Proposal, reason string) (*Answer, error) {
	if err := sayable(reason); err != nil {
		return nil, err
	}
	return g.end(failpoint.In(ctx, failpoint.Disapprove), by, which, sqlc.DecisionKindDisapprove, sqlc.ProposalStatusDisapproved, reason)
}
