package gate

import (
	"context"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Approve lets a person of the approvers' role, who neither proposed nor confirmed it, approve what was
// confirmed. seen is the fingerprint of the card decided on. While others have to approve it too nothing is
// written. The last of them applies it, as that person, as Confirm does: the records' versions, the
// configuration, and the rights of whoever confirmed it are looked at again, and only those approvals count
// whose approvers still have the role.
//
// Approvals are counted while the proposal's row is locked, so two last ones at once are one write. Repeating
// it answers the same and counts once. Nothing but a confirmed proposal is approved: one that is pending is
// Forbidden.
func (g *Gate) Approve(ctx context.Context, by identity.Person, which id.Proposal, seen string) (*Answer, error) {
	return g.affirm(failpoint.In(ctx, failpoint.Approve), by, which, sqlc.DecisionKindApprove, seen)
}
