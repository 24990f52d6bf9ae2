package offline

import (
	"slices"
	"strconv"
)

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

// span takes "by two days later" off a phrase: what is left, the days, and the words of direction.
func (p phrase) span() (target phrase, days int, said []string, ok bool) {
	unit := p.lastIndex(words("day days week weeks")...)
	if unit < 2 {
		return p, 0, nil, false
	}
	number, ok := count(p.word(unit - 1))
	if !ok {
		return p, 0, nil, false
	}
	if p.word(unit)[0] == 'w' {
		number *= 7
	}
	for _, t := range p.from(unit + 1).tokens {
		if !t.mark() && !slices.Contains(directions, t.word) {
			return p, 0, nil, false
		}
		said = append(said, t.word)
	}
	end := unit - 1
	for end > 0 && (p.word(end-1) == "by" || slices.Contains(directions, p.word(end-1))) {
		end--
		said = append(said, p.word(end))
	}
	target = p.to(end)
	for slices.Contains(directions, target.word(0)) {
		said = append(said, target.word(0))
		target = target.from(1)
	}
	return target, number, said, true
}

// direction is 1 for later, -1 for earlier, 0 where the words leave it open: "forward" means both.
func direction(verb string, said []string) int {
	for _, word := range said {
		switch {
		case slices.Contains(later, word):
			return 1
		case slices.Contains(earlier, word):
			return -1
		}
	}
	open := slices.ContainsFunc(said, func(w string) bool { return slices.Contains(either, w) })
	switch {
	case slices.Contains(advances, verb):
		return -1
	case !open, slices.Contains(delays, verb) && !slices.Contains(said, "forward"):
		return 1
	}
	return 0
}

func (p phrase) lastIndex(list ...string) int {
	for i := p.len() - 1; i >= 0; i-- {
		if !p.tokens[i].quoted && slices.Contains(list, p.word(i)) {
			return i
		}
	}
	return -1
}

var numerals = words("zero one two three four five six seven eight nine ten eleven twelve")

// count reads a small number, in digits or in words.
func count(word string) (int, bool) {
	if word == "a" || word == "an" {
		return 1, true
	}
	if i := slices.Index(numerals, word); i >= 0 {
		return i, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= 36500
}
