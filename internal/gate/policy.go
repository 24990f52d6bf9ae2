package gate

import (
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// policy says what the configuration makes of a proposal now: whether its operation is still offered,
// its record still read, and both to this role. An operation that has come to require approval is no
// longer offered, since approvals are not built yet.
func (g *Gate) policy(p *sqlc.StoredProposal, role sqlc.Role) (offered, readable, permitted bool) {
	e, ok := g.registry.Entity(p.Entity)
	if !ok {
		return false, false, false
	}
	op := record.Operation(p.Operation)
	offered = e.Has(op) && e.Approvals(op) == 0
	readable = op == record.Create || e.Offers(record.Get, string(role))
	return offered, readable, e.Offers(op, string(role))
}

// refusedAs: what a confirmed proposal fails with where policy or rights refuse it.
var refusedAs = map[verdict]failure{
	switchoff:   {code: sqlc.FailureCodeSwitchedOff, message: "This kind of change has been switched off since it was proposed."},
	unreadable:  {code: sqlc.FailureCodeRecordUnreadable, message: "Reading this kind of record has been switched off since it was proposed."},
	unpermitted: {code: sqlc.FailureCodeNotPermitted, message: "You have no right to make this kind of change, or no longer."},
}
