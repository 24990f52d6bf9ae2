package offline

import "slices"

func readRename(c catalogue, p phrase) command {
	if !slices.Contains(words("rename retitle call name"), p.word(0)) {
		return nil
	}
	p, calls := p.from(1), p.word(0) == "call" || p.word(0) == "name"
	var ways []way
	for _, at := range p.splits(assigners) {
		ways = append(ways, c.renamings(p.to(at), p.from(at+1))...)
		ways = append(ways, c.renamings(p.to(at).withoutOld(), p.from(at+1))...)
	}
	if calls && len(ways) == 0 {
		ways = c.callings(p.withoutFirst(articles...))
	}
	return changing(ways, p, "rename <record> to <new name>")
}

// callings reads "KIND RECORD NAME", the record in one word or in quotes.
func (c catalogue) callings(p phrase) []way {
	m, ok := c.mentionAt(p)
	if !ok {
		return nil
	}
	rest := p.from(m.length).withoutPrefix(pointers)
	if rest.len() < 2 {
		return nil
	}
	return c.renamings(p.to(p.len()-rest.len()+1), rest.from(1))
}

func (c catalogue) renamings(target, value phrase) []way {
	var ways []way
	if target.empty() {
		return nil
	}
	for _, ref := range c.references(target) {
		if !value.plain().empty() && (ref.text != "" || ref.many) {
			ways = append(ways, way{ref, []assignment{{label: true, value: value.plain()}}, 0})
		}
	}
	return ways
}
