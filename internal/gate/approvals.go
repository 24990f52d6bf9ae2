package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Taken is a decision that was taken, with who did and what that person is in the workspace now: "" where
// they are no member any more, or disabled.
type Taken struct {
	*sqlc.ProposalDecision
	Name string
	Role sqlc.Role
}

// TakenOf gives decisions as they were read.
func TakenOf(rows []*sqlc.DecisionsOfProposalsRow) []Taken {
	list := make([]Taken, len(rows))
	for i, r := range rows {
		list[i] = Taken{&r.ProposalDecision, r.Person, sqlc.Role(r.Role)}
	}
	return list
}

// Counts tells whether an approval counts: its approver still has the role, is not the acting user, and did
// not confirm.
func Counts(d Taken, approvers sqlc.Role, actingUser id.User, all []Taken) bool {
	return d.Kind == sqlc.DecisionKindApprove && d.Role == approvers && d.PersonID != actingUser &&
		!slices.ContainsFunc(all, func(c Taken) bool { return c.Kind == sqlc.DecisionKindConfirm && c.PersonID == d.PersonID })
}

// needed is how many approvals have to follow: the stricter of the card and the configuration now, or what the
// configuration was when it was confirmed. What awaits approval needs one.
func (f facts) needed() int32 {
	n := max(f.proposal.ApprovalsNeeded, f.proposal.ApprovalsRaised, f.approvals)
	if f.proposal.Status == sqlc.ProposalStatusAwaitingApproval {
		n = max(n, 1)
	}
	return n
}

// ApprovalsNeeded is how many approvals a proposal needs: as its card says or, while it is open, the
// configuration now, whichever is more. Zero: none.
func (g *Gate) ApprovalsNeeded(p *sqlc.Proposal, under record.Policies) int32 {
	if final(p.Status) {
		return p.ApprovalsNeeded
	}
	f := facts{proposal: storedOf(p)}
	f.terms = g.policy(f.proposal, "", under)
	return f.needed()
}

// approvers is the role of those whose approval counts: the highest that the card, the configuration when it was
// confirmed, or the configuration now asks for.
func (f facts) approvers() sqlc.Role {
	role := f.approver
	if raised := f.proposal.ApproverRaised; raised != nil {
		role = higher(role, sqlc.Role(*raised))
	}
	if f.proposal.ApprovalsNeeded > 0 || role == "" {
		role = higher(role, f.proposal.ApproverRole)
	}
	return role
}

func higher(a, b sqlc.Role) sqlc.Role { return sqlc.Role(record.HigherRole(string(a), string(b))) }

// given is how many approvals count.
func (f facts) given() int32 {
	n := int32(0)
	for _, d := range f.decisions {
		if Counts(d, f.approvers(), f.proposal.ActingUserID, f.decisions) {
			n++
		}
	}
	return n
}

// mayApprove: whoever has the role, and neither proposed nor confirmed it. What is pending has not come to it.
func (f facts) mayApprove() bool {
	p, confirmer := f.proposal, f.confirmer()
	return !f.early() && f.role == f.approvers() && !f.own() && requires(p) && (confirmer == nil || confirmer.PersonID != f.person.User().ID)
}

// early: a vote on what nobody has confirmed yet.
func (f facts) early() bool {
	votes := f.kind == sqlc.DecisionKindApprove || f.kind == sqlc.DecisionKindDisapprove
	return votes && f.proposal.Status == sqlc.ProposalStatusPending && !f.isLapsed() && f.turnHolds
}

// requires tells whether approval follows, or followed, its confirm.
func requires(p *sqlc.StoredProposal) bool { return p.ApprovalsNeeded > 0 || p.ApprovalsRaised > 0 }

// seconded is what comes of an approval that is in time, on this card: the confirm is looked at again.
func (f facts) seconded() verdict {
	confirmer := f.confirmer()
	switch {
	case !f.offered:
		return switchoff
	case !f.read:
		return unreadable
	case confirmer == nil || !decides(confirmer.Role) || !f.shared && confirmer.PersonID != f.proposal.ActingUserID:
		return unsupported
	case !f.readable || !f.permitted:
		return unsupported
	case f.given()+1 < f.needed():
		return await
	}
	return apply
}

// confirmer is the confirm; nil where nobody has confirmed.
func (f facts) confirmer() *Taken {
	for i := range f.decisions {
		if f.decisions[i].Kind == sqlc.DecisionKindConfirm {
			return &f.decisions[i]
		}
	}
	return nil
}

// voted: who has approved does not disapprove, and the other way round.
func (f facts) voted() bool {
	if f.kind != sqlc.DecisionKindApprove && f.kind != sqlc.DecisionKindDisapprove {
		return false
	}
	return slices.ContainsFunc(f.decisions, func(d Taken) bool {
		return d.PersonID == f.person.User().ID && (d.Kind == sqlc.DecisionKindApprove || d.Kind == sqlc.DecisionKindDisapprove)
	})
}

// untimely says what had come of a proposal when its time was over.
func (f facts) untimely() string {
	if f.proposal.Status != sqlc.ProposalStatusAwaitingApproval {
		return "Its time is over: nobody confirmed it while it was open."
	}
	names := []string{}
	for _, d := range f.decisions {
		if d.Kind == sqlc.DecisionKindApprove {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return "Its time is over: it was confirmed, and nobody approved it in time."
	}
	return "Its time is over: it was confirmed, and not enough others approved it in time. Approved by: " + strings.Join(names, ", ") + "."
}

// takesTheLastApprover tells whether someone who confirms what is another's leaves too few who may approve it, being
// one of them.
func (d *decision) takesTheLastApprover(ctx context.Context, v verdict) (bool, error) {
	f := d.facts
	if v != await || f.kind != sqlc.DecisionKindConfirm || f.own() || f.role != f.approvers() {
		return false, nil
	}
	others, err := d.gate.queries.OtherApprovers(ctx, d.tx.Now(), sqlc.OtherApproversParams{
		WorkspaceID: f.proposal.WorkspaceID, Role: f.approvers(), ActingUserID: f.proposal.ActingUserID, PersonID: f.person.User().ID})
	return others < f.needed(), err
}
