package offline

import "slices"

// phrase is a run of tokens of one message.
type phrase struct {
	source string
	tokens []token
}

func (p phrase) len() int { return len(p.tokens) }

func (p phrase) empty() bool { return len(p.tokens) == 0 }

func (p phrase) from(i int) phrase { return phrase{p.source, p.tokens[i:]} }

func (p phrase) to(i int) phrase { return phrase{p.source, p.tokens[:i]} }

func (p phrase) between(i, j int) phrase { return phrase{p.source, p.tokens[i:j]} }

// word gives the word at a place, empty past the end and for a quoted text.
func (p phrase) word(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].word
}

// text gives the phrase as it was written. A phrase that is one quoted text gives that text.
func (p phrase) text() string {
	switch len(p.tokens) {
	case 0:
		return ""
	case 1:
		return p.tokens[0].text
	}
	return p.source[p.tokens[0].start:p.tokens[len(p.tokens)-1].end]
}

// quoted tells whether the phrase is one quoted text.
func (p phrase) quoted() bool { return len(p.tokens) == 1 && p.tokens[0].quoted }

// plain gives the phrase without marks at its ends.
func (p phrase) plain() phrase {
	for !p.empty() && p.tokens[0].mark() {
		p = p.from(1)
	}
	for !p.empty() && p.tokens[p.len()-1].mark() {
		p = p.to(p.len() - 1)
	}
	return p
}

// starts tells whether the phrase begins with these words.
func (p phrase) starts(words ...string) bool {
	if len(words) > p.len() {
		return false
	}
	for i, want := range words {
		if p.word(i) != want || p.tokens[i].quoted {
			return false
		}
	}
	return true
}

// index finds the first of some words at or after a place; -1 where there is none.
func (p phrase) index(from int, words ...string) int {
	for i := from; i < p.len(); i++ {
		if !p.tokens[i].quoted && slices.Contains(words, p.word(i)) {
			return i
		}
	}
	return -1
}

// withoutFirst drops a leading run of any of these words.
func (p phrase) withoutFirst(words ...string) phrase {
	for !p.empty() && !p.tokens[0].quoted && slices.Contains(words, p.word(0)) {
		p = p.from(1)
	}
	return p
}
