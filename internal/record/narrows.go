package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// longest is how long a proposal waits at most.
const longest = 30 * day

// NotNarrower says that a policy is about nothing that is offered, or would give what is not.
type NotNarrower struct {
	Part    string // of the policy
	Message string
}

func (n *NotNarrower) Error() string { return n.Message }

func wider(part, message string, args ...any) error {
	return &NotNarrower{Part: part, Message: fmt.Sprintf(message, args...)}
}

// Narrows tells why a policy is no policy: it is about nothing that the registry offers, says nothing, or would give
// what the registry does not. The error is a *NotNarrower.
func (r *Registry) Narrows(p Policy) error {
	if p.Entity == "" && p.Tool == "" || p.Entity != "" && p.Tool != "" {
		return wider("entity", "a policy is about an entity, one of its operations, or a tool")
	}
	if !p.SwitchedOff && !p.PreviewOnly && p.Approvals == 0 && p.Approver == "" && p.Fields == nil && p.BulkCap == 0 && p.Lifetime == 0 && p.Roles == nil {
		return wider("", "this policy says nothing: it would change nothing")
	}
	if p.Approver != "" && p.Approvals == 0 {
		return wider("approver", "say how many have to approve, too")
	}
	subjects, err := r.subjects(p)
	if err != nil {
		return err
	}
	for _, s := range subjects {
		if err := s.narrowed(p); err != nil {
			return err
		}
	}
	return p.relevant(subjects)
}

// subject is one operation of an entity, or one action, that a policy is about.
type subject struct {
	name     string
	entity   *Entity
	op       Operation
	offer    offer
	lifetime time.Duration
}

func (r *Registry) subjects(p Policy) ([]subject, error) {
	var list []subject
	if p.Entity != "" {
		e, ok := r.Entity(p.Entity)
		switch {
		case !ok:
			return nil, wider("entity", "there is no entity %s%s", p.Entity, didYouMean(p.Entity, names(r.entities)))
		case p.Operation != "" && !e.Has(p.Operation):
			return nil, wider("operation", "%s does not offer %s, so there is nothing to narrow", p.Entity, p.Operation)
		}
	}
	for _, e := range r.entities {
		for _, op := range Operations {
			if p.bearsOn(e, op) && e.Has(op) {
				list = append(list, subject{e.Name + " " + string(op), e, op, e.offers[op], e.Lifetime})
			}
		}
	}
	for _, a := range r.actions {
		if p.Tool == a.Name || p.Tool == a.ToolName() {
			list = append(list, subject{a.Name, nil, Action, a.offer, a.Lifetime})
		}
	}
	if len(list) == 0 {
		return nil, wider("tool", "there is no tool %s", p.Tool)
	}
	return list, nil
}

// Subject gives what a policy is about as proposals name it: an entity and, unless it is all of them, one of its
// operations, or an action.
func (r *Registry) Subject(p Policy) (entity string, op Operation, action string) {
	for _, e := range r.entities {
		for _, op := range Operations {
			if p.Tool == e.ToolName(op) {
				return e.Name, op, ""
			}
		}
	}
	for _, a := range r.actions {
		if p.Tool == a.Name || p.Tool == a.ToolName() {
			return "", "", a.Name
		}
	}
	return p.Entity, p.Operation, ""
}

func names(entities []*Entity) []string {
	list := make([]string, len(entities))
	for i, e := range entities {
		list[i] = e.Name
	}
	return list
}

// narrowed tells what of a policy would be wider than what there is.
func (s subject) narrowed(p Policy) error {
	for _, role := range p.Roles {
		if !slices.Contains(roles, strings.ToUpper(role)) {
			return wider("roles", "there is no role %s", role)
		}
		if s.op.Writes() && strings.EqualFold(role, auditor) {
			return wider("roles", "an auditor proposes nothing")
		}
	}
	if !s.op.Writes() {
		return nil
	}
	switch has := s.offer.approval; {
	case p.Approvals > 0 && p.Approvals < has.Needed:
		return wider("approvals", "%s needs %d approvals already, which is more than %d", s.name, has.Needed, p.Approvals)
	case p.Approvals > maxApprovals:
		return wider("approvals", "at most %d can be asked to approve, not %d", maxApprovals, p.Approvals)
	case p.Approver != "" && has.Needed > 0 && slices.Index(ranks, p.Approver) < slices.Index(ranks, has.Role):
		return wider("approver", "%s is approved by %ss, which is stricter than by %ss", s.name, has.Role, p.Approver)
	case s.lifetime > 0 && time.Duration(p.Lifetime*float64(time.Second)) > s.lifetime:
		return wider("lifetime", "a proposal of %s lives %s already, which is shorter", s.name, s.lifetime)
	case s.op == BulkUpdate && p.BulkCap > s.entity.BulkCap:
		return wider("bulk_cap", "%s changes at most %d records already, which is less than %d", s.name, s.entity.BulkCap, p.BulkCap)
	}
	return s.fields(p)
}

func (s subject) fields(p Policy) error {
	if p.Fields != nil && s.entity == nil {
		return wider("fields", "an action sets the fields it sets; narrow the entity's")
	}
	for _, name := range p.Fields {
		if f, known := s.entity.Field(name); !known || !f.Writable {
			return wider("fields", "%s has no writable field %q, so it cannot be left writable", s.entity.Name, name)
		}
	}
	return nil
}

// relevant tells which part of a policy means nothing for what it is about.
func (p Policy) relevant(subjects []subject) error {
	writes := slices.ContainsFunc(subjects, func(s subject) bool { return s.op.Writes() })
	bulk := slices.ContainsFunc(subjects, func(s subject) bool { return s.op == BulkUpdate })
	switch {
	case !writes && (p.PreviewOnly || p.Approvals > 0 || p.Fields != nil || p.Lifetime > 0):
		return wider("operation", "reading needs no approval, lives no time and sets no field: switch it off, or say which roles may")
	case p.BulkCap > 0 && !bulk:
		return wider("bulk_cap", "a cap means nothing where no change of many is offered")
	case p.Lifetime > 0 && (p.Lifetime < 1 || p.Lifetime > longest.Seconds()):
		return wider("lifetime", "a proposal lives at least a second and at most %d days", longest/day)
	case p.BulkCap < 0 || p.Lifetime < 0 || p.Approvals < 0:
		return wider("", "a number is 1 or more")
	}
	return nil
}
