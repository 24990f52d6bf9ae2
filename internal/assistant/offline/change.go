package offline

import (
	"slices"
)

// assignment gives a field a value: as said, or none at all.
type assignment struct {
	field, value phrase
	label        bool // the field is the one records are known by
	nothing      bool
}

// way is one reading of a sentence that changes a record.
type way struct {
	target reference
	set    []assignment
	score  int
}

// change changes fields of one record, in the first of its ways whose record there is.
type change struct{ ways []way }

// sentences are read in many ways, but not in more than these.
const (
	mostSplits = 4
	mostWays   = 3
	longTarget = 24
)

var (
	assigners    = words("to = as into")
	prepositions = words("of on for in at")
	removers     = append(slices.Clone(prepositions), "from")
)

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

func readClear(c catalogue, p phrase) command {
	surely := slices.Contains(words("clear empty unset blank"), p.word(0))
	if !surely && !slices.Contains(words("remove delete drop erase"), p.word(0)) {
		return nil
	}
	var ways []way
	for _, t := range c.targets(p.from(1), removers) {
		t.set = []assignment{{field: t.set[0].field, nothing: true}}
		ways = append(ways, t)
	}
	if len(ways) == 0 && !surely {
		return nil
	}
	return changing(ways, p.from(1), "clear <field> of <record>")
}

func readChange(c catalogue, p phrase) command {
	if !slices.Contains(words("set change make update edit put adjust correct fix"), p.word(0)) {
		return nil
	}
	p = p.from(1)
	var ways []way
	for _, at := range p.splits(assigners) {
		ways = append(ways, c.settings(p.to(at), p.from(at+1))...)
		ways = append(ways, c.settings(p.to(at).withoutOld(), p.from(at+1))...)
	}
	if len(ways) == 0 {
		ways = append(c.valueFirst(p), c.valueLast(p)...)
	}
	for _, at := range p.splits(assigners) {
		if len(ways) == 0 {
			ways = c.unknown(p.to(at), p.from(at+1).plain())
		}
	}
	return changing(ways, p, "set <field> of <record> to <value>")
}

// changing orders the ways to read a sentence. A sentence about several records is none of them.
func changing(ways []way, p phrase, shape string) command {
	slices.SortStableFunc(ways, func(a, b way) int { return b.score - a.score })
	if len(ways) == 0 {
		if p.index(0, all...) >= 0 {
			return bulk{}
		}
		return puzzled{shape}
	}
	if ways[0].target.many {
		return bulk{}
	}
	return change{ways[:min(len(ways), mostWays)]}
}

// settings reads "FIELD of RECORD", "RECORD's FIELD" and "RECORD FIELD" before the value, and
// "FIELD to VALUE for RECORD".
func (c catalogue) settings(before, after phrase) []way {
	var ways []way
	for _, t := range c.targets(before, prepositions) {
		if value := after.plain(); !value.empty() {
			t.set = c.assignments(t.target.nouns, t.set[0].field, value)
			ways = append(ways, t)
		}
	}
	if c.match(before) == noMatch {
		return ways
	}
	for _, at := range after.splits(prepositions) {
		ways = append(ways, c.aim(before, after.to(at), after.from(at+1))...)
	}
	return ways
}

// valueFirst reads "FIELD VALUE on RECORD".
func (c catalogue) valueFirst(p phrase) []way {
	var ways []way
	for _, at := range p.splits(prepositions) {
		left := p.to(at)
		if name := c.fieldAt(left.withoutFirst(articles...), partMatch); name > 0 {
			name += left.len() - left.withoutFirst(articles...).len()
			ways = append(ways, c.aim(left.to(name), left.from(name), p.from(at+1))...)
		}
	}
	return ways
}

// valueLast reads "RECORD FIELD VALUE".
func (c catalogue) valueLast(p phrase) []way {
	for at := 1; at < min(p.len()-1, longTarget); at++ {
		rest := p.from(at).withoutFirst("'s")
		if name := c.fieldAt(rest, wholeMatch); name > 0 {
			if ways := c.aim(rest.to(name), rest.from(name), p.to(at)); len(ways) > 0 {
				return ways
			}
		}
	}
	return nil
}

// targets reads a phrase as a field of a record, in every way there is.
func (c catalogue) targets(p phrase, links []string) []way {
	if p.len() > longTarget {
		return nil
	}
	var ways []way
	for at := 1; at < p.len(); at++ {
		switch {
		case p.tokens[at].quoted:
		case p.word(at) == "'s":
			ways = append(ways, c.aim(p.from(at+1), phrase{}, p.to(at))...)
			continue
		case slices.Contains(links, p.word(at)):
			ways = append(ways, c.aim(p.to(at), phrase{}, p.from(at+1))...)
		}
		for _, beside := range c.aim(p.from(at), phrase{}, p.to(at)) {
			beside.score -= 3
			ways = append(ways, beside)
		}
	}
	return ways
}

// unknown reads "FIELD of RECORD" where no kind of record has such a field, so that it can be said.
func (c catalogue) unknown(p, value phrase) []way {
	var ways []way
	for _, at := range p.splits(words("of for 's")) {
		field, target := p.to(at), p.from(at+1)
		if p.word(at) == "'s" {
			field, target = target, field
		}
		for _, ref := range c.references(target) {
			if ref.text != "" && (ref.kind || ref.quoted || target.len() == 1) {
				ways = append(ways, way{ref, []assignment{{field: field, value: value}}, 0})
			}
		}
	}
	return ways
}

// withoutOld drops the "from 80" of "from 80 to 90"; nothing is left where there is none.
func (p phrase) withoutOld() phrase {
	return p.to(max(0, p.lastIndex("from")))
}

// aim is a field, a value and a record, in every way to read the record that has the field.
func (c catalogue) aim(field, value, target phrase) []way {
	var ways []way
	for _, ref := range c.references(target) {
		how := ref.nouns.match(field)
		if how == noMatch || ref.text == "" && !ref.many {
			continue
		}
		ways = append(ways, way{ref, []assignment{{field: field, value: value.plain()}}, score(how, ref, target)})
	}
	return ways
}

func score(how int, ref reference, target phrase) int {
	points := 4 * how
	if ref.kind {
		points += 3
	}
	if ref.whole {
		points++
	}
	if ref.quoted || target.len() == 1 {
		points++
	}
	if !ref.quoted && target.index(0, append(assigners, prepositions...)...) >= 0 {
		points--
	}
	return points
}

// splits gives the first places where one of some words stands between others.
func (p phrase) splits(at []string) []int {
	var list []int
	for i := p.index(1, at...); i > 0 && i < p.len()-1 && len(list) < mostSplits; i = p.index(i+1, at...) {
		list = append(list, i)
	}
	return list
}
