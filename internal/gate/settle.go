package gate

import (
	"time"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// verdict is what settle makes of a decision.
type verdict int

const (
	forbid      verdict = iota // nothing is claimed
	replay                     // the same person decided the same before: the same answer
	decided                    // another decision came first
	lapsed                     // its time is over
	cutShort                   // the turn that proposed it did not end well
	outdated                   // decided on another card than the one there is
	switchoff                  // the operator no longer offers it
	unreadable                 // the operator no longer lets the record be read
	unpermitted                // the acting user lost the right since
	apply                      // go
)

// facts are what a decision goes by, all read in the deciding transaction.
type facts struct {
	proposal   *sqlc.StoredProposal
	person     identity.Person
	signedIn   bool
	role       sqlc.Role // "" where the membership is gone
	decisions  []*sqlc.ProposalDecision
	turnHolds  bool
	offered    bool // the operation, by the registry
	readable   bool // the record, by the registry
	permitted  bool // the operation, to this role
	kind       sqlc.DecisionKind
	seen       string // the fingerprint of the card decided on; "" where the verb needs none
	checksCard bool
	now        time.Time
}

// settle decides what comes of a decision. It is pure; the order of its questions is the design's.
func settle(f facts) verdict {
	switch {
	case !f.signedIn || !mayDecide(f):
		return forbid
	case f.sameBefore():
		return replay
	case final(f.proposal.Status) || f.confirmed():
		return decided
	case !f.now.Before(f.proposal.ExpiresAt):
		return lapsed
	case !f.turnHolds:
		return cutShort
	case f.checksCard && f.seen != f.proposal.Fingerprint:
		return outdated
	case f.kind != sqlc.DecisionKindConfirm:
		return apply
	case !f.offered:
		return switchoff
	case !f.readable:
		return unreadable
	case !f.permitted:
		return unpermitted
	}
	return apply
}

// mayDecide is the matrix of who may do what, for proposals that their owner confirms.
func mayDecide(f facts) bool {
	own := f.proposal.ActingUserID == f.person.User().ID
	switch f.role {
	case sqlc.RoleMember, sqlc.RoleApprover:
		return own
	case sqlc.RoleOperator:
		return own || f.kind == sqlc.DecisionKindReject
	}
	return false
}

// sees tells whether someone who may not decide a proposal may at least know of it.
func sees(p *sqlc.StoredProposal, person identity.Person) bool {
	all, approvals := Sight(person)
	return p.ActingUserID == person.User().ID || all || approvals && p.ApprovalsNeeded > 0
}

func (f facts) sameBefore() bool {
	for _, d := range f.decisions {
		if d.Kind == f.kind && d.PersonID == f.person.User().ID {
			return true
		}
	}
	return false
}

// confirmed: it waits for approval, so a reject or another's confirm comes too late.
func (f facts) confirmed() bool {
	return f.proposal.Status == sqlc.ProposalStatusAwaitingApproval && f.kind != sqlc.DecisionKindWithdraw
}

func final(s sqlc.ProposalStatus) bool {
	return s != sqlc.ProposalStatusPending && s != sqlc.ProposalStatusAwaitingApproval
}
