package offline

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

// longestName is how many words of a sentence are compared with a name.
const longestName = 8

// noun is an entity as the grammar knows it: its words, its fields and the tools there are for it.
type noun struct {
	toolcall.EntityInfo
	fields   []field
	tools    map[string]toolcall.Tool
	order    []string // of the operations, as offered
	actions  []toolcall.Tool
	singular [][]string
	plural   [][]string
}

// catalogue is everything that was offered, by entity, in the order it was offered.
type catalogue []*noun

func newCatalogue(tools []toolcall.Tool) catalogue {
	var all catalogue
	for _, tool := range tools {
		n := all.named(tool.Entity.Name)
		if n == nil {
			n = newNoun(tool.Entity)
			all = append(all, n)
		}
		if tool.Operation == acting {
			n.actions = append(n.actions, tool)
			continue
		}
		if !n.offers(tool.Operation) {
			n.order = append(n.order, tool.Operation)
		}
		n.tools[tool.Operation] = tool
	}
	return all
}

func newNoun(entity toolcall.EntityInfo) *noun {
	_, table, _ := strings.Cut(entity.Name, ".")
	table = strings.ReplaceAll(table, "_", " ")
	return &noun{
		EntityInfo: entity,
		fields:     newFields(entity.Fields),
		tools:      map[string]toolcall.Tool{},
		singular:   distinct(normal(entity.Title), normal(table), normal(entity.Name)),
		plural:     distinct(normal(entity.Plural), normal(table+"s")),
	}
}

func (c catalogue) named(name string) *noun {
	for _, n := range c {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// offering keeps the nouns that have a tool for the operation.
func (c catalogue) offering(operation string) catalogue {
	return slices.DeleteFunc(slices.Clone(c), func(n *noun) bool { return !n.offers(operation) })
}

// reading is either operation that reads; acting is that of custom actions; moving is what moves a date, and
// splitting what splits a record in two.
const reading, acting, moving, splitting = "read", "action", "move", "split"

func (n *noun) offers(operation string) bool {
	switch operation {
	case reading:
		return n.offers("get") || n.offers("list")
	case acting:
		return len(n.actions) > 0
	case moving:
		return n.offers("update") || n.mover() != nil
	case splitting:
		return n.splitter() != nil
	}
	_, ok := n.tools[operation]
	return ok
}

// mention is a place in a sentence where entities are named.
type mention struct {
	nouns  catalogue // more than one where the word fits several
	length int       // in tokens
	plural bool      // and not the singular too
	whole  bool      // by its whole name, not the end of it
}

// mentionAt finds the longest name of an entity at the beginning of a phrase. A whole name goes before
// the end of one: with "production order" and "work order", "orders" means both.
func (c catalogue) mentionAt(p phrase) (mention, bool) {
	for length := min(p.len(), longestName); length > 0; length-- {
		text := p.to(length).normal()
		if text == nil {
			continue
		}
		if m, ok := c.mentioned(text, slices.Equal[[]string]); ok {
			return mention{m.nouns, length, m.plural, true}, true
		}
		if m, ok := c.mentioned(text, endsWith); ok {
			return mention{m.nouns, length, m.plural, false}, true
		}
	}
	return mention{}, false
}

func (c catalogue) mentioned(text []string, same func(a, b []string) bool) (mention, bool) {
	var m mention
	singular := false
	for _, n := range c {
		one := slices.ContainsFunc(n.singular, func(name []string) bool { return same(name, text) })
		many := slices.ContainsFunc(n.plural, func(name []string) bool { return same(name, text) })
		if one || many {
			m.nouns = append(m.nouns, n)
			singular = singular || one
		}
	}
	m.plural = !singular
	return m, len(m.nouns) > 0
}

func endsWith(name, text []string) bool {
	return len(name) > len(text) && slices.Equal(name[len(name)-len(text):], text)
}

// normal gives the words of a name as the tokens of a message have them.
func normal(name string) []string {
	return phrase{name, tokenize(name)}.normal()
}

// normal gives the words of a phrase; nil where part of it is quoted.
func (p phrase) normal() []string {
	list := make([]string, 0, p.len())
	for _, t := range p.tokens {
		if t.quoted {
			return nil
		}
		if !t.mark() {
			list = append(list, t.word)
		}
	}
	return list
}

func distinct(names ...[]string) [][]string {
	var list [][]string
	for _, name := range names {
		if len(name) > 0 && !slices.ContainsFunc(list, func(n []string) bool { return slices.Equal(n, name) }) {
			list = append(list, name)
		}
	}
	return list
}
