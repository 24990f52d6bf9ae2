package views

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
)

// RecordsAtOnce is how many records a page of them shows.
const RecordsAtOnce = 50

// RecordsPage is a page of a proposal's records; From counts those before it.
type RecordsPage struct {
	Card Card
	From int
}

// Condition is one of the filter by which the records of a bulk change were found.
type Condition struct {
	Label string
	Shown card.Shown
}

// RecordsPath is the page of a proposal's records after so many.
func RecordsPath(p id.Proposal, after int) string {
	if after == 0 {
		return Path(p) + "/records"
	}
	return fmt.Sprintf("%s/records?after=%d", Path(p), after)
}

func (p RecordsPage) place() string {
	if len(p.Card.Records) == 0 {
		return "There are no more records."
	}
	return fmt.Sprintf("Records %d to %d of %d", p.From+1, p.From+len(p.Card.Records), p.Card.Proposal.RecordCount)
}

func manyRecords(c Card) string {
	if c.Proposal.RecordCount == 1 {
		return "1 " + strings.ToLower(c.Kind)
	}
	return fmt.Sprintf("%d records: %s", c.Proposal.RecordCount, strings.ToLower(c.Kind))
}

const sampled = 10

func firstRecords(records []card.Record) []card.Record { return records[:min(len(records), sampled)] }

func firstCurrents(b card.BulkChange) []card.ValueCount {
	return b.Current[:min(len(b.Current), sampled)]
}

// restOfCurrents is how many records have a value that is not among the first.
func restOfCurrents(b card.BulkChange) int {
	rest := b.Others
	for _, one := range b.Current[len(firstCurrents(b)):] {
		rest += one.Records
	}
	return rest
}

func calledBy(r card.Record) string {
	if r.Label == "" {
		return r.Entity
	}
	return r.Label
}

// fromOf is what a record has now in a field; nil where the change does not touch that.
func fromOf(r card.Record, field string) *Side {
	for _, c := range r.Changes {
		if c.Field == field {
			return FieldOf(c).Before
		}
	}
	return nil
}

// sideOf prints a value that stands alone.
func aloneSide(v *card.Value, t card.FieldType) *Side {
	return FieldOf(card.Change{Type: t, To: v}).After
}

// kindOf is what the registry calls a record of the card.
func (c Card) kindOf(r card.Record) string {
	if kind := c.Kinds[r.Entity]; kind != "" {
		return kind
	}
	return c.Kind
}
