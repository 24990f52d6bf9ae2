package offline

import "slices"

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
	removers     = slices.Concat(prepositions, words("from"))
)

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
		return bulk{ways[:min(len(ways), mostWays)]}
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

func (c change) run(t *turn) (string, error) {
	found, which, err := t.pick(targets(c.ways), "update")
	if err != nil {
		return "", err
	}
	changes, err := t.changes(found.noun, c.ways[which].set)
	if err != nil {
		return "", err
	}
	return t.propose(found.noun, "update", map[string]any{"id": found.id, "changes": changes})
}
