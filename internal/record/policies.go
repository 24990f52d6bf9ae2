package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Policy takes something away, in one workspace, from what countersign.yaml offers: of an entity, of one of its
// operations, or of a tool. What is zero takes nothing away. A policy cannot give anything: each of its parts is
// met with what the registry says, and the stricter holds.
type Policy struct {
	Entity      string    `json:"entity"`
	Operation   Operation `json:"operation"` // empty: all of the entity's
	Tool        string    `json:"tool"`
	SwitchedOff bool      `json:"switched_off"`
	PreviewOnly bool      `json:"preview_only"`
	Approvals   int32     `json:"approvals"`
	Approver    string    `json:"approver"`
	// Fields are those that may still be proposed, where it is not nil.
	Fields  []string `json:"fields"`
	BulkCap int      `json:"bulk_cap"`
	// Lifetime is in seconds.
	Lifetime float64 `json:"lifetime"`
	// Roles are those that may still use it, where it is not nil.
	Roles []string `json:"roles"`
}

// Policies are those of one workspace, as one call or one decision read them: what it goes by from then on.
type Policies struct {
	// Version counts their changes.
	Version int64
	list    []Policy
}

// PoliciesOf makes them of what the database gives, a JSON array.
func PoliciesOf(version int64, list json.RawMessage) (Policies, error) {
	p := Policies{Version: version}
	return p, json.Unmarshal(list, &p.list)
}

// ToolName is how models call an operation of an entity.
func (e *Entity) ToolName(op Operation) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, e.Name)
	return clean[:min(len(clean), 50)] + "_" + string(op)
}

// ToolName is how models call the action.
func (a *CustomAction) ToolName() string { return ActionTool(a.Name) }

// ActionTool is how models call the action of a name.
func ActionTool(name string) string { return strings.ReplaceAll(name, ".", "_") }

// on are the policies that bear on an operation of an entity. A change of many is at least a change of one.
func (p Policies) on(e *Entity, op Operation) []Policy {
	var list []Policy
	for _, one := range p.list {
		if one.bearsOn(e, op) || op == BulkUpdate && one.bearsOn(e, Update) {
			list = append(list, one)
		}
	}
	return list
}

func (p Policy) bearsOn(e *Entity, op Operation) bool {
	return p.Entity == e.Name && (p.Operation == "" || p.Operation == op) || p.Tool == e.ToolName(op)
}

// onAction are those that bear on an action about an entity.
func (p Policies) onAction(a *CustomAction, about *Entity) []Policy {
	var list []Policy
	for _, one := range p.list {
		if one.Tool == a.Name || one.Tool == a.ToolName() || one.Entity == about.Name && one.Operation == "" {
			list = append(list, one)
		}
	}
	return list
}

// Off tells whether a policy switches an operation of an entity off.
func (p Policies) Off(e *Entity, op Operation) bool {
	return slices.ContainsFunc(p.on(e, op), func(one Policy) bool { return one.SwitchedOff })
}

// Bars tells whether a policy takes an operation of an entity from a role. What the registry says of roles is not
// asked: an action may be offered to more of them than the writes it opens.
func (p Policies) Bars(e *Entity, op Operation, role string) bool {
	return slices.ContainsFunc(p.on(e, op), func(one Policy) bool {
		return one.Roles != nil && !slices.ContainsFunc(one.Roles, func(left string) bool { return strings.EqualFold(left, role) })
	})
}

// ActionOff tells whether a policy switches an action off.
func (p Policies) ActionOff(a *CustomAction, about *Entity) bool {
	return slices.ContainsFunc(p.onAction(a, about), func(one Policy) bool { return one.SwitchedOff })
}

// Under is the entity as policies leave it for one of its operations; itself, where none bears on that.
func (e *Entity) Under(p Policies, op Operation) *Entity {
	policies := p.on(e, op)
	if len(policies) == 0 {
		return e
	}
	narrow := *e
	narrow.offers, narrow.Fields = maps.Clone(e.offers), slices.Clone(e.Fields)
	for _, one := range policies {
		one.narrow(&narrow, op)
	}
	return &narrow
}

func (p Policy) narrow(e *Entity, op Operation) {
	if o, offered := e.offers[op]; offered {
		if e.offers[op] = p.offer(o, op); p.SwitchedOff {
			delete(e.offers, op)
		}
	}
	if !op.Writes() {
		return
	}
	e.PreviewOnly = e.PreviewOnly || p.PreviewOnly
	if p.BulkCap > 0 {
		e.BulkCap = min(e.BulkCap, p.BulkCap)
	}
	e.Lifetime = p.shorter(e.Lifetime)
	if p.Fields == nil {
		return
	}
	for i, f := range e.Fields {
		if f.Writable && !slices.Contains(p.Fields, f.Name) {
			closed := *f
			closed.Writable = false
			e.Fields[i] = &closed
		}
	}
}

// offer is what is left of who may, and what has to follow.
func (p Policy) offer(o offer, op Operation) offer {
	if p.Roles != nil {
		o.roles = slices.DeleteFunc(slices.Clone(o.roles), func(role string) bool {
			return !slices.ContainsFunc(p.Roles, func(left string) bool { return strings.EqualFold(left, role) })
		})
	}
	if op.Writes() {
		o.approval = o.approval.And(p.approval())
	}
	return o
}

func (p Policy) approval() Approval {
	approval := none()
	approval.Needed = p.Approvals
	if p.Approver != "" {
		approval.Role = p.Approver
	}
	return approval
}

func (p Policy) shorter(than time.Duration) time.Duration {
	if life := time.Duration(p.Lifetime * float64(time.Second)); life > 0 && (than == 0 || life < than) {
		return life
	}
	return than
}

// Under is the action as policies leave it.
func (a *CustomAction) Under(p Policies, about *Entity) *CustomAction {
	policies := p.onAction(a, about)
	if len(policies) == 0 {
		return a
	}
	narrow := *a
	for _, one := range policies {
		narrow.offer = one.offer(narrow.offer, Action)
		if one.Lifetime > 0 {
			narrow.Lifetime = one.shorter(cmp.Or(narrow.Lifetime, about.Lifetime))
		}
		if one.PreviewOnly {
			narrow.writes = nil
		}
	}
	return &narrow
}

// ranks are the roles that approve, the lowest first.
var ranks = []string{"member", "approver", "operator"}

// HigherRole is that of two roles which stands higher among those that approve; none stands below all.
func HigherRole(a, b string) string {
	if slices.Index(ranks, b) > slices.Index(ranks, a) {
		return b
	}
	return a
}

// And is the approval that satisfies both: as many, of the higher role, in the shorter time.
func (a Approval) And(b Approval) Approval {
	switch {
	case b.Needed == 0:
		return a
	case a.Needed == 0:
		return b
	}
	both := Approval{Needed: max(a.Needed, b.Needed), Role: a.Role, Lifetime: min(a.Lifetime, b.Lifetime)}
	both.Role = HigherRole(a.Role, b.Role)
	return both
}
