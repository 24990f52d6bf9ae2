package gate

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// previews tells whether some change cannot be written: then none is, and to confirm them is all there is.
func (d *drafted) previews(in Intent) bool {
	left := bars{policies: in.Policies, bulk: in.Operation == record.BulkUpdate}
	return slices.ContainsFunc(d.changes, func(c record.Change) bool {
		return left.previews(c.Entity, c.Operation) || in.Action != nil && !in.Action.Opens(c.Entity, c.Operation)
	})
}

// previewed records the decision and writes nothing. It holds for the records as the card showed them: those
// that changed or are gone refuse it, as they would a write.
func (d *decision) previewed(ctx context.Context, writes []record.Write) (outcome, error) {
	if refused, err := d.stale(ctx, writes, there(writes)); refused != nil || err != nil {
		return deref(refused), err
	}
	none := int32(0)
	return outcome{status: sqlc.ProposalStatusApplied, affected: &none}, nil
}

// there are the indexes of the writes to records that are there.
func there(writes []record.Write) []int {
	var list []int
	for i, w := range writes {
		if w.Operation != record.Create {
			list = append(list, i)
		}
	}
	return list
}

// closed tells whether something of what is to be written has no way to be written any more.
func (d *decision) closed(writes []record.Write) bool {
	p := d.facts.proposal
	action, custom := d.gate.registry.Action(p.ActionKind)
	if about, known := d.gate.registry.Entity(p.Entity); custom && known {
		action = action.Under(d.policies, about)
	}
	left := bars{policies: d.policies, bulk: p.Operation == sqlc.WriteOperationBulkUpdate}
	return slices.ContainsFunc(writes, func(w record.Write) bool {
		return left.previews(w.Entity, w.Operation) || custom && !action.Opens(w.Entity, w.Operation)
	})
}

func deref(o *outcome) outcome {
	if o == nil {
		return outcome{}
	}
	return *o
}
