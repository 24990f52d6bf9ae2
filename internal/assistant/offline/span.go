package offline

import (
	"slices"
	"strconv"
)

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
