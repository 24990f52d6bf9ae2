package graph

import (
	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
)

// rehearsalOf is what was seen when the change was tried, as the contract shows it.
func rehearsalOf(p *sqlc.Proposal) (*model.Rehearsal, error) {
	stored, err := card.RehearsalOf(p.Rehearsal)
	if stored == nil || err != nil {
		return nil, err
	}
	r := &model.Rehearsal{Status: model.RehearsalStatus(stored.Status), SideEffects: make([]*model.SideEffect, len(stored.SideEffects)), AlsoSets: make([]*model.FieldChange, len(stored.AlsoSets))}
	for i, e := range stored.SideEffects {
		r.SideEffects[i] = &model.SideEffect{Table: e.Table, Operation: e.Operation, Rows: int32(e.Rows)} //nolint:gosec // far from that many
	}
	for i, a := range stored.AlsoSets {
		r.AlsoSets[i] = fieldChange(a.Change)
	}
	return r, nil
}
