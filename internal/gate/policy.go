package gate

import (
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// terms are what the configuration makes of a proposal now.
type terms struct {
	offered   bool // the operation, to anyone
	read      bool // the record, to anyone
	readable  bool // the record, to a role
	insight   bool // cards of such records that the workspace shares, to a role
	permitted bool // the operation, to a role
	shared    bool // its decision, with the workspace
	approvals int32
	approver  sqlc.Role // of those whose approval it asks for; "" where it asks for none
}

// policy gives the terms of a proposal for a role, under the workspace's policies, with what its records do as need
// takes it, where that was read. What the card says of sharing holds as well: the configuration only narrows it.
func (g *Gate) policy(p *sqlc.StoredProposal, role sqlc.Role, under record.Policies, written ...string) terms {
	e, ok := g.registry.Entity(p.Entity)
	if !ok {
		return terms{}
	}
	t := terms{shared: p.Shared && e.Confirm == record.ConfirmWorkspace}
	creates := p.Operation == sqlc.WriteOperationCreate
	seen := e.Under(under, record.Get)
	t.insight = seen.Offers(record.Get, string(role))
	t.read, t.readable = creates || seen.Has(record.Get), creates || t.insight
	op := record.Operation(p.Operation)
	now := e.Under(under, op)
	approval := ApprovalOf(now, op)
	t.offered, t.permitted = now.Has(op) && (op != record.BulkUpdate || int(p.RecordCount) <= now.BulkCap), now.Offers(op, string(role))
	if a, built := g.registry.Action(p.ActionKind); op == record.Action {
		if t.offered, t.permitted = built && !under.ActionOff(a, e), false; built {
			a = a.Under(under, e)
			approval, t.permitted = a.Approval(), a.Offers(string(role))
		}
	}
	t.permitted = t.permitted && !g.barredFrom(written, under, role)
	if approval = g.need(approval, under, written); approval.Needed > 0 {
		t.approvals, t.approver = approval.Needed, approvers(approval)
	}
	return t
}

// refusedAs: what a confirmed proposal fails with where policy or rights refuse it.
var refusedAs = map[verdict]failure{
	switchoff:   {code: sqlc.FailureCodeSwitchedOff, message: "This kind of change has been switched off since it was proposed."},
	unreadable:  {code: sqlc.FailureCodeRecordUnreadable, message: "Reading this kind of record has been switched off since it was proposed."},
	unpermitted: {code: sqlc.FailureCodeNotPermitted, message: "You have no right to make this kind of change, or no longer."},
	unsupported: {code: sqlc.FailureCodeNotPermitted, message: "Whoever confirmed it has no right to make this kind of change any more."},
}
