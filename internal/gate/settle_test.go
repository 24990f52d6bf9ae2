package gate

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// The zero Person has the zero user's id, so a proposal of the zero user is its own, and one of any other
// user is another's: enough to try every question of settle without a sign-in.
func open(change ...func(*facts)) facts {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f := facts{
		proposal: &sqlc.StoredProposal{Status: sqlc.ProposalStatusPending, Fingerprint: "card", ExpiresAt: now.Add(time.Minute), ApproverRole: sqlc.RoleApprover},
		signedIn: true, role: sqlc.RoleMember, turnHolds: true, terms: terms{offered: true, read: true, readable: true, insight: true, permitted: true},
		kind: sqlc.DecisionKindConfirm, checksCard: true, seen: "card", now: now}
	for _, do := range change {
		do(&f)
	}
	return f
}

func anothers(f *facts)   { f.proposal.ActingUserID = id.NewUser() }
func expired(f *facts)    { f.now = f.proposal.ExpiresAt }
func otherCard(f *facts)  { f.seen = "another" }
func off(f *facts)        { f.offered = false }
func unread(f *facts)     { f.read, f.readable = false, false }
func noRight(f *facts)    { f.permitted = false }
func signedOut(f *facts)  { f.signedIn = false }
func brokenTurn(f *facts) { f.turnHolds = false }
func rejecting(f *facts)  { f.kind, f.checksCard = sqlc.DecisionKindReject, false }
func withdrawing(f *facts) {
	f.kind, f.checksCard = sqlc.DecisionKindWithdraw, false
}
func as(role sqlc.Role) func(*facts) { return func(f *facts) { f.role = role } }
func was(status sqlc.ProposalStatus, kind sqlc.DecisionKind, by id.User) func(*facts) {
	return func(f *facts) {
		f.proposal.Status = status
		f.decisions = append(f.decisions, taken(kind, by, sqlc.RoleMember))
	}
}

func taken(kind sqlc.DecisionKind, by id.User, role sqlc.Role) Taken {
	return Taken{ProposalDecision: &sqlc.ProposalDecision{Kind: kind, PersonID: by}, Role: role}
}

func TestSettle(t *testing.T) {
	me, other := id.User{}, id.NewUser()
	applied := was(sqlc.ProposalStatusApplied, sqlc.DecisionKindConfirm, me)
	for _, c := range []struct {
		name  string
		facts facts
		want  verdict
	}{
		{"mine, open, this card", open(), apply},
		{"no live sign-in", open(signedOut), forbid},
		{"another's", open(anothers), forbid},
		{"another's, as approver", open(anothers, as(sqlc.RoleApprover)), forbid},
		{"another's, as operator", open(anothers, as(sqlc.RoleOperator)), forbid},
		{"another's, rejected by an operator", open(anothers, rejecting, as(sqlc.RoleOperator)), apply},
		{"another's, rejected by a member", open(anothers, rejecting), forbid},
		{"another's, withdrawn by an operator", open(anothers, withdrawing, as(sqlc.RoleOperator)), forbid},
		{"mine, but an auditor decides nothing", open(as(sqlc.RoleAuditor)), forbid},
		{"mine, but the membership is gone", open(as("")), forbid},
		{"mine, as operator", open(as(sqlc.RoleOperator)), apply},
		{"confirmed before by me", open(applied), replay},
		{"confirmed before by me, with another card", open(applied, otherCard), replay},
		{"confirmed before by me, expired since", open(applied, expired), replay},
		{"confirmed before by me, switched off since", open(applied, off), replay},
		{"failed before by me", open(was(sqlc.ProposalStatusFailed, sqlc.DecisionKindConfirm, me)), replay},
		{"rejected before by an operator", open(was(sqlc.ProposalStatusRejected, sqlc.DecisionKindReject, other)), decided},
		{"rejected before by me, now confirmed", open(was(sqlc.ProposalStatusRejected, sqlc.DecisionKindReject, me)), decided},
		{"confirmed before, now rejected", open(applied, rejecting), decided},
		{"stored as expired", open(was(sqlc.ProposalStatusExpired, sqlc.DecisionKindExpire, me)), decided},
		{"at the very moment it expires", open(expired), lapsed},
		{"expired, another card", open(expired, otherCard), lapsed},
		{"expired, rejecting", open(expired, rejecting), lapsed},
		{"its turn was cut short", open(brokenTurn), cutShort},
		{"its turn was cut short, rejecting", open(brokenTurn, rejecting), cutShort},
		{"another card", open(otherCard), outdated},
		{"no card", open(func(f *facts) { f.seen = "" }), outdated},
		{"another card, switched off", open(otherCard, off), outdated},
		{"switched off", open(off), switchoff},
		{"switched off, rejecting", open(off, rejecting), apply},
		{"reading switched off", open(unread), unreadable},
		{"right lost", open(noRight), unpermitted},
		{"waiting for approval, confirmed again by me", open(was(sqlc.ProposalStatusAwaitingApproval, sqlc.DecisionKindConfirm, me)), replay},
		{"waiting for approval, rejecting", open(was(sqlc.ProposalStatusAwaitingApproval, sqlc.DecisionKindConfirm, me), rejecting), decided},
		{"waiting for approval, withdrawing", open(was(sqlc.ProposalStatusAwaitingApproval, sqlc.DecisionKindConfirm, me), withdrawing), apply},
	} {
		if got := settle(c.facts); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}

func TestEveryOpenMoveHasAVerdictForEveryRole(t *testing.T) {
	for _, role := range append(sqlc.AllRoleValues(), "", "stranger") {
		for _, status := range sqlc.AllProposalStatusValues() {
			f := open(as(role), func(f *facts) { f.proposal.Status = status })
			if v := settle(f); v == apply && (final(status) || role == sqlc.RoleAuditor || role == "" || role == "stranger") {
				t.Errorf("%s may confirm what is %s", role, status)
			}
		}
	}
}

func TestTheZeroPersonDecidesNothing(t *testing.T) {
	g := &Gate{}
	for name, do := range map[string]func() (*Answer, error){
		"confirm":    func() (*Answer, error) { return g.Confirm(t.Context(), identity.Person{}, id.NewProposal(), "card") },
		"reject":     func() (*Answer, error) { return g.Reject(t.Context(), identity.Person{}, id.NewProposal(), "") },
		"approve":    func() (*Answer, error) { return g.Approve(t.Context(), identity.Person{}, id.NewProposal(), "card") },
		"disapprove": func() (*Answer, error) { return g.Disapprove(t.Context(), identity.Person{}, id.NewProposal(), "") },
		"withdraw":   func() (*Answer, error) { return g.Withdraw(t.Context(), identity.Person{}, id.NewProposal()) },
		"extend":     func() (*Answer, error) { return g.Extend(t.Context(), identity.Person{}, id.NewProposal()) },
	} {
		if _, err := do(); CodeOf(err) != Forbidden {
			t.Errorf("%s by nobody: %v", name, err)
		}
	}
}
