package gate

import (
	"context"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Extend gives a pending proposal its lifetime anew, once. A second call answers it unchanged; the
// fingerprint stays.
func (g *Gate) Extend(ctx context.Context, by identity.Person, which id.Proposal) (*Answer, error) {
	return g.decide(failpoint.In(ctx, failpoint.Extend), by, which, extension, func(ctx context.Context, d *decision) (*Answer, error) {
		if v := settle(d.facts); v != apply {
			return d.refusal(ctx, v)
		}
		if d.facts.proposal.ExtendedAt != nil {
			return d.answer(ctx, Stands, "")
		}
		err := d.moved(ctx, g.queries.ExtendProposal(ctx, d.tx.Later(), sqlc.ExtendProposalParams{
			ID: which, At: &d.facts.now, EventID: id.NewEvent(), PersonID: by.User().ID, SignInID: by.SignIn(),
			AuditID: id.NewAudit(), Address: by.Address(), ToolCallID: id.NewToolCall(), PolicyVersion: d.policies.Version}))
		if err != nil {
			return nil, err
		}
		return d.answer(ctx, Stands, "")
	})
}
