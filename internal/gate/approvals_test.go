package gate

import (
	"testing"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// As in the other table, the zero Person decides, so what the zero user did is its own.
var maria, me, aiko, jonas = id.NewUser(), id.User{}, id.NewUser(), id.NewUser()

// awaiting is a proposal of Maria's that needs n approvals and was confirmed by her, on which I, an approver,
// am about to do something.
func awaiting(n int32, kind sqlc.DecisionKind, change ...func(*facts)) facts {
	f := open(as(sqlc.RoleApprover))
	f.kind, f.checksCard = kind, kind == sqlc.DecisionKindApprove || kind == sqlc.DecisionKindConfirm
	f.proposal.ActingUserID, f.proposal.ApprovalsNeeded, f.proposal.Status = maria, n, sqlc.ProposalStatusAwaitingApproval
	f.decisions = []Taken{taken(sqlc.DecisionKindConfirm, maria, sqlc.RoleMember)}
	for _, do := range change {
		do(&f)
	}
	return f
}

func approvedBy(who id.User, role sqlc.Role) func(*facts) {
	return func(f *facts) { f.decisions = append(f.decisions, taken(sqlc.DecisionKindApprove, who, role)) }
}
func confirmedBy(who id.User, role sqlc.Role) func(*facts) {
	return func(f *facts) { f.decisions[0] = taken(sqlc.DecisionKindConfirm, who, role) }
}
func status(s sqlc.ProposalStatus) func(*facts) { return func(f *facts) { f.proposal.Status = s } }
func shared(f *facts)                           { f.shared = true }
func mine(f *facts)                             { f.proposal.ActingUserID = me }
func nowNeeds(n int32) func(*facts)             { return func(f *facts) { f.approvals = n } }
func needs(n int32) func(*facts)                { return func(f *facts) { f.proposal.ApprovalsNeeded = n } }
func raised(n int32) func(*facts)               { return func(f *facts) { f.proposal.ApprovalsRaised = n } }

func TestSettleApprovals(t *testing.T) {
	const approve, disapprove = sqlc.DecisionKindApprove, sqlc.DecisionKindDisapprove
	const approver, member = sqlc.RoleApprover, sqlc.RoleMember
	for _, c := range []struct {
		name  string
		facts facts
		want  verdict
	}{
		{"confirm, the card needs one", open(needs(1)), await},
		{"confirm, the configuration needs one since", open(nowNeeds(1)), await},
		{"confirm, it needs none any more, the card does", open(needs(1), nowNeeds(0)), await},
		{"confirm, switched off", open(needs(1), off), switchoff},
		{"confirm, right lost", open(needs(1), noRight), unpermitted},

		{"the only approval", awaiting(1, approve), apply},
		{"the first of two", awaiting(2, approve), await},
		{"the second of two", awaiting(2, approve, approvedBy(aiko, approver)), apply},
		{"the second, raised to three since", awaiting(2, approve, approvedBy(aiko, approver), nowNeeds(3)), await},
		{"the second, one had been asked for and then none", awaiting(0, approve, raised(2), approvedBy(aiko, approver)), apply},
		{"what awaits needs one, whatever is said", awaiting(0, approve, raised(1), nowNeeds(0)), apply},
		{"the second, the first has lost the role", awaiting(2, approve, approvedBy(aiko, member)), await},
		{"the second, the first is disabled or gone", awaiting(2, approve, approvedBy(aiko, "")), await},
		{"the second, the first was the acting user", awaiting(2, approve, approvedBy(maria, approver)), await},
		{"the second, the first had confirmed", awaiting(2, approve, shared, confirmedBy(aiko, approver), approvedBy(aiko, approver)), await},
		{"the third where two did not count", awaiting(1, approve, approvedBy(aiko, ""), approvedBy(jonas, member)), apply},

		{"by a member", awaiting(1, approve, as(member)), forbid},
		{"by an operator", awaiting(1, approve, as(sqlc.RoleOperator)), forbid},
		{"by an auditor", awaiting(1, approve, as(sqlc.RoleAuditor)), forbid},
		{"by one whose membership is gone", awaiting(1, approve, as("")), forbid},
		{"signed out", awaiting(1, approve, signedOut), forbid},
		{"by an operator, who is asked", awaiting(1, approve, as(sqlc.RoleOperator), func(f *facts) { f.proposal.ApproverRole = sqlc.RoleOperator }), apply},
		{"by an approver, where operators are asked", awaiting(1, approve, func(f *facts) { f.proposal.ApproverRole = sqlc.RoleOperator }), forbid},
		{"by a member, as the card says, where the configuration asks for approvers", awaiting(1, approve, as(member), asksFor(member, approver)), forbid},
		{"by an approver, where the card says members", awaiting(1, approve, asksFor(member, approver)), apply},
		{"the second, the first as the card says and not as the configuration", awaiting(2, approve, approvedBy(aiko, member), asksFor(member, approver)), await},
		{"by an approver, where the configuration came to ask for operators", awaiting(1, approve, asksFor(approver, sqlc.RoleOperator)), forbid},
		{"by an operator, as the card says, where the configuration came to ask for approvers", awaiting(1, approve, as(sqlc.RoleOperator), asksFor(sqlc.RoleOperator, approver)), apply},
		{"by an approver, where the card says operators", awaiting(1, approve, asksFor(sqlc.RoleOperator, approver)), forbid},
		{"by an operator, where the configuration asked for operators when it was confirmed", awaiting(1, approve, as(sqlc.RoleOperator), raisedTo(sqlc.RoleOperator)), apply},
		{"by an approver, where the configuration asked for operators when it was confirmed", awaiting(1, approve, raisedTo(sqlc.RoleOperator)), forbid},
		{"by its acting user", awaiting(1, approve, mine, confirmedBy(me, approver)), forbid},
		{"by its acting user, another confirmed", awaiting(1, approve, mine, shared, confirmedBy(aiko, approver)), forbid},
		{"by who confirmed it", awaiting(1, approve, shared, confirmedBy(me, approver)), forbid},
		{"pending", open(approving, anothers, as(approver), needs(1)), forbid},
		{"pending, and its time is over", open(approving, anothers, as(approver), needs(1), expired), lapsed},
		{"pending, its turn was cut short", open(approving, anothers, as(approver), needs(1), brokenTurn), cutShort},
		{"pending, disapproving", open(disapproving, anothers, as(approver), needs(1)), forbid},
		{"applied, never needed approval", awaiting(0, approve, status(sqlc.ProposalStatusApplied)), forbid},

		{"again", awaiting(2, approve, approvedBy(me, approver)), replay},
		{"again, on another card", awaiting(2, approve, approvedBy(me, approver), otherCard), replay},
		{"again, applied since", awaiting(2, approve, approvedBy(me, approver), approvedBy(aiko, approver), status(sqlc.ProposalStatusApplied)), replay},
		{"again, expired since", awaiting(2, approve, approvedBy(me, approver), expired), replay},
		{"approved, now disapproving", awaiting(2, disapprove, approvedBy(me, approver)), decided},
		{"applied by others", awaiting(1, approve, approvedBy(aiko, approver), status(sqlc.ProposalStatusApplied)), decided},
		{"rejected while pending", awaiting(1, approve, status(sqlc.ProposalStatusRejected)), decided},
		{"withdrawn", awaiting(1, disapprove, status(sqlc.ProposalStatusWithdrawn)), decided},
		{"its time is over", awaiting(1, approve, expired), lapsed},
		{"its time is over, disapproving", awaiting(1, disapprove, expired), lapsed},
		{"its turn was cut short", awaiting(1, approve, brokenTurn), cutShort},
		{"on another card", awaiting(1, approve, otherCard), outdated},
		{"on no card", awaiting(1, approve, func(f *facts) { f.seen = "" }), outdated},

		{"switched off", awaiting(1, approve, off), switchoff},
		{"reading switched off", awaiting(1, approve, unread), unreadable},
		{"the confirmer's role has no right to it", awaiting(1, approve, noRight), unsupported},
		{"the confirmer does not read it any more", awaiting(1, approve, func(f *facts) { f.readable = false }), unsupported},
		{"the confirmer is gone or disabled", awaiting(1, approve, confirmedBy(maria, "")), unsupported},
		{"the confirmer is an auditor", awaiting(1, approve, confirmedBy(maria, sqlc.RoleAuditor)), unsupported},
		{"another confirmed, shared", awaiting(1, approve, shared, confirmedBy(aiko, approver)), apply},
		{"another confirmed, shared no more", awaiting(1, approve, confirmedBy(aiko, approver)), unsupported},

		{"disapproving", awaiting(1, disapprove), apply},
		{"disapproving, another approved", awaiting(2, disapprove, approvedBy(aiko, approver)), apply},
		{"disapproving what is switched off", awaiting(1, disapprove, off), apply},
		{"disapproving by a member", awaiting(1, disapprove, as(member)), forbid},
		{"disapproving by its acting user", awaiting(1, disapprove, mine), forbid},

		{"confirming again", awaiting(1, sqlc.DecisionKindConfirm, mine, confirmedBy(me, approver)), replay},
		{"another's confirm", awaiting(1, sqlc.DecisionKindConfirm, shared), decided},
		{"a reject", awaiting(1, sqlc.DecisionKindReject, mine), decided},
		{"an operator's reject", awaiting(1, sqlc.DecisionKindReject, as(sqlc.RoleOperator)), decided},
		{"more time", awaiting(1, extension, mine), decided},
		{"an edit", awaiting(1, sqlc.DecisionKindSupersede, mine), decided},
		{"withdrawing", awaiting(1, sqlc.DecisionKindWithdraw, mine), apply},
		{"withdrawing another's", awaiting(1, sqlc.DecisionKindWithdraw), forbid},
	} {
		if got := settle(c.facts); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}

func asksFor(card, now sqlc.Role) func(*facts) {
	return func(f *facts) { f.proposal.ApproverRole, f.approver, f.approvals = card, now, 1 }
}
func raisedTo(role sqlc.Role) func(*facts) {
	return func(f *facts) { f.proposal.ApproverRaised = new(string(role)) }
}
func approving(f *facts)    { f.kind = sqlc.DecisionKindApprove }
func disapproving(f *facts) { f.kind, f.checksCard = sqlc.DecisionKindDisapprove, false }

func TestSettleShared(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts facts
		want  verdict
	}{
		{"another's, with the right", open(anothers, shared), apply},
		{"another's, with the right and no sight of it", open(anothers, shared, func(f *facts) { f.insight = false }), forbid},
		{"mine, with no sight of another's", open(shared, func(f *facts) { f.insight = false }), apply},
		{"another's, as operator", open(anothers, shared, as(sqlc.RoleOperator)), apply},
		{"another's, as auditor", open(anothers, shared, as(sqlc.RoleAuditor)), forbid},
		{"another's, without the right", open(anothers, shared, noRight), forbid},
		{"another's, as operator without the right", open(anothers, shared, noRight, as(sqlc.RoleOperator)), forbid},
		{"another's, which this role does not read", open(anothers, shared, func(f *facts) { f.readable = false }), forbid},
		{"another's, switched off", open(anothers, shared, off, noRight), forbid},
		{"another's, needs approval", open(anothers, shared, needs(1)), await},
		{"another's, rejected", open(anothers, shared, rejecting), apply},
		{"another's, rejected without the right", open(anothers, shared, rejecting, noRight), forbid},
		{"another's, rejected by an operator without the right", open(anothers, shared, rejecting, noRight, as(sqlc.RoleOperator)), apply},
		{"another's, edited", open(anothers, shared, func(f *facts) { f.kind = sqlc.DecisionKindSupersede }), apply},
		{"another's, withdrawn", open(anothers, shared, withdrawing), forbid},
		{"another's, given more time", open(anothers, shared, func(f *facts) { f.kind, f.checksCard = extension, false }), forbid},
		{"mine, without the right", open(shared, noRight), forbid},
		{"mine, rejected without the right", open(shared, noRight, rejecting), apply},
		{"mine, switched off", open(shared, off, noRight), switchoff},
		{"mine, nobody reads it", open(shared, unread), unreadable},
	} {
		if got := settle(c.facts); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}
