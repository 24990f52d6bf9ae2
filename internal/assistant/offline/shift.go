package offline

import "slices"

// shift moves a date of one record, by days or to a date. Its ways name the field, or none where the
// sentence does not: then it is the date the record starts on.
type shift struct {
	ways    []way
	days    int
	unclear bool // earlier or later?
	to      phrase
}

var (
	later      = words("later out")
	earlier    = words("earlier sooner ahead")
	either     = words("back forward forwards backward backwards up in on over")
	directions = slices.Concat(later, earlier, either)
	delays     = words("push postpone delay defer")
	advances   = words("bring pull advance")
	moves      = slices.Concat(delays, advances, words("move shift reschedule bump"))
)

const shiftShape = "push <record> by <number> days"

func readShift(c catalogue, p phrase) command {
	verb := p.word(0)
	if !slices.Contains(moves, verb) {
		return nil
	}
	rest := p.from(1)
	if at := rest.lastIndex("to"); at > 0 && at < rest.len()-1 {
		if ways := c.dated(rest.to(at)); len(ways) > 0 {
			return shifted(shift{ways: ways, to: rest.from(at + 1).plain()})
		}
	}
	target, days, said, ok := rest.span()
	ways := c.dated(target)
	if !ok || len(ways) == 0 {
		return puzzled{shiftShape}
	}
	sign := direction(verb, said)
	return shifted(shift{ways: ways, days: sign * days, unclear: sign == 0})
}

func shifted(s shift) command {
	if s.ways[0].target.many {
		return bulk{}
	}
	return s
}

// dated reads a record, or a field of one.
func (c catalogue) dated(p phrase) []way {
	p = p.plain()
	ways := c.targets(p, prepositions)
	slices.SortStableFunc(ways, func(a, b way) int { return b.score - a.score })
	for _, ref := range c.references(p) {
		if ref.text != "" || ref.many {
			ways = append(ways, way{target: ref})
		}
	}
	return ways[:min(len(ways), mostWays)]
}

func (p phrase) lastIndex(list ...string) int {
	for i := p.len() - 1; i >= 0; i-- {
		if !p.tokens[i].quoted && slices.Contains(list, p.word(i)) {
			return i
		}
	}
	return -1
}
