package gate

import (
	"time"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// extension is no kind of decision: it stands beside them, and leaves none behind.
const extension sqlc.DecisionKind = ""

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
	unsupported                // whoever confirmed it lost the right since
	await                      // it stands, and the approval of others has to follow
	apply                      // go
)

// facts are what a decision goes by, all read in the deciding transaction.
type facts struct {
	proposal  *sqlc.StoredProposal
	person    identity.Person
	signedIn  bool
	role      sqlc.Role // "" where the membership is gone
	decisions []Taken
	turnHolds bool
	// terms are those for whoever's right it is to write this: who confirmed it, else who decides.
	terms
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
	case final(f.proposal.Status) || f.confirmed() || f.voted():
		return decided
	case f.isLapsed():
		return lapsed
	case !f.turnHolds:
		return cutShort
	case f.checksCard && f.seen != f.proposal.Fingerprint:
		return outdated
	case f.kind == sqlc.DecisionKindConfirm:
		return f.countersigned()
	case f.kind == sqlc.DecisionKindApprove:
		return f.seconded()
	}
	return apply
}

// countersigned is what comes of a confirm that is in time, on this card.
func (f facts) countersigned() verdict {
	switch {
	case !f.offered:
		return switchoff
	case !f.read:
		return unreadable
	case f.shared && !(f.readable && f.permitted):
		return forbid // others may still have the right
	case !f.readable:
		return unreadable
	case !f.permitted:
		return unpermitted
	case f.needed() > 0:
		return await
	}
	return apply
}

// mayDecide is the matrix of who may do what.
func mayDecide(f facts) bool {
	if !decides(f.role) {
		return false
	}
	own := f.own()
	right := f.shared && f.insight && f.readable && f.permitted
	switch f.kind {
	case sqlc.DecisionKindApprove, sqlc.DecisionKindDisapprove:
		return f.mayApprove()
	case sqlc.DecisionKindConfirm, sqlc.DecisionKindSupersede:
		return own || right
	case sqlc.DecisionKindReject:
		return own || right || f.role == sqlc.RoleOperator
	}
	return own
}

// decides tells whether someone of a role ever decides.
func decides(role sqlc.Role) bool {
	return role == sqlc.RoleMember || role == sqlc.RoleApprover || role == sqlc.RoleOperator
}

func (f facts) own() bool { return f.proposal.ActingUserID == f.person.User().ID }

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
	if f.proposal.Status != sqlc.ProposalStatusAwaitingApproval {
		return false
	}
	return f.kind != sqlc.DecisionKindWithdraw && f.kind != sqlc.DecisionKindApprove && f.kind != sqlc.DecisionKindDisapprove
}

func (f facts) isLapsed() bool { return !f.now.Before(f.proposal.ExpiresAt) }

func final(s sqlc.ProposalStatus) bool {
	return s != sqlc.ProposalStatusPending && s != sqlc.ProposalStatusAwaitingApproval
}
