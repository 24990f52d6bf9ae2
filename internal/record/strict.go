package record

import (
	"slices"
	"strconv"
	"strings"
)

// word is a scalar of the file and where it stands. Its line is set also where it is missing: then it is
// that of what should have it.
type word struct {
	text string
	line int
}

// mapping is a node whose keys are all known.
type mapping struct {
	line     int
	what     string // for sentences, e.g. `field "name"`
	values   map[string]*node
	keyLines map[string]int
	problems *Problems
}

// mappingOf reads a mapping strictly: another kind of value and keys that are not known are problems, with
// the nearest known key. Nothing at all is an empty mapping.
func mappingOf(n *node, what string, problems *Problems, known ...string) mapping {
	m := mapping{line: n.line, what: what, values: map[string]*node{}, keyLines: map[string]int{}, problems: problems}
	switch n.kind {
	case mappingNode:
	case nothingNode:
		return m
	default:
		problems.say(n.line, "%s has to be a mapping of keys and values, not %s", what, n.kind)
		return m
	}
	for _, p := range n.pairs {
		if !slices.Contains(known, p.key.text) {
			problems.say(p.key.line, "%s has no key %q%s", what, p.key.text, didYouMean(p.key.text, known))
			continue
		}
		m.values[p.key.text], m.keyLines[p.key.text] = p.value, p.key.line
	}
	return m
}

func (m mapping) has(key string) bool { _, ok := m.values[key]; return ok }

// at is the line of a key, or of the mapping where the key is missing.
func (m mapping) at(key string) int {
	if line, ok := m.keyLines[key]; ok {
		return line
	}
	return m.line
}

// word reads a text; the empty one where the key is missing.
func (m mapping) word(key string) word {
	n, ok := m.values[key]
	if !ok {
		return word{line: m.line}
	}
	return wordOf(n, m.what+": "+key, m.problems)
}

// must is word for a key that has to be there.
func (m mapping) must(key, example string) word {
	if !m.has(key) {
		m.problems.say(m.line, "%s says no %s, e.g. %s: %s", m.what, key, key, example)
	}
	return m.word(key)
}

func wordOf(n *node, what string, problems *Problems) word {
	switch n.kind {
	case textNode, numberNode, booleanNode:
		if n.text == "" {
			problems.say(n.line, "%s is empty", what)
		}
		return word{text: n.text, line: n.line}
	default:
		problems.say(n.line, "%s has to be a text, not %s", what, n.kind)
		return word{line: n.line}
	}
}

// flag reads true or false.
func (m mapping) flag(key string, missing bool) bool {
	n, ok := m.values[key]
	if !ok {
		return missing
	}
	if n.kind != booleanNode {
		m.problems.say(n.line, "%s: %s has to be true or false, not %s", m.what, key, n.kind)
		return missing
	}
	return n.text == "true"
}

// words reads a list of texts, or one text alone.
func (m mapping) words(key string) []word {
	n, ok := m.values[key]
	if !ok {
		return nil
	}
	if n.kind != listNode {
		return []word{m.word(key)}
	}
	list := make([]word, len(n.items))
	for i, item := range n.items {
		list[i] = wordOf(item, m.what+": "+key, m.problems)
	}
	if len(list) == 0 {
		m.problems.say(n.line, "%s: %s is an empty list", m.what, key)
	}
	return list
}

// choice reads one of a few words; the first is meant where the key is missing.
func (m mapping) choice(key string, choices ...string) string {
	if !m.has(key) {
		return choices[0]
	}
	w := m.word(key)
	if w.text != "" && !slices.Contains(choices, w.text) {
		m.problems.say(w.line, "%s: %s can be %s, not %q%s", m.what, key, strings.Join(choices, " or "), w.text, didYouMean(w.text, choices))
	}
	return w.text
}

// count reads a whole number from 1 to most.
func (m mapping) count(key string, most int) int {
	w := m.word(key)
	n, err := strconv.Atoi(w.text)
	if w.text != "" && (err != nil || n < 1 || n > most) {
		m.problems.say(w.line, "%s: %s has to be a whole number from 1 to %d, not %q", m.what, key, most, w.text)
	}
	return n
}
