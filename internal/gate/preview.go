package gate

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// previews tells whether some change cannot be written: then none is, and to confirm them is all there is.
func (d *drafted) previews(in Intent) bool {
	return slices.ContainsFunc(d.changes, func(c record.Change) bool {
		return c.Entity.PreviewOnly || in.Route != nil && !in.Route(c.Entity, c.Operation)
	})
}

// previewed records the decision and writes nothing. It holds for the records as the card showed them: those
// that changed or are gone refuse it, as they would a write.
func (d *decision) previewed(ctx context.Context, writes []record.Write) (outcome, error) {
	var there []int
	for i, w := range writes {
		if w.Operation != record.Create {
			there = append(there, i)
		}
	}
	if refused, err := d.stale(ctx, writes, there); refused != nil || err != nil {
		return deref(refused), err
	}
	none := int32(0)
	return outcome{status: sqlc.ProposalStatusApplied, affected: &none}, nil
}

// closed tells whether something of what is to be written has no way to be written any more.
func (d *decision) closed(writes []record.Write) bool {
	action, _ := d.gate.registry.Action(d.facts.proposal.ActionKind)
	return slices.ContainsFunc(writes, func(w record.Write) bool {
		return w.Entity.PreviewOnly || action != nil && !action.Opens(w.Entity, w.Operation)
	})
}

func deref(o *outcome) outcome {
	if o == nil {
		return outcome{}
	}
	return *o
}
