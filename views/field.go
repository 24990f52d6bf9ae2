package views

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/card"
)

// Side is one value of a change as it is printed. Where Runs leave something out, Whole has all of it, or
// Exact where that is the fraction of a second.
type Side struct {
	Kind     card.Kind
	Runs     []Run
	Whole    []Run
	Exact    string
	Length   int
	Warnings []card.Warning
}

// Field is one change as it is printed. A create has no Before, a delete no After.
type Field struct {
	Name   string
	Label  string
	Before *Side
	After  *Side
	Delta  string
}

// FieldOf prints a change: numbers and dates with how far they move, texts with the words that differ.
func FieldOf(c card.Change) Field {
	f := Field{Name: c.Field, Label: c.Label, Before: sideOf(c.From, c.Type), After: sideOf(c.To, c.Type), Delta: card.Delta(c)}
	if f.Before != nil && f.After != nil && bothTexts(c.Type, f.Before, f.After) {
		f.Before.Runs, f.After.Runs = emphasised(Compare(f.Before.segments(), f.After.segments()))
	}
	if c.To == nil && c.Type == card.Timestamp {
		f.Before.toTheSecond(c.From)
	}
	f.Before.shorten()
	f.After.shorten()
	return f
}

func sideOf(v *card.Value, t card.FieldType) *Side {
	if v == nil {
		return nil
	}
	shown := card.Show(v, t)
	return &Side{
		Kind: shown.Kind, Runs: []Run{{Segments: shown.Segments}},
		Length: lengthOf(shown.Segments), Warnings: shown.Warnings,
	}
}

func bothTexts(t card.FieldType, before, after *Side) bool {
	return (t == card.Text || t == card.JSON) && before.Kind == card.Plain && after.Kind == card.Plain
}

func (s *Side) segments() []card.Segment { return s.Runs[0].Segments }

// toTheSecond leaves out the fraction of a second of a moment that is only there to be recognised.
func (s *Side) toTheSecond(v *card.Value) {
	var at time.Time
	if s == nil || s.Kind != card.Plain || json.Unmarshal(v.JSON, &at) != nil || at.Nanosecond() == 0 {
		return
	}
	s.Exact = s.segments()[0].Text
	s.Runs = []Run{{Segments: []card.Segment{{Text: at.UTC().Format("Mon 2006-01-02 15:04:05 UTC")}}}}
}

func (s *Side) shorten() {
	if s == nil || s.Length <= card.MaxText {
		return
	}
	if short, cut := Excerpt(s.Runs); cut {
		s.Whole, s.Runs = s.Runs, short
	}
}

// emphasised leaves no word emphasised where little stayed: then all of it is what changed.
func emphasised(old, now []Run) (before, after []Run) {
	stayed, was := lettersIn(old)
	_, is := lettersIn(now)
	if 3*stayed < min(was, is) || stayed == 0 {
		return plain(old), plain(now)
	}
	return old, now
}

// lettersIn counts the characters that stayed and all there are, white space aside.
func lettersIn(list []Run) (stayed, all int) {
	for _, run := range list {
		n := 0
		for _, part := range run.Segments {
			if part.Mark == "" {
				n += len([]rune(strings.Join(strings.Fields(part.Text), "")))
			}
		}
		all += n
		if !run.Changed {
			stayed += n
		}
	}
	return stayed, all
}

func plain(list []Run) []Run {
	all := Run{}
	for _, run := range list {
		all.Segments = append(all.Segments, run.Segments...)
	}
	return []Run{{Segments: joined(all.Segments)}}
}

// InPlace tells whether a card is short enough to be decided where it is met, with all of it in view:
// few fields, and no value that has to be opened.
func InPlace(c Card) bool {
	records := c.Records
	if !short(c.Rehearsal) {
		return false
	}
	if len(c.Bulk) > 0 {
		return int(c.Proposal.RecordCount) <= sampled
	}
	if len(records) != 1 || len(records[0].Changes) > 6 {
		return false
	}
	for _, change := range records[0].Changes {
		f := FieldOf(change)
		if f.Before.long() || f.After.long() {
			return false
		}
	}
	return true
}

func (s *Side) long() bool { return s != nil && s.Length > card.MaxText }
