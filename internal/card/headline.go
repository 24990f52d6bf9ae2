package card

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/sqlc"
)

// MaxHeadline is how many characters a headline has at most.
const MaxHeadline = 200

// Noun is what the registry calls a kind of record: its title and the field its records are known by.
type Noun struct {
	Title      string
	LabelField string
}

// Headline says in one line what a proposal does, from the stored change alone: hidden characters are
// marks, and there is no line break. nouns gives the noun of an entity.
func Headline(nouns func(entity string) Noun, records []Record) string {
	parts := []string{}
	for _, r := range records[:min(len(records), maxSentences)] {
		parts = append(parts, sentence(nouns(r.Entity), r))
	}
	if more := len(records) - len(parts); more > 0 {
		parts = append(parts, count(more, "more change"))
	}
	return oneLine(strings.Join(parts, "; "))
}

const maxSentences = 3

// BulkHeadline is that of a change of many records of one kind.
func BulkHeadline(plural string, records int, changes []BulkChange) string {
	of := fmt.Sprintf("%d %s", records, strings.ToLower(plural))
	if len(changes) != 1 || changes[0].To == nil {
		list := make([]Change, len(changes))
		for i, c := range changes {
			list[i].Label = c.Label
		}
		return oneLine(fmt.Sprintf("Change %s of %s", fields(list), of))
	}
	c := changes[0]
	if c.To.Null {
		return oneLine(fmt.Sprintf("Clear %s of %s", strings.ToLower(c.Label), of))
	}
	return oneLine(fmt.Sprintf("Set %s of %s to %s", strings.ToLower(c.Label), of, Show(c.To, c.Type).Text))
}

// UndoHeadline is that of a proposal that undoes another, known to people by its number.
func UndoHeadline(number int64, headline string) string {
	return oneLine(fmt.Sprintf("Undo #%d: %s", number, headline))
}

func oneLine(s string) string {
	short, _ := clip(strings.Join(strings.Fields(Visible(s)), " "), MaxHeadline)
	return short
}

func sentence(n Noun, r Record) string {
	title := strings.ToLower(n.Title)
	switch r.Operation {
	case sqlc.WriteOperationCreate:
		return strings.TrimSpace(fmt.Sprintf("Create %s %s", title, quoted(r.Label)))
	case sqlc.WriteOperationDelete:
		return fmt.Sprintf("Delete %s %s", title, titled(r))
	}
	if by := together(r.Changes); by != "" {
		return fmt.Sprintf("Move %s of %s, %s", fields(r.Changes), calledBy(r), by)
	}
	if len(r.Changes) != 1 {
		return fmt.Sprintf("Change %s of %s %s", fields(r.Changes), title, titled(r))
	}
	return single(n, r, r.Changes[0])
}

// together says how far several dates move, where all that changes are dates and they move alike.
func together(changes []Change) string {
	if len(changes) < 2 {
		return ""
	}
	by := Delta(changes[0])
	for _, c := range changes {
		if c.Type != Date || Delta(c) != by {
			return ""
		}
	}
	return by
}

func single(n Noun, r Record, c Change) string {
	to := Show(c.To, c.Type)
	field := strings.ToLower(c.Label)
	switch {
	case c.Field == n.LabelField && c.From != nil && to.Kind == Plain:
		return fmt.Sprintf("Rename %s %s to %s", strings.ToLower(n.Title), quoted(Show(c.From, c.Type).Text), quoted(to.Text))
	case (c.Type == Date || c.Type == Timestamp) && Delta(c) != "":
		return fmt.Sprintf("Move %s of %s to %s, %s", field, calledBy(r), text(c.To.JSON), Delta(c))
	case c.To != nil && c.To.Null:
		return fmt.Sprintf("Clear %s of %s", field, calledBy(r))
	}
	return fmt.Sprintf("Set %s of %s to %s", field, calledBy(r), to.Text)
}

func fields(changes []Change) string {
	if len(changes) > 3 {
		return fmt.Sprintf("%d fields", len(changes))
	}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = strings.ToLower(c.Label)
	}
	if len(names) == 0 {
		return "nothing"
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	short, _ := clip(s, 80)
	return `"` + strings.ReplaceAll(short, `"`, `\"`) + `"`
}

// titled is a record after the title of its kind: its label in quotes, or its key where it has none.
func titled(r Record) string {
	if r.Label == "" {
		return calledBy(r)
	}
	return quoted(r.Label)
}

// calledBy is a record where its title is not said: its label, or its key where it has none.
func calledBy(r Record) string {
	if r.Label == "" {
		return "#" + r.Key
	}
	short, _ := clip(r.Label, 80)
	return short
}
