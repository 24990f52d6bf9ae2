package record

import (
	"fmt"
	"regexp"
)

// fieldSpec is a field as the file describes it.
type fieldSpec struct {
	what       string // for sentences
	name       string
	line       int
	column     word
	label      string
	writable   bool
	hidden     bool
	masked     bool
	required   *bool
	references word
}

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

func (e *entitySpec) parseFields(m mapping) {
	if !m.has("fields") {
		m.problems.say(e.line, "%s exposes no fields; list those the assistant may see", e.name)
	}
	for _, p := range entries(m, "fields") {
		e.fields = append(e.fields, e.parseField(p, m.problems))
	}
}

func (e *entitySpec) parseField(p pair, problems *Problems) *fieldSpec {
	f := &fieldSpec{name: p.key.text, line: p.key.line, what: fmt.Sprintf("%s: field %q", e.name, p.key.text)}
	if !fieldName.MatchString(f.name) {
		problems.say(f.line, "%s has to be named in letters, digits and _; say which column it is with column", f.what)
	}
	m := mappingOf(p.value, f.what, problems, "column", "label", "writable", "hidden", "masked", "required", "references")
	m.line = f.line
	f.writable, f.hidden, f.masked = m.flag("writable", false), m.flag("hidden", false), m.flag("masked", false)
	f.references = m.word("references")
	f.column = word{text: f.name, line: f.line}
	if m.has("column") {
		f.column = m.word("column")
	}
	f.label = f.defaultLabel()
	if m.has("label") {
		f.label = m.word("label").text
	}
	if m.has("required") {
		required := m.flag("required", false)
		f.required = &required
	}
	f.contradictions(m)
	return f
}

// defaultLabel is the name for people; what role_id references is called Role.
func (f *fieldSpec) defaultLabel() string {
	name := f.name
	if f.references.text != "" && len(name) > 3 && name[len(name)-3:] == "_id" {
		name = name[:len(name)-3]
	}
	return humanise(name)
}

func (f *fieldSpec) contradictions(m mapping) {
	if f.hidden && (f.writable || f.masked || f.references.text != "") {
		m.problems.say(f.line, "%s is hidden, so it cannot be writable, masked or a reference", f.what)
	}
	if f.required != nil && !f.writable {
		m.problems.say(m.at("required"), "%s: required means nothing, since it is not writable", f.what)
	}
}
