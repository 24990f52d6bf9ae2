package record

import (
	"fmt"
	"slices"
	"strings"
)

// Problems are what is wrong with countersign.yaml: everything at once, in the order of its lines.
type Problems struct { //nolint:errname // a list that is one error where it is not empty
	File string
	List []Problem
}

// Problem is one thing that is wrong, and where.
type Problem struct {
	Line     int
	Sentence string
}

// Error is one line a problem, `countersign.yaml:12: sentence`.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, one := range p.List {
		lines[i] = fmt.Sprintf("%s:%d: %s", p.File, one.Line, one.Sentence)
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) say(line int, format string, args ...any) {
	p.List = append(p.List, Problem{Line: line, Sentence: fmt.Sprintf(format, args...)})
}

// err is nil where nothing is wrong.
func (p *Problems) err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int { return a.Line - b.Line })
	return p
}

// didYouMean gives `; did you mean "x"?` for the nearest of the known words, or nothing.
func didYouMean(word string, known []string) string {
	best, distance := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance counts the letters to insert, drop, replace or swap with their neighbour.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			replaced := above[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(replaced, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}
