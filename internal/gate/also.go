package gate

import (
	"slices"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

// alsoSets are the fields that came out otherwise than the change says, in the order of the records and of
// their fields. A field that is not asked for stands there once for each entity, with the values that all its
// records have in common; one that is, once for each value that comes of it.
func alsoSets(writes []record.Write, drafts []*record.Draft, written []*record.Record) []card.AlsoSet {
	var list also
	for i, w := range writes {
		if w.Operation == record.Delete {
			continue
		}
		for _, f := range w.Entity.Fields {
			list.add(i, w, f, drafts[i].Record, written[i].Values[f.Name])
		}
	}
	found := make([]card.AlsoSet, len(list))
	for i, one := range list {
		found[i] = one.AlsoSet
	}
	return found
}

type also []*alsoSet

type alsoSet struct {
	card.AlsoSet
	entity   *record.Entity
	from, to record.Value
}

// add holds what a field came out as against what the change says, or against what it was.
func (l *also) add(place int, w record.Write, f *record.Field, before *record.Record, got record.Value) {
	was := record.Value{Null: true}
	if before != nil {
		was = before.Values[f.Name]
	}
	wanted, asked := w.Values[f.Name]
	if !asked {
		wanted = was
	}
	if f.Same(wanted, got) || !asked && before == nil && w.Entity.IsKey(f) {
		return // the key of a new record is another when it is made
	}
	one := l.entry(w.Entity, f, asked, got)
	if one == nil {
		one = &alsoSet{entity: w.Entity, from: was, to: got}
		one.Change = card.Change{Field: f.Name, Label: f.Label, Type: card.FieldType(f.Type), To: sideOf(got, f)}
		if before != nil {
			one.From = sideOf(was, f)
		}
		*l = append(*l, one)
	}
	one.count(place, f, asked, was, got)
}

// entry finds what the field of another record is shown by.
func (l *also) entry(e *record.Entity, f *record.Field, asked bool, got record.Value) *alsoSet {
	i := slices.IndexFunc(*l, func(one *alsoSet) bool {
		return one.entity == e && one.Field == f.Name && (one.Positions != nil) == asked && (!asked || f.Masked || f.Same(one.to, got))
	})
	if i < 0 {
		return nil
	}
	return (*l)[i]
}

func (one *alsoSet) count(place int, f *record.Field, asked bool, was, got record.Value) {
	one.Records++
	if asked {
		one.Positions = append(one.Positions, int32(place+1)) //nolint:gosec // at most record.MaxSet
	}
	if f.Masked {
		return
	}
	if one.From != nil && !f.Same(one.from, was) {
		one.From = nil
	}
	if one.To != nil && !f.Same(one.to, got) {
		one.To = nil
	}
}

// sideOf is a value as it is stored and shown; of a masked one only that there is one.
func sideOf(v record.Value, f *record.Field) *card.Value {
	if f.Masked {
		return &card.Value{Masked: true}
	}
	return &card.Value{JSON: storable(v.JSON), Null: v.Null}
}

// shown tells whether the rehearsal had shown what a field of the change came out as. What a masked field
// comes out as nobody is shown, only that it is another value.
func shown(seen *card.Rehearsal, place int, f *record.Field, got record.Value) bool {
	if seen == nil {
		return false
	}
	return slices.ContainsFunc(seen.AlsoSets, func(a card.AlsoSet) bool {
		return a.Field == f.Name && slices.Contains(a.Positions, int32(place+1)) && //nolint:gosec // at most record.MaxSet
			(f.Masked || a.To != nil && f.Same(record.Value{JSON: a.To.JSON, Null: a.To.Null}, got))
	})
}
