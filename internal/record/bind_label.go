package record

import (
	"slices"
	"strings"
)

// bindLabel reads how a record is called: one field, or a template of several. Without one it is the key.
func (b *binder) bindLabel(e *Entity, spec *entitySpec) {
	if spec.label.text == "" {
		return
	}
	what := e.Name + ": label"
	e.label = template{{name: spec.label.text}}
	if strings.ContainsAny(spec.label.text, "{}") {
		var err error
		if e.label, err = parseTemplate(spec.label.text); err != nil {
			b.problems.say(spec.label.line, "%s: %v", what, err)
		}
	}
	for _, name := range e.label.names() {
		f, ok := e.Field(name)
		switch {
		case !ok:
			b.problems.say(spec.label.line, "%s: %s exposes no field %q%s", what, e.Name, name, didYouMean(name, e.fieldNames()))
		case f.Masked:
			b.problems.say(spec.label.line, "%s: field %q is masked, and a label is shown", what, name)
		}
	}
}

func (e *Entity) fieldNames() []string {
	list := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		list[i] = f.Name
	}
	return list
}

// bindURL reads the deep link's template, of which the key is known: {key}, or a column of it.
func (b *binder) bindURL(e *Entity, spec *entitySpec) {
	text := spec.url.text
	if text == "" {
		return
	}
	var err error
	if e.url, err = parseTemplate(text); err != nil {
		b.problems.say(spec.url.line, "%s: url: %v", e.Name, err)
	}
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") && (!strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//")) {
		b.problems.say(spec.url.line, "%s: url begins with https://, http:// or /", e.Name)
	}
	known := append([]string{"key"}, e.Key...)
	for _, name := range e.url.names() {
		if !slices.Contains(known, name) {
			b.problems.say(spec.url.line, "%s: url: there is no {%s}; a link is made of {key} or of the key's columns%s", e.Name, name, didYouMean(name, known))
		}
	}
}
