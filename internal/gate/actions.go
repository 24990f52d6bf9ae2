package gate

import (
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Action is what someone may do with a proposal now; its spellings are the contract's.
type Action string

// The actions there are so far.
const (
	ActionConfirm    Action = "CONFIRM"
	ActionReject     Action = "REJECT"
	ActionApprove    Action = "APPROVE"
	ActionDisapprove Action = "DISAPPROVE"
	ActionWithdraw   Action = "WITHDRAW"
	ActionExtend     Action = "EXTEND"
	ActionRevise     Action = "REVISE"
	ActionRevert     Action = "REVERT"
)

// verbs are the decisions behind the actions, in the order they are offered.
var verbs = []struct {
	action Action
	kind   sqlc.DecisionKind
}{
	{ActionConfirm, sqlc.DecisionKindConfirm}, {ActionReject, sqlc.DecisionKindReject}, {ActionApprove, sqlc.DecisionKindApprove},
	{ActionDisapprove, sqlc.DecisionKindDisapprove}, {ActionWithdraw, sqlc.DecisionKindWithdraw}, {ActionExtend, extension},
	{ActionRevise, sqlc.DecisionKindSupersede},
}

// Decides tells whether someone ever decides: a person who is no auditor.
func Decides(who identity.Actor) bool {
	person, ok := who.(identity.Person)
	return ok && person.Live() && decides(who.Role())
}

// Actions lists what someone may do with a proposal now, by the rule that decides. What was decided about it
// before has to be given for one that awaits approval, and the policies of the workspace. A token may withdraw what
// it proposed.
func (g *Gate) Actions(p *sqlc.Proposal, who identity.Actor, before []Taken, under Policies) []Action {
	list := []Action{}
	person, ok := who.(identity.Person)
	switch {
	case final(p.Status):
		if g.revertible(p, who, under) == nil {
			list = append(list, ActionRevert)
		}
	case !ok:
		if p.TokenID == who.Token() && who.May(identity.ScopePropose) {
			list = append(list, ActionWithdraw)
		}
	default:
		f := facts{proposal: storedOf(p), person: person, signedIn: person.Live(), role: who.Role(), decisions: before, turnHolds: true}
		f.terms = g.policy(f.proposal, f.role, under)
		for _, v := range verbs {
			if f.kind = v.kind; offers(settle(f)) && (v.action != ActionExtend || p.ExtendedAt == nil) && (v.action != ActionRevise || f.revisable() == nil) {
				list = append(list, v.action)
			}
		}
	}
	return list
}

// offers tells whether a verdict is that of a decision that would stand, whatever came of it.
func offers(v verdict) bool {
	_, fails := refusedAs[v]
	return fails || v == apply || v == await
}

// storedOf gives what settle goes by of a proposal as it was read. That it is open was looked at then.
func storedOf(p *sqlc.Proposal) *sqlc.StoredProposal {
	return &sqlc.StoredProposal{ID: p.ID, Status: p.Status, ActingUserID: p.ActingUserID, Entity: p.Entity, Operation: p.Operation, ActionKind: p.ActionKind,
		Shared: p.Shared, ApproverRole: p.ApproverRole, ApprovalsNeeded: p.ApprovalsNeeded, RecordCount: p.RecordCount, ExpiresAt: p.ExpiresAt, RevertOfID: p.RevertOfID}
}
