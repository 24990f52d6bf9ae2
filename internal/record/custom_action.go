package record

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// CustomAction is what the registry says of a custom action: who may propose it, what has to follow, and
// which writes the operator opens for it. What it does stands elsewhere, under the same name.
type CustomAction struct {
	Name string
	// Lifetime is how long its proposals wait; 0 for as long as those of the entity they are about.
	Lifetime time.Duration

	offer
	line   int
	writes map[string][]Operation // by entity
}

// Actions are in the order of countersign.yaml.
func (r *Registry) Actions() []*CustomAction { return r.actions }

// Action finds a custom action by its name, module.verb_noun.
func (r *Registry) Action(name string) (*CustomAction, bool) {
	for _, a := range r.actions {
		if a.Name == name {
			return a, true
		}
	}
	return nil, false
}

// Offers tells whether the registry offers the action to the role.
func (a *CustomAction) Offers(role string) bool {
	return slices.ContainsFunc(a.roles, func(r string) bool { return strings.EqualFold(r, role) })
}

// Approval says what has to follow a confirm of the action.
func (a *CustomAction) Approval() Approval { return a.approval }

// Opens tells whether the action may write an entity so. What it may not write it only previews.
func (a *CustomAction) Opens(e *Entity, op Operation) bool {
	return slices.Contains(a.writes[e.Name], op)
}

// CheckActions looks at whether every action of the registry is one of those that are built, and exposes what
// it works with: by action, the fields it needs of each entity. The error is a *Problems, as that of Load.
func (r *Registry) CheckActions(built map[string]map[string][]string) error {
	problems := &Problems{File: r.file}
	for _, a := range r.actions {
		needs, ok := built[a.Name]
		if !ok {
			problems.say(a.line, "there is no action %q%s", a.Name, didYouMean(a.Name, slices.Sorted(maps.Keys(built))))
		}
		for _, entity := range slices.Sorted(maps.Keys(needs)) {
			r.checkNeeds(a, entity, needs[entity], problems)
		}
	}
	return problems.err()
}

func (r *Registry) checkNeeds(a *CustomAction, entity string, fields []string, problems *Problems) {
	e, ok := r.Entity(entity)
	if !ok {
		problems.say(a.line, "action %s needs %s, which is no entity of this file", a.Name, entity)
		return
	}
	for _, name := range fields {
		if f, exposed := e.Field(name); !exposed || f.Masked {
			problems.say(a.line, "action %s needs the field %q of %s, which is not exposed", a.Name, name, entity)
		}
	}
}

// bindActions takes over what was parsed; the entities it names are there.
func (b *binder) bindActions(d *document) {
	for _, spec := range d.actions {
		a := &CustomAction{Name: spec.name, Lifetime: spec.lifetime, offer: spec.offer, line: spec.line, writes: map[string][]Operation{}}
		for _, route := range spec.writes {
			for _, w := range route.operations {
				a.writes[route.entity.text] = append(a.writes[route.entity.text], Operation(w.text))
			}
		}
		b.registry.actions = append(b.registry.actions, a)
	}
}

// opened tells whether some action may write an entity so.
func (r *Registry) opened(e *Entity, op Operation) bool {
	return slices.ContainsFunc(r.actions, func(a *CustomAction) bool { return a.Opens(e, op) })
}
