package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Tool is one operation of one entity, or one custom action, as offered to a model. Its name is made of letters, digits and
// underscores, at most 64: core_role_update.
type Tool struct {
	Name             string
	Entity           EntityInfo
	Operation        string // list, get, create, update, delete, bulk_update, action
	Write            bool
	Label            string
	RequiresApproval bool
	// ActionKind is what a proposal made by it is called: record_create, record_update, record_delete,
	// record_bulk_update, or the custom action's name.
	ActionKind  string
	Description string
	// Schema is the JSON Schema of the input it is validated with.
	Schema json.RawMessage

	// Inputs describe what a custom action takes; the others take what Entity says.
	Inputs []InputInfo

	entity *record.Entity
	op     record.Operation
	action *actions.Action
	terms  *record.CustomAction
	off    bool // a policy has switched it off
}

// EntityInfo describes an entity as far as it is exposed.
type EntityInfo struct {
	Name       string // module.entity
	Title      string
	Plural     string
	LabelField string
	Key        []string
	Fields     []FieldInfo
}

// FieldInfo describes one exposed field. Values are those of an enum; References names an entity.
type FieldInfo struct {
	Name, Label, Type          string
	Writable, Masked, Nullable bool
	MaxLength                  int
	Values                     []string
	References                 string
}

// offeredTo: by the registry, for this role, in the scope of this credential. An auditor proposes nothing.
func (t Tool) offeredTo(who identity.Actor) bool {
	if t.Write && (who.Role() == sqlc.RoleAuditor || !who.May(identity.ScopePropose)) {
		return false
	}
	role := string(who.Role())
	if t.shows() && !t.entity.Offers(record.Get, role) {
		return false // its card would show a record that this role does not read
	}
	if t.action != nil {
		return t.terms.Offers(role)
	}
	return t.entity.Offers(t.op, role) && (t.Write || who.May(identity.ScopeRead))
}

// shows tells whether its card shows a record that is there.
func (t Tool) shows() bool {
	return t.op == record.Update || t.op == record.Delete || t.op == record.BulkUpdate || t.action != nil
}

// under is the tool as policies leave it. What shows a record is off where reading it is.
func (t Tool) under(p gate.Policies) Tool {
	if t.action != nil {
		entity, terms := t.entity.Under(p, record.Get), t.terms.Under(p, t.entity)
		if entity != t.entity || terms != t.terms {
			off := p.ActionOff(t.terms, t.entity) || p.Off(t.entity, record.Get)
			t = actionTool(entity, *t.action, terms)
			t.off = off
		}
		return t
	}
	entity := t.entity.Under(p, t.op)
	if t.shows() {
		entity = entity.Under(p, record.Get)
	}
	if entity != t.entity {
		off := p.Off(t.entity, t.op) || t.shows() && p.Off(t.entity, record.Get)
		t = toolOf(entity, t.op)
		t.off = off
	}
	return t
}

// operations are those a tool can be.
var operations = []record.Operation{record.List, record.Get, record.Create, record.Update, record.Delete, record.BulkUpdate}

// catalogue makes the tools of a registry, in its order.
func catalogue(r *record.Registry, built []actions.Action) []Tool {
	list := []Tool{}
	for _, e := range r.Entities() {
		for _, op := range operations {
			if e.Has(op) {
				list = append(list, toolOf(e, op))
			}
		}
		list = append(list, actionsOf(r, e, built)...)
	}
	return list
}

func toolOf(e *record.Entity, op record.Operation) Tool {
	t := Tool{Name: e.ToolName(op), Entity: infoOf(e), Operation: string(op), Write: op != record.List && op != record.Get, entity: e, op: op}
	t.Label = labels[op] + " " + strings.ToLower(e.Title)
	if op == record.List || op == record.BulkUpdate {
		t.Label = labels[op] + " " + strings.ToLower(e.Plural)
	}
	if t.Write {
		t.ActionKind, t.RequiresApproval = gate.ActionKind(op), gate.ApprovalOf(e, op).Needed > 0
	}
	t.Description = describe(t)
	t.Schema = schemaOf(t)
	return t
}

var labels = map[record.Operation]string{
	record.List: "List", record.Get: "Read", record.Create: "Propose to create a", record.Update: "Propose to change a", record.Delete: "Propose to delete a",
	record.BulkUpdate: "Propose to change many"}

func describe(t Tool) string {
	if t.Write {
		return t.Label + ". It changes nothing: a person confirms or rejects the proposal in the application."
	}
	return t.Label + ", as far as the person may see them."
}

func infoOf(e *record.Entity) EntityInfo {
	info := EntityInfo{Name: e.Name, Title: e.Title, Plural: e.Plural, LabelField: e.LabelField(), Key: e.Key}
	for _, f := range e.Fields {
		info.Fields = append(info.Fields, FieldInfo{Name: f.Name, Label: f.Label, Type: string(f.Type), Writable: f.Writable, Masked: f.Masked,
			Nullable: f.Nullable, MaxLength: f.MaxLength, Values: f.Values, References: f.References})
	}
	return info
}

// find gives the tool of a name, or of an entity's operation, as policies leave it, if it is offered to someone. One
// that is offered but for a policy that switches it off says so.
func (s *Service) find(who identity.Actor, under gate.Policies, match func(Tool) bool) (Tool, bool) {
	for _, t := range s.tools {
		if !match(t) || !t.offeredTo(who) {
			continue
		}
		if t = t.under(under); t.off || t.offeredTo(who) {
			return t, true
		}
	}
	return Tool{}, false
}
