package offline

import "slices"

var (
	separators = words("and with having where whose , ;")
	valueLinks = words("to = as is of : equals equal set")
)

// assignments reads "VALUE", or "VALUE and FIELD to VALUE…" where what follows the "and" is a field.
func (c catalogue) assignments(nouns catalogue, first, value phrase) []assignment {
	value, rest := nouns.upToField(value, true)
	list := []assignment{{field: first, value: value.plain()}}
	more, ok := nouns.listed(rest)
	if !ok {
		return list
	}
	return append(list, more...)
}

// upToField cuts a phrase before a separator that a field follows; where it is linked, only if "to" or
// the like follows the field.
func (c catalogue) upToField(p phrase, linked bool) (value, rest phrase) {
	for at := p.index(1, separators...); at > 0; at = p.index(at+1, separators...) {
		next := p.from(at).withoutFirst(separators...).withoutFirst(articles...)
		if name := c.fieldAt(next, wholeMatch); name > 0 && name < next.len() && (!linked || slices.Contains(assigners, next.word(name))) {
			return p.to(at), p.from(at)
		}
	}
	return p, phrase{source: p.source}
}

// listed reads "FIELD to VALUE, FIELD = VALUE and FIELD VALUE"; false where a part begins with no field.
func (c catalogue) listed(p phrase) ([]assignment, bool) {
	var list []assignment
	for p = p.withoutFirst(separators...); !p.plain().empty(); p = p.withoutFirst(separators...) {
		p = p.withoutFirst(articles...)
		name := c.fieldAt(p, wholeMatch)
		if name == 0 {
			name = c.fieldAt(p, partMatch)
		}
		if name == 0 {
			return list, false
		}
		var value phrase
		field := p.to(name)
		value, p = c.upToField(p.from(name), false)
		if value = value.plain().withoutLink(); value.empty() {
			return list, false
		}
		list = append(list, assignment{field: field, value: value})
	}
	return list, true
}

// withoutLink drops one word that leads to a value.
func (p phrase) withoutLink() phrase {
	for i := 0; i < 2 && p.len() > 1 && !p.tokens[0].quoted && slices.Contains(valueLinks, p.word(0)); i++ {
		p = p.from(1)
	}
	return p.plain()
}
