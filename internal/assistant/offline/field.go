package offline

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

// field is a field of an entity and the ways to say its name.
type field struct {
	toolcall.FieldInfo
	names [][]string
}

func newFields(infos []toolcall.FieldInfo) []field {
	list := make([]field, len(infos))
	for i, f := range infos {
		list[i] = field{f, distinct(normal(f.Label), normal(strings.ReplaceAll(f.Name, "_", " ")), normal(f.Name))}
	}
	return list
}

// How well a phrase names a field.
const (
	noMatch = iota
	partMatch
	wholeMatch
)

var articles = words("the a an its their his her our my your this that")

// link words are no part of a name that is cut short.
var links = words("of to in on for at by with from is the a an 's")

// field finds the field a phrase names, by its name or label, or by part of them where only one field
// has it.
func (n *noun) field(p phrase) (field, int) {
	text := p.withoutFirst(articles...).normal()
	if len(text) == 0 {
		return field{}, noMatch
	}
	var parts []field
	for _, f := range n.fields {
		if slices.ContainsFunc(f.names, func(name []string) bool { return slices.Equal(name, text) }) {
			return f, wholeMatch
		}
		if slices.ContainsFunc(f.names, func(name []string) bool { return hasPart(name, text) }) {
			parts = append(parts, f)
		}
	}
	if len(parts) == 1 {
		return parts[0], partMatch
	}
	return field{}, noMatch
}

// bare is a phrase without its article.
func (p phrase) bare() string { return p.withoutFirst(articles...).text() }

// hasPart tells whether every word of a text is in a name, in the name's order.
func hasPart(name, text []string) bool {
	if slices.Contains(links, text[0]) || slices.Contains(links, text[len(text)-1]) {
		return false
	}
	for _, word := range name {
		if len(text) > 0 && word == text[0] {
			text = text[1:]
		}
	}
	return len(text) == 0
}

// named finds a field by its name in the registry.
func (n *noun) named(name string) (field, bool) {
	i := slices.IndexFunc(n.fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return field{}, false
	}
	return n.fields[i], true
}

// match tells how well a phrase names a field of any of some nouns.
func (c catalogue) match(p phrase) int {
	best := noMatch
	if p.empty() || p.len() > longestName {
		return best
	}
	for _, n := range c {
		_, how := n.field(p)
		best = max(best, how)
	}
	return best
}

// fieldAt gives the length of the longest field name at the beginning of a phrase; 0 for none.
func (c catalogue) fieldAt(p phrase, atLeast int) int {
	for length := min(p.len(), longestName); length > 0; length-- {
		if !p.tokens[length-1].mark() && c.match(p.to(length)) >= atLeast {
			return length
		}
	}
	return 0
}
