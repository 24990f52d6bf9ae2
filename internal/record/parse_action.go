package record

import (
	"slices"
	"strings"
	"time"
)

// actionSpec is a custom action as the file offers it.
type actionSpec struct {
	offer
	name     string
	line     int
	lifetime time.Duration
	writes   []routeSpec
}

// routeSpec is an entity that an action may write, and how.
type routeSpec struct {
	entity     word
	operations []word
}

// routes are what a planned change can be; many updates are updates one by one.
var routes = []string{string(Create), string(Update), string(Delete)}

// parseAction reads `mrp.adjust_order: {writes: {mrp.production_order: [update]}}`.
func parseAction(p pair, problems *Problems) *actionSpec {
	a := &actionSpec{name: p.key.text, line: p.key.line, offer: offer{roles: defaultRoles(Action), approval: none()}}
	what := "action " + a.name
	if !entityName.MatchString(a.name) || len(a.name) > maxActionName {
		problems.say(a.line, "%q has to be module.verb_noun in small letters, digits and _, e.g. mrp.adjust_order, of at most %d characters", a.name, maxActionName)
	}
	m := mappingOf(p.value, what, problems, "roles", "approval", "lifetime", "writes")
	m.line = a.line
	if list := m.parseRoles(); list != nil {
		a.roles = spellings(list)
		if slices.Contains(a.roles, auditor) {
			problems.say(m.at("roles"), "%s: an AUDITOR proposes nothing; take it out of the roles", what)
		}
	}
	if m.has("approval") {
		a.approval = m.approval("approval")
	}
	a.lifetime = m.lifetime(0, maxLifetime, "30m")
	for _, route := range entries(m, "writes") {
		a.writes = append(a.writes, m.parseRoute(route))
	}
	return a
}

const maxActionName = 64 // which is what its tool's name may have

func (m mapping) parseRoute(p pair) routeSpec {
	inner := mapping{line: p.key.line, what: m.what + ": writes", values: map[string]*node{p.key.text: p.value}, problems: m.problems}
	r := routeSpec{entity: word{text: p.key.text, line: p.key.line}, operations: inner.words(p.key.text)}
	for _, w := range r.operations {
		if w.text != "" && !slices.Contains(routes, w.text) {
			m.problems.say(w.line, "%s: writes: %s can be opened for %s, not for %q%s", m.what, p.key.text, strings.Join(routes, ", "), w.text, didYouMean(w.text, routes))
		}
	}
	return r
}

// checkActions looks at what actions say of entities. An entity that one writes is written, whatever it offers.
func (d *document) checkActions(problems *Problems) {
	for _, a := range d.actions {
		for _, r := range a.writes {
			i := slices.IndexFunc(d.entities, func(e *entitySpec) bool { return e.name == r.entity.text })
			switch {
			case i < 0:
				problems.say(r.entity.line, "action %s writes %q, which is no entity of this file%s", a.name, r.entity.text, didYouMean(r.entity.text, d.entityNames()))
			case d.entities[i].previewOnly:
				problems.say(r.entity.line, "action %s writes %s, which is preview_only, so nothing of it is written", a.name, r.entity.text)
			default:
				d.entities[i].opened = true
			}
		}
	}
}

// checkTools refuses an action whose tool would be called as an entity's.
func (d *document) checkTools(a *actionSpec, tools map[string]*entitySpec, problems *Problems) {
	for _, op := range Operations {
		before, ends := strings.CutSuffix(strings.ReplaceAll(a.name, ".", "_"), "_"+string(op))
		if e := tools[before]; ends && e != nil {
			problems.say(a.line, "action %s and %s of %s would give their tools the same name", a.name, op, e.name)
		}
	}
}

func (d *document) entityNames() []string {
	list := make([]string, len(d.entities))
	for i, e := range d.entities {
		list[i] = e.name
	}
	return list
}
