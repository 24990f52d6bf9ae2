package record

import (
	"fmt"
	"slices"
)

// operationSpec is what the file says of one operation.
type operationSpec struct {
	offer
	line int
}

// parseOperations reads `operations: [list, get]`, or a mapping that says roles and approval of each.
func (e *entitySpec) parseOperations(m mapping) {
	e.operations = map[Operation]*operationSpec{}
	everyRole := m.parseRoles()
	n, ok := m.values["operations"]
	if !ok {
		m.problems.say(e.line, "%s offers nothing; say operations, e.g. operations: [list, get]", e.name)
		return
	}
	switch n.kind {
	case listNode, textNode:
		for _, w := range m.words("operations") {
			e.addOperation(w, nil, everyRole, m.problems)
		}
	default:
		for _, p := range entries(m, "operations") {
			e.addOperation(word{text: p.key.text, line: p.key.line}, p.value, everyRole, m.problems)
		}
	}
	e.parseApproval(m)
}

func (e *entitySpec) addOperation(w word, details *node, everyRole []word, problems *Problems) {
	op := Operation(w.text)
	if !slices.Contains(Operations, op) {
		if w.text != "" {
			problems.say(w.line, "%s: there is no operation %q%s", e.name, w.text, didYouMean(w.text, operationNames()))
		}
		return
	}
	if e.operations[op] != nil {
		problems.say(w.line, "%s: operation %s is said twice", e.name, op)
		return
	}
	spec := &operationSpec{line: w.line, offer: offer{roles: defaultRoles(op), approval: none()}}
	e.operations[op] = spec
	if everyRole != nil {
		spec.roles = spellings(everyRole)
		if op.Writes() {
			spec.roles = slices.DeleteFunc(spec.roles, func(r string) bool { return r == auditor })
		}
	}
	if details != nil {
		e.detail(op, spec, details, problems)
	}
}

func (e *entitySpec) detail(op Operation, spec *operationSpec, details *node, problems *Problems) {
	m := mappingOf(details, fmt.Sprintf("%s: %s", e.name, op), problems, "roles", "approval")
	if list := m.parseRoles(); list != nil {
		spec.roles = spellings(list)
		if op.Writes() && slices.Contains(spec.roles, auditor) {
			problems.say(m.at("roles"), "%s: an AUDITOR proposes nothing; take it out of the roles of %s", e.name, op)
		}
	}
	if m.has("approval") {
		spec.approval = m.approval("approval")
		e.refuseApprovalOfRead(op, m.at("approval"), problems)
	}
}

// parseApproval reads `approval: {delete: 1}` beside a list of operations.
func (e *entitySpec) parseApproval(m mapping) {
	n, ok := m.values["approval"]
	if !ok {
		return
	}
	a := mappingOf(n, e.name+": approval", m.problems, operationNames()...)
	for name := range a.values {
		op := Operation(name)
		if e.operations[op] == nil {
			m.problems.say(a.at(name), "%s: approval of %s means nothing, since it is not among the operations", e.name, name)
			continue
		}
		e.operations[op].approval = a.approval(name)
		e.refuseApprovalOfRead(op, a.at(name), m.problems)
	}
}

func (e *entitySpec) refuseApprovalOfRead(op Operation, line int, problems *Problems) {
	if !op.Writes() {
		problems.say(line, "%s: %s changes nothing, so nobody has to approve it", e.name, op)
	}
}

// writes tells whether anything of the entity is written: preview only is not.
func (e *entitySpec) writes() bool {
	return e.opened || !e.previewOnly && slices.ContainsFunc(Operations, func(op Operation) bool { return op.Writes() && e.operations[op] != nil })
}

func (m mapping) parseRoles() []word {
	list := m.words("roles")
	for _, w := range list {
		if w.text != "" && !slices.Contains(roles, w.text) {
			m.problems.say(w.line, "%s: there is no role %q%s", m.what, w.text, didYouMean(w.text, roles))
		}
	}
	return list
}

func operationNames() []string {
	list := make([]string, len(Operations))
	for i, op := range Operations {
		list[i] = string(op)
	}
	return list
}

func spellings(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return list
}
