package views

import (
	"encoding/json"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
)

// Editable are the values of the card that can be edited: those that are shown, of an update, a create or a
// bulk change.
func (c Card) Editable() []card.Change {
	var list []card.Change
	for _, one := range c.proposed() {
		if one.To != nil && !one.To.Masked {
			list = append(list, one)
		}
	}
	return list
}

func (c Card) proposed() []card.Change {
	var list []card.Change
	for _, b := range c.Bulk {
		list = append(list, card.Change{Field: b.Field, Label: b.Label, Type: b.Type, To: b.To})
	}
	if single := c.Proposal.Operation == sqlc.WriteOperationCreate || c.Proposal.Operation == sqlc.WriteOperationUpdate; single && len(c.Records) == 1 {
		return c.Records[0].Changes
	}
	return list
}

// InputText is a value as it is edited: a text as it is, anything else as JSON spells it; empty for no value.
func InputText(v *card.Value) string {
	var s string
	switch {
	case v == nil || v.Null:
		return ""
	case json.Unmarshal(v.JSON, &s) == nil:
		return s
	}
	return string(v.JSON)
}

// written is what stands in a field of the form: what was written before it was refused, or what is proposed.
func (c Card) written(one card.Change) string {
	if text, there := c.Edited[one.Field]; there {
		return text
	}
	return InputText(one.To)
}

func inputMode(t card.FieldType) string {
	switch t {
	case card.Integer, card.Reference:
		return "numeric"
	case card.Decimal:
		return "decimal"
	}
	return "text"
}

func manyLines(one card.Change) bool {
	return one.Type == card.JSON || one.Type == card.Text
}

// taken are the fields that a card restores though they changed since.
func (c Card) taken() []string {
	var list []string
	for _, one := range c.Conflicts {
		if one.Taken {
			list = append(list, one.Takes)
		}
	}
	return list
}

// takenWords say what a card does to what changed since and is taken, takeWords what a press on the button does:
// a whole record that is taken was created, and is deleted.
func takenWords(one card.Conflict) string {
	if one.Field == "" {
		return "deletes it"
	}
	return "restores it"
}

func takeWords(one card.Conflict) string {
	if one.Field == "" {
		return "delete it too"
	}
	return "restore it too"
}

func conflictWords(r card.Reason) string {
	switch r {
	case card.Gone:
		return "The record is not there any more."
	case card.KeyTaken:
		return "Another record has its key now."
	}
	return "The record is another now."
}
