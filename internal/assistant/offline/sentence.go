package offline

import (
	"slices"
	"strings"
)

// courtesies may stand before a sentence and say nothing about what to do.
var courtesies = phrases(
	"please", "kindly", "hi", "hello", "hey", "ok", "okay", "yes", "yes please", "so", "and", "then", "also", "now", "just", "next",
	"can you", "could you", "would you", "will you", "can we", "could we", "can i", "could i", "may i", "should we", "shall we",
	"i want to", "i want you to", "i would like to", "i would like you to", "i'd like to", "i'd like you to", "i need to", "i need you to",
	"we want to", "we need to", "we have to", "we should", "you should", "let us", "let 's", "go ahead and", "- ", "*", "•",
)

// thanks may stand after one.
var thanks = phrases("please", "thanks", "thank you", "for me", "for us", "many thanks")

// openers are words a sentence that this grammar knows may begin with. Only before one of them does a
// full stop end a sentence, so that "St. Mary" stays whole.
var openers = words(`rename call set change make update edit put clear empty unset blank push move postpone delay shift bring pull
	advance reschedule create add new delete remove drop list show find get display search which what who how are is do tell open
	look give describe view see please can could would will may i we let yes no ok okay hi hello hey thanks thank confirm apply
	approve reject withdraw go then also and now`)

// sentences splits a message: at every line, and at a mark that ends a sentence where another begins.
func sentences(source string) []phrase {
	all := phrase{source, tokenize(source)}
	var list []phrase
	begin := 0
	for i := 1; i <= all.len(); i++ {
		if i == all.len() || all.tokens[i].newLine || endsSentence(all, i-1) {
			if one := all.between(begin, i); !one.plain().empty() {
				list = append(list, one)
			}
			begin = i
		}
	}
	return list
}

func endsSentence(all phrase, at int) bool {
	if at > 0 && isNumber(all.word(at-1)) && (at == 1 || all.tokens[at-1].newLine) {
		return false // the number of an item
	}
	return all.tokens[at].stop() && !all.tokens[at+1].mark() &&
		slices.Contains(openers, all.word(at+1))
}

// stripped drops what is polite at both ends of a sentence, unless nothing would be left.
func stripped(p phrase) phrase {
	if p = p.plain(); isNumber(p.word(0)) && p.word(1) == "." && p.len() > 2 {
		p = p.from(2)
	}
	for {
		shorter := p.withoutPrefix(courtesies).plain()
		shorter = shorter.withoutSuffix(thanks).plain()
		if shorter.empty() || shorter.len() == p.len() {
			return p
		}
		p = shorter
	}
}

func (p phrase) withoutPrefix(list [][]string) phrase {
	longest := 0
	for _, one := range list {
		if len(one) > longest && p.starts(one...) {
			longest = len(one)
		}
	}
	return p.from(longest)
}

func (p phrase) withoutSuffix(list [][]string) phrase {
	for _, one := range list {
		if at := p.len() - len(one); at > 1 && p.from(at).starts(one...) {
			return p.to(at).plain()
		}
	}
	return p
}

func words(text string) []string { return strings.Fields(text) }

func phrases(texts ...string) [][]string {
	list := make([][]string, len(texts))
	for i, text := range texts {
		list[i] = words(text)
	}
	return list
}
