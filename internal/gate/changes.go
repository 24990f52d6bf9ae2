package gate

import (
	"slices"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// recordOf is what the card shows of the record: for an update the fields that change, for a create
// those that are given, for a delete all that the record holds.
func recordOf(in record.Change, draft *record.Draft) card.Record {
	r := card.Record{Entity: in.Entity.Name, Operation: sqlc.WriteOperation(in.Operation), Key: in.Key, URL: in.Entity.URL(in.Key), Changes: []card.Change{}}
	if draft.Record != nil {
		r.Key, r.Label, r.Version = draft.Record.Key, draft.Record.Label, draft.Record.Version
	}
	for _, f := range in.Entity.Fields {
		if c := (card.Change{Field: f.Name, Label: f.Label, Type: card.FieldType(f.Type)}); fill(&c, in, draft, f) {
			r.Changes = append(r.Changes, c)
		}
	}
	if in.Operation == record.Create {
		r.Label = labelOf(in.Entity, draft)
	}
	return r
}

// fill gives a change its sides; false where the field is not part of the card.
func fill(c *card.Change, in record.Change, draft *record.Draft, f *record.Field) bool {
	if in.Operation != record.Create {
		if c.From = side(draft.Record.Values, f, draft.FromLabels); c.From != nil && f.Masked {
			c.From.JSON = nil // nobody is shown it, and nothing writes it
		} else if c.From != nil && !c.From.Null {
			c.From.JSON = storable(c.From.JSON)
		}
	}
	switch in.Operation {
	case record.Delete:
		return c.From != nil
	case record.Update:
		if !slices.Contains(draft.Changed, f.Name) {
			return false
		}
	}
	c.To = side(draft.To, f, draft.Labels)
	return c.To != nil
}

func side(values map[string]record.Value, f *record.Field, labels map[string]string) *card.Value {
	v, ok := values[f.Name]
	if !ok {
		return nil
	}
	return &card.Value{JSON: v.JSON, Null: v.Null, Masked: f.Masked, Label: labels[f.Name]}
}

func labelOf(e *record.Entity, draft *record.Draft) string {
	v := side(draft.To, &record.Field{Name: e.LabelField()}, nil)
	if v == nil || v.Null {
		return ""
	}
	return card.Show(v, card.Text).Text
}
