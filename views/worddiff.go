package views

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/card"
)

// Run is a stretch of a text that stayed, or one that did not. Skipped counts the characters of a long
// stretch that are left out here and printed where the whole value is opened.
type Run struct {
	Segments []card.Segment
	Changed  bool
	Skipped  int
}

// cells bounds the work of comparing: above it, what lies between the common ends counts as changed.
const cells = 1 << 18

// longestWord is where a word without a break is cut, so that its last letter can differ alone.
const longestWord = 32

// Compare splits two texts into runs, word by word, so that what changed stands out in each. The runs
// of each side, in order, are its whole text.
func Compare(before, after []card.Segment) (old, now []Run) {
	a, b := words(before), words(after)
	head := commonHead(a, b)
	tail := commonTail(a[head:], b[head:])
	keepA, keepB := kept(a[head:len(a)-tail], b[head:len(b)-tail])
	return runs(a, head, tail, keepA), runs(b, head, tail, keepB)
}

func commonHead(a, b []card.Segment) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonTail(a, b []card.Segment) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// kept marks the words of each side that belong to their longest common sequence.
func kept(a, b []card.Segment) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a)*len(b) > cells {
		return inA, inB
	}
	longest := sequences(a, b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

func sequences(a, b []card.Segment) [][]int32 {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

func runs(list []card.Segment, head, tail int, keep []bool) []Run {
	var all []Run
	for i, part := range list {
		inMiddle := i >= head && i < len(list)-tail
		changed := inMiddle && !keep[i-head]
		if n := len(all); n == 0 || all[n-1].Changed != changed {
			all = append(all, Run{Changed: changed})
		}
		last := &all[len(all)-1]
		last.Segments = append(last.Segments, part)
	}
	for i := range all {
		if all[i].Changed {
			all[i].Segments = showSpaces(all[i].Segments)
		}
		all[i].Segments = joined(all[i].Segments)
	}
	return all
}

// showSpaces makes marks of white space where nothing but white space changed.
func showSpaces(list []card.Segment) []card.Segment {
	for _, part := range list {
		if part.Mark != "" || !isSpace(part.Text) {
			return list
		}
	}
	var marks []card.Segment
	for _, part := range list {
		for _, r := range part.Text {
			marks = append(marks, spaceMark(r))
		}
	}
	return marks
}

func spaceMark(r rune) card.Segment {
	switch r {
	case '\n':
		return card.Segment{Mark: "↵", Title: "line break"}
	case '\t':
		return card.Segment{Mark: "→", Title: "tab"}
	}
	return card.Segment{Mark: "␠", Title: "space"}
}

func isSpace(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// joined makes one text of texts that follow each other.
func joined(list []card.Segment) []card.Segment {
	var all []card.Segment
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			all = append(all, card.Segment{Text: text.String()})
			text.Reset()
		}
	}
	for _, part := range list {
		if part.Mark == "" {
			text.WriteString(part.Text)
			continue
		}
		flush()
		all = append(all, part)
	}
	flush()
	return all
}

// words cuts texts into words, stretches of white space and single other characters; a mark is one.
func words(list []card.Segment) []card.Segment {
	var all []card.Segment
	for _, part := range list {
		if part.Mark != "" {
			all = append(all, part)
			continue
		}
		for rest := part.Text; rest != ""; {
			n := wordLength(rest)
			all = append(all, card.Segment{Text: rest[:n]})
			rest = rest[n:]
		}
	}
	return all
}

func wordLength(s string) int {
	first, n := utf8.DecodeRuneInString(s)
	kind := kindOf(first)
	for kind != other && n < len(s) && n < longestWord {
		r, size := utf8.DecodeRuneInString(s[n:])
		if kindOf(r) != kind {
			break
		}
		n += size
	}
	return n
}

type runeKind int

const (
	other runeKind = iota
	letter
	space
)

func kindOf(r rune) runeKind {
	switch {
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	}
	return other
}
