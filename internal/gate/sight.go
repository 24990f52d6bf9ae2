package gate

import (
	"slices"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Sight is what someone sees of a workspace's proposals beside their own, and which of them they may decide:
// what the queries are asked with, so that every list, page and stream goes by the same rule.
type Sight struct {
	Viewer id.User
	// All: every proposal of the workspace.
	All bool
	// ApprovalsOf: those that require the approval of one of these roles.
	ApprovalsOf []string
	// Shared: those of these entities, which the workspace shares.
	Shared []string
	// Decides is false for an auditor and for a token.
	Decides bool
	// Confirms are the kinds of shared proposals they have the right to, each an entity, a space, and what an
	// action of it is called.
	Confirms []string
	// ConfirmsIn are the entities of those kinds.
	ConfirmsIn []string
	// ApprovesAs is the role of those whose approval they are asked for.
	ApprovesAs sqlc.Role
}

// Sight gives what someone sees, by their role.
func (g *Gate) Sight(who identity.Actor) Sight {
	return g.sights[who.Role()].as(who)
}

func (s Sight) as(who identity.Actor) Sight {
	s.Viewer, s.Decides = who.User().ID, Decides(who)
	return s
}

// sightsOf works out what each role sees, once: the registry does not change.
func sightsOf(r *record.Registry) map[sqlc.Role]Sight {
	all := map[sqlc.Role]Sight{}
	for _, role := range sqlc.AllRoleValues() {
		s := Sight{All: role == sqlc.RoleOperator || role == sqlc.RoleAuditor, ApprovalsOf: []string{string(role)}, ApprovesAs: role, Shared: []string{}, Confirms: []string{}, ConfirmsIn: []string{}}
		if role == sqlc.RoleApprover {
			s.ApprovalsOf = []string{string(sqlc.RoleMember), string(sqlc.RoleApprover), string(sqlc.RoleOperator)}
		}
		for _, e := range r.Entities() {
			if e.Confirm == record.ConfirmWorkspace && e.Offers(record.Get, string(role)) {
				s.Shared = append(s.Shared, e.Name)
				if kinds := rightsTo(r, e, string(role)); len(kinds) > 0 {
					s.Confirms, s.ConfirmsIn = append(s.Confirms, kinds...), append(s.ConfirmsIn, e.Name)
				}
			}
		}
		all[role] = s
	}
	return all
}

// rightsTo are the kinds of changes of an entity that a role has the right to.
func rightsTo(r *record.Registry, e *record.Entity, role string) []string {
	var kinds []string
	for _, op := range record.Operations {
		if op.Writes() && e.Offers(op, role) {
			kinds = append(kinds, e.Name+" "+ActionKind(op))
		}
	}
	for _, a := range r.Actions() {
		if a.Offers(role) {
			kinds = append(kinds, e.Name+" "+a.Name)
		}
	}
	return kinds
}

// ActionKind is what a proposal of an operation is called; that of a custom action has the action's name.
func ActionKind(op record.Operation) string { return "record_" + string(op) }

// Seen is what of a proposal says who sees it, and who may decide it now.
type Seen struct {
	ActingUser       id.User
	RequiresApproval bool
	ApproverRole     sqlc.Role
	Shared           bool // as it was proposed
	Entity           string
	ActionKind       string
	Status           sqlc.ProposalStatus
	// Deciders are those who have decided something about it, where it awaits approval.
	Deciders []id.User
}

func seen(p *sqlc.StoredProposal) Seen {
	approvers := p.ApproverRole
	if p.ApproverRaised != nil {
		approvers = sqlc.Role(*p.ApproverRaised)
	}
	return Seen{ActingUser: p.ActingUserID, RequiresApproval: requires(p), ApproverRole: approvers, Shared: p.Shared, Entity: p.Entity, ActionKind: p.ActionKind, Status: p.Status}
}

// Sees tells whether someone sees a proposal: the condition of the queries.
func (s Sight) Sees(p Seen) bool {
	return p.ActingUser == s.Viewer || s.All ||
		p.RequiresApproval && slices.Contains(s.ApprovalsOf, string(p.ApproverRole)) ||
		p.Shared && slices.Contains(s.Shared, p.Entity)
}

// Sees tells whether someone sees a proposal that was read.
func (g *Gate) Sees(who identity.Actor, p *sqlc.Proposal) bool {
	return g.Sight(who).Sees(seen(storedOf(p)))
}

// Awaits tells whether someone may decide a proposal now, and it is for them to: the condition of the queries.
// An operator may reject more.
func (s Sight) Awaits(p Seen) bool {
	own := p.ActingUser == s.Viewer
	switch {
	case !s.Decides:
		return false
	case p.Status == sqlc.ProposalStatusPending:
		return own || p.Shared && slices.Contains(s.Confirms, p.Entity+" "+p.ActionKind)
	case p.Status == sqlc.ProposalStatusAwaitingApproval:
		return !own && p.ApproverRole == s.ApprovesAs && !slices.Contains(p.Deciders, s.Viewer)
	}
	return false
}
