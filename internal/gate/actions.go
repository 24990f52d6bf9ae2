package gate

import (
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Action is what someone may do with a proposal now; its spellings are the contract's.
type Action string

// The actions there are so far.
const (
	ActionConfirm  Action = "CONFIRM"
	ActionReject   Action = "REJECT"
	ActionWithdraw Action = "WITHDRAW"
	ActionExtend   Action = "EXTEND"
)

// Sight gives what the visibility queries are asked with: whether someone sees every proposal of the
// workspace, or those that need approval, beside their own.
func Sight(who identity.Actor) (seesAll, seesApprovals bool) {
	role := who.Role()
	return role == sqlc.RoleOperator || role == sqlc.RoleAuditor, role == sqlc.RoleApprover
}

// Decides tells whether someone ever decides: a person who is no auditor.
func Decides(who identity.Actor) bool {
	person, ok := who.(identity.Person)
	return ok && person.Live() && who.Role() != sqlc.RoleAuditor
}

// Actions lists what someone may do with a proposal now. A token may withdraw what it proposed.
func Actions(p *sqlc.Proposal, who identity.Actor) []Action {
	if final(p.Status) {
		return []Action{}
	}
	if !who.Token().IsZero() {
		if p.TokenID == who.Token() && who.May(identity.ScopePropose) {
			return []Action{ActionWithdraw}
		}
		return []Action{}
	}
	own := p.ActingUserID == who.User().ID
	pending := p.Status == sqlc.ProposalStatusPending
	list := []Action{}
	add := func(a Action, may bool) {
		if may {
			list = append(list, a)
		}
	}
	decides := Decides(who)
	add(ActionConfirm, decides && own && pending)
	add(ActionReject, decides && pending && (own || who.Role() == sqlc.RoleOperator))
	add(ActionWithdraw, decides && own)
	add(ActionExtend, decides && own && pending && p.ExtendedAt == nil)
	return list
}
