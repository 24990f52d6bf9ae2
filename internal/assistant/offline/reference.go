package offline

import (
	"slices"
	"strings"
)

// reference is a record as a sentence names it: what kind of record, where it says so, and the key or
// label it goes by.
type reference struct {
	nouns  catalogue // every one where the sentence does not say
	kind   bool      // the sentence says what kind of record
	whole  bool      // by its whole name
	many   bool      // it means several records
	text   string
	quoted bool
	said   string
	beside phrase // what the sentence says beside the kind
}

var (
	all      = words("all every each both any")
	pointers = phrases("with id", "with the id", "with number", "with the number", "with the name", "with name", "with key", "whose name is", "called", "named", "titled", "number", "no .", "no", "nr", "nr .", "id", "key", "#", ":", "=")
)

// references gives the ways to read a phrase as the name of a record, likeliest first; none where it
// names no record.
func (c catalogue) references(p phrase) []reference {
	said := p.plain()
	p = said.withoutFirst(articles...)
	many := slices.Contains(all, p.word(0))
	p = p.withoutFirst(slices.Concat(all, words("of"), articles)...)
	if p.empty() {
		return nil
	}
	var list []reference
	if m, ok := c.mentionAt(p); ok {
		rest := p.from(m.length).plain().withoutPrefix(pointers).plain()
		list = append(list, reference{nouns: m.nouns, kind: true, whole: m.whole, many: many || m.plural && !single(rest), said: said.text()}.to(rest))
	}
	for at := 1; at < p.len(); at++ {
		if m, ok := c.mentionAt(p.from(at)); ok && at+m.length == p.len() {
			list = append(list, reference{nouns: m.nouns, kind: true, whole: m.whole, many: many || m.plural, said: said.text()}.to(p.to(at)))
			break
		}
	}
	return append(list, reference{nouns: c, many: many, said: said.text()}.to(p.withoutPrefix(pointers)))
}

// single tells whether a phrase can be the key of one record.
func single(p phrase) bool { return p.len() == 1 }

func (r reference) to(p phrase) reference {
	p = p.plain()
	r.text, r.quoted, r.beside = p.text(), p.quoted(), p
	if !r.quoted {
		r.text = strings.TrimPrefix(r.text, "#")
	}
	return r
}
