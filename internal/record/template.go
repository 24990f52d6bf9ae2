package record

import (
	"errors"
	"strings"
)

// template is a text with {names} in it.
type template []part

// part is a piece of a template: a name, or a literal text where the name is empty.
type part struct {
	literal string
	name    string
}

var errTemplate = errors.New("a template has names in braces, e.g. {key}")

// parseTemplate reads a template; errTemplate where a brace has no partner.
func parseTemplate(s string) (template, error) {
	var t template
	for s != "" {
		before, rest, found := strings.Cut(s, "{")
		if strings.Contains(before, "}") {
			return nil, errTemplate
		}
		if before != "" {
			t = append(t, part{literal: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, errTemplate
		}
		t = append(t, part{name: name})
		s = after
	}
	return t, nil
}

// names are those in braces, in their order.
func (t template) names() []string {
	var list []string
	for _, p := range t {
		if p.name != "" {
			list = append(list, p.name)
		}
	}
	return list
}

// fill puts a text for every name.
func (t template) fill(value func(name string) string) string {
	var b strings.Builder
	for _, p := range t {
		if p.name != "" {
			b.WriteString(value(p.name))
		} else {
			b.WriteString(p.literal)
		}
	}
	return b.String()
}
