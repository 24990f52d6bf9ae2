package gate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// undo is how to take back what an applied proposal did. done holds what it did to each record, all its steps
// together, what was done last first.
type undo struct {
	of   *sqlc.Proposal
	done []*done
	// take are the fields that are to be restored though they changed since.
	take []string
	// before is the number of an applied proposal that undid it already; 0 for none.
	before int64
	// salt is that of the versions of what it created
	salt []byte
}

// recordKey names one record.
type recordKey struct{ entity, key string }

// done is what a proposal did to one record.
type done struct {
	place  int // of its last step
	entity string
	key    string
	label  string
	// born: it made the record; gone: it deleted it
	born, gone bool
	// version is what a record that it made was like, empty where that is not known
	version string
	// before and applied are the values that it found and those that it left, by field
	before, applied map[string]card.Value
}

// undoOf adds up what each record was and what it became. A later step on a record is the proposal's own, and
// no change since.
func undoOf(p *sqlc.Proposal, records []card.Record, created []*sqlc.CreatedByRow) (*undo, error) {
	keys, err := keysOf(p, records)
	if err != nil {
		return nil, err
	}
	u, at := &undo{of: p}, map[recordKey]*done{}
	for i, r := range records {
		which := recordKey{r.Entity, keys[i]}
		if at[which] == nil {
			at[which] = &done{entity: r.Entity, key: keys[i], born: r.Operation == sqlc.WriteOperationCreate, before: map[string]card.Value{}, applied: map[string]card.Value{}}
			u.done = append(u.done, at[which])
		}
		at[which].add(i, r)
	}
	for _, c := range created {
		i := c.Position - 1
		at[recordKey{records[i].Entity, keys[i]}].version, u.salt = c.Version, c.Salt
	}
	slices.SortStableFunc(u.done, func(a, b *done) int { return b.place - a.place })
	return u, u.correct(records, keys, at)
}

// keysOf are the keys of all records, of those that were created too.
func keysOf(p *sqlc.Proposal, records []card.Record) ([]string, error) {
	keys := make([]string, len(records))
	for i, r := range records {
		switch {
		case r.Operation != sqlc.WriteOperationCreate:
			keys[i] = r.Key
		case len(records) == 1 && p.OutcomeRecordID != nil:
			keys[i] = *p.OutcomeRecordID
		case len(p.OutcomeKeys) == len(records):
			keys[i] = p.OutcomeKeys[i]
		default:
			return nil, fmt.Errorf("the key of a record that proposal %s created is not known", p.ID)
		}
	}
	return keys, nil
}

func (d *done) add(place int, r card.Record) {
	d.place, d.gone = place, r.Operation == sqlc.WriteOperationDelete
	if r.Label != "" {
		d.label = r.Label
	}
	for _, c := range r.Changes {
		if _, known := d.before[c.Field]; !known && !d.born && c.From != nil {
			d.before[c.Field] = *c.From
		}
		if c.To != nil {
			d.applied[c.Field] = *c.To
		}
	}
}

// correct takes what came out otherwise than the card said, as its rehearsal had shown, and what a new record
// got without being given it.
func (u *undo) correct(records []card.Record, keys []string, at map[recordKey]*done) error {
	seen, err := card.RehearsalOf(u.of.Rehearsal)
	if err != nil {
		return err
	}
	if seen != nil {
		for _, a := range seen.AlsoSets {
			for _, position := range a.Positions {
				if i := int(position) - 1; i < len(records) && a.To != nil && !a.To.Masked {
					at[recordKey{records[i].Entity, keys[i]}].applied[a.Field] = *a.To
				}
			}
		}
	}
	if len(records) != 1 || !u.done[0].born || u.of.OutcomeRecord == nil {
		return nil
	}
	var made map[string]json.RawMessage
	if err := json.Unmarshal(u.of.OutcomeRecord, &made); err != nil {
		return fmt.Errorf("the outcome of proposal %s: %w", u.of.ID, err)
	}
	for field, v := range made {
		if _, given := u.done[0].applied[field]; !given {
			u.done[0].applied[field] = card.Value{JSON: v, Null: string(v) == "null"}
		}
	}
	return nil
}

// inverse is the operation that takes one back.
var inverse = map[sqlc.WriteOperation]record.Operation{
	sqlc.WriteOperationCreate: record.Delete, sqlc.WriteOperationDelete: record.Create, sqlc.WriteOperationUpdate: record.Update,
	sqlc.WriteOperationBulkUpdate: record.BulkUpdate, sqlc.WriteOperationAction: record.Action}

// createdKeys are the keys of a set's records in their order, where it created any: so that they are found again.
func createdKeys(writes []record.Write, written []*record.Record) []string {
	if !slices.ContainsFunc(writes, func(w record.Write) bool { return w.Operation == record.Create }) {
		return nil
	}
	keys := make([]string, len(written))
	for i, r := range written {
		keys[i] = r.Key
	}
	return keys
}
