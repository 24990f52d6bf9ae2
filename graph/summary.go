package graph

import (
	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
)

const maxSamples = 10

// summarise is a card's change as the contract shows it; records are its first ones.
func summarise(p *sqlc.Proposal, records []card.Record) (*model.ChangeSummary, error) {
	s := &model.ChangeSummary{Changes: []*model.FieldChange{}, MatchedRecords: int(p.RecordCount), Where: p.Matched, SampleIDs: []string{}, Proposal: p.ID}
	for _, r := range records[:min(len(records), maxSamples)] {
		if r.Key != "" {
			s.SampleIDs = append(s.SampleIDs, r.Key)
		}
	}
	switch p.Operation {
	case sqlc.WriteOperationAction: // see records
	case sqlc.WriteOperationBulkUpdate:
		bulk, err := card.BulkChanges(p.Changes)
		s.Changes = bulkChanges(bulk)
		return s, err
	default:
		s.Changes = changesOf(records[0])
		if p.Operation != sqlc.WriteOperationCreate {
			s.Record = refOf(records[0])
		}
	}
	return s, nil
}

func bulkChanges(list []card.BulkChange) []*model.FieldChange {
	changes := make([]*model.FieldChange, len(list))
	for i, c := range list {
		changes[i] = &model.FieldChange{Field: c.Field, Label: c.Label, Type: c.Type, To: valueOf(c.To, c.Type), OtherRecords: int32(c.Others), Current: make([]*model.ValueCount, len(c.Current))} //nolint:gosec // at most record.MaxSet
		for j, one := range c.Current {
			changes[i].Current[j] = &model.ValueCount{Value: valueOf(&one.Value, c.Type), Records: int32(one.Records)} //nolint:gosec // the same
		}
	}
	return changes
}

func refOf(r card.Record) *model.RecordRef {
	if r.Key == "" {
		return nil
	}
	ref := &model.RecordRef{Entity: r.Entity, ID: r.Key, Label: r.Label}
	if r.URL != "" {
		ref.URL = &r.URL
	}
	return ref
}

func recordChange(r card.Record) *model.RecordChange {
	return &model.RecordChange{Record: refOf(r), Operation: r.Operation, Changes: changesOf(r)}
}

func changesOf(r card.Record) []*model.FieldChange {
	list := make([]*model.FieldChange, len(r.Changes))
	for i, c := range r.Changes {
		list[i] = fieldChange(c)
	}
	return list
}

func fieldChange(c card.Change) *model.FieldChange {
	return &model.FieldChange{Field: c.Field, Label: c.Label, Type: c.Type, From: valueOf(c.From, c.Type), To: valueOf(c.To, c.Type), Applied: valueOf(c.Applied, c.Type), Current: []*model.ValueCount{}}
}

func valueOf(v *card.Value, t card.FieldType) *model.FieldValue {
	if v == nil {
		return nil
	}
	shown := card.Show(v, t)
	value := &model.FieldValue{IsNull: v.Null, Masked: v.Masked, Text: shown.Text, Truncated: shown.Truncated, Warnings: shown.Warnings}
	if !v.Masked && !v.Null {
		value.JSON = v.JSON
	}
	return value
}

func recordChanges(records []card.Record) []*model.RecordChange {
	list := make([]*model.RecordChange, len(records))
	for i, r := range records {
		list[i] = recordChange(r)
	}
	return list
}
