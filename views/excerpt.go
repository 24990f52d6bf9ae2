package views

import (
	"unicode/utf8"

	"github.com/countersign/countersign/internal/card"
)

// How much of a long stretch is printed at each of its ends before the whole value is opened. What
// changed is shown further than what stayed.
const (
	aroundChange = 60
	withinChange = 200
)

// Excerpt shortens the long runs of a text: the middle of each is replaced by how many characters it
// has. cut tells whether it left anything out.
func Excerpt(list []Run) (short []Run, cut bool) {
	for _, run := range list {
		edge := aroundChange
		if run.Changed || len(list) == 1 {
			edge = withinChange
		}
		length := lengthOf(run.Segments)
		if length <= 2*edge+edge/2 {
			short = append(short, run)
			continue
		}
		cut = true
		short = append(short,
			Run{Segments: first(run.Segments, edge), Changed: run.Changed},
			Run{Skipped: length - 2*edge, Changed: run.Changed},
			Run{Segments: last(run.Segments, edge), Changed: run.Changed})
	}
	return short, cut
}

// lengthOf counts characters; a mark stands for one.
func lengthOf(list []card.Segment) int {
	n := 0
	for _, part := range list {
		n += size(part)
	}
	return n
}

func size(part card.Segment) int {
	if part.Mark != "" {
		return 1
	}
	return utf8.RuneCountInString(part.Text)
}

func first(list []card.Segment, n int) []card.Segment {
	var taken []card.Segment
	for _, part := range list {
		if n <= 0 {
			break
		}
		if size(part) > n {
			part.Text = string([]rune(part.Text)[:n])
		}
		n -= size(part)
		taken = append(taken, part)
	}
	return taken
}

func last(list []card.Segment, n int) []card.Segment {
	var taken []card.Segment
	for i := len(list) - 1; i >= 0 && n > 0; i-- {
		part := list[i]
		if size(part) > n {
			letters := []rune(part.Text)
			part.Text = string(letters[len(letters)-n:])
		}
		n -= size(part)
		taken = append([]card.Segment{part}, taken...)
	}
	return taken
}
