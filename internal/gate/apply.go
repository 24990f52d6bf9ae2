package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

var (
	errNotAsConfirmed = errors.New("what was written is not what was confirmed")
	errUnknownEntity  = errors.New("the registry has no such entity")
)

// apply writes what the card showed, as the person, under a savepoint. A write that is refused is an
// outcome; an error means that the whole decision is to be rolled back.
func (d *decision) apply(ctx context.Context) (outcome, error) {
	d.tx.Mark()
	rows, err := d.gate.queries.RecordsOfProposal(ctx, d.tx.Now(), d.facts.proposal.ID)
	if err != nil {
		return outcome{}, err
	}
	records, err := card.Records(rows)
	if err != nil {
		return outcome{}, err
	}
	writes, err := d.writes(records)
	if err != nil {
		return outcome{}, err
	}
	written, err := d.write(ctx, writes)
	if err != nil {
		return d.refused(ctx, writes, err)
	}
	return applied(writes, written)
}

// writes turns the stored card into what record is to do.
func (d *decision) writes(records []card.Record) ([]record.Write, error) {
	list := make([]record.Write, len(records))
	for i, r := range records {
		e, ok := d.gate.registry.Entity(r.Entity)
		if !ok {
			return nil, errUnknownEntity
		}
		list[i] = record.Write{Entity: e, Operation: record.Operation(r.Operation), Key: r.Key, Version: r.Version, Salt: d.facts.proposal.Salt, Values: map[string]record.Value{}}
		for _, c := range r.Changes {
			if c.To != nil {
				list[i].Values[c.Field] = record.Value{JSON: c.To.JSON, Null: c.To.Null}
			}
		}
	}
	return list, nil
}

// write does it, and holds what came back against the card; where that is not to be, it is undone.
func (d *decision) write(ctx context.Context, writes []record.Write) ([]*record.Record, error) {
	tx, err := d.tx.Sent(ctx)
	if err != nil {
		return nil, err
	}
	written, err := d.gate.registry.Write(ctx, tx, d.facts.person, writes)
	if err == nil && !asConfirmed(writes, written) {
		err = errNotAsConfirmed
	}
	if err != nil {
		return nil, errors.Join(err, d.tx.Back(ctx))
	}
	return written, nil
}

// asConfirmed compares what the write returned with what the card said.
func asConfirmed(writes []record.Write, written []*record.Record) bool {
	for i, w := range writes {
		for name, confirmed := range w.Values {
			f, known := w.Entity.Field(name)
			got, returned := written[i].Values[name]
			if !known || !returned || !f.Same(confirmed, got) {
				return false
			}
		}
	}
	return true
}

// applied makes the outcome of what was written: the record as exposure rules let it be seen.
func applied(writes []record.Write, written []*record.Record) (outcome, error) {
	n := int32(len(written))
	out := outcome{status: sqlc.ProposalStatusApplied, affected: &n}
	if len(written) != 1 {
		return out, nil
	}
	out.recordID = &written[0].Key
	if writes[0].Operation == record.Delete {
		return out, nil
	}
	var err error
	after := writes[0].Entity.Exposed(written[0])
	for name, v := range after {
		after[name] = storable(v)
	}
	out.record, err = json.Marshal(after)
	return out, err
}

// refused finds out why a write was not made, once it is undone.
func (d *decision) refused(ctx context.Context, writes []record.Write, cause error) (outcome, error) {
	if miss := (*record.NoRow)(nil); errors.As(cause, &miss) {
		return d.missed(ctx, writes[miss.Index])
	}
	if errors.Is(cause, errNotAsConfirmed) {
		return failed(failure{code: sqlc.FailureCodeSourceRefused, message: "The record would not have come out as the card showed it, so it was left as it was."}), nil
	}
	f, ok := refusalOf(cause, writes)
	if !ok {
		return outcome{}, cause
	}
	if f.code == sqlc.FailureCodeNotPermitted && d.facts.proposal.ActingUserID != d.facts.person.User().ID {
		return outcome{}, forbidden("You have no right to make this change.")
	}
	d.gate.log.WarnContext(ctx, "a confirmed change was refused", "proposal", d.facts.proposal.ID, "entity", d.facts.proposal.Entity, "code", f.code, "sqlstate", sqlstate(cause))
	return failed(f), nil
}

// missed reads the record again, as the decider, where the conditional write found no row.
func (d *decision) missed(ctx context.Context, w record.Write) (outcome, error) {
	now, err := d.reread(ctx, w)
	switch {
	case errors.Is(err, record.ErrGone):
		return failed(failure{code: sqlc.FailureCodeRecordGone, message: "The record is no longer there."}), nil
	case errors.Is(err, record.ErrUnreadable):
		return failed(failure{code: sqlc.FailureCodeRecordUnreadable, message: "You may no longer read the record."}), nil
	case err != nil:
		return outcome{}, err
	case now.Version != w.Version:
		return failed(failure{code: sqlc.FailureCodeRecordChanged, message: "The record changed after the card was made, so it was left as it is. Propose the change again to see it as it is now."}), nil
	case d.facts.proposal.ActingUserID != d.facts.person.User().ID:
		return outcome{}, forbidden("You have no right to make this change.")
	}
	return failed(refusedAs[unpermitted]), nil
}

func (d *decision) reread(ctx context.Context, w record.Write) (*record.Record, error) {
	tx, err := d.tx.Sent(ctx)
	if err != nil {
		return nil, err
	}
	var now *record.Record
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
		draft, err := d.gate.registry.Draft(ctx, savepoint, d.facts.person, w.Entity, record.Delete, w.Key, nil, w.Salt)
		if err == nil {
			now = draft.Record
		}
		return err
	})
	return now, err
}
