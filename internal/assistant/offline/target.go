package offline

import "slices"

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
	if !ref.quoted && target.index(0, slices.Concat(assigners, prepositions)...) >= 0 {
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
