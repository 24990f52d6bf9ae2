package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/failpoint"
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
	if d.forged(records) {
		return failed(notOfCard), nil
	}
	writes, err := d.gate.writes(records, d.facts.proposal.Salt, d.facts.proposal.Operation)
	if err != nil {
		return outcome{}, err
	}
	switch {
	case d.barred(writes):
		return failed(refusedAs[switchoff]), nil
	case d.facts.proposal.PreviewOnly:
		return d.previewed(ctx, writes)
	case d.closed(writes):
		return failed(refusedAs[switchoff]), nil
	}
	written, err := d.write(ctx, writes)
	if err != nil {
		return d.refused(ctx, writes, err)
	}
	out, err := applied(writes, written)
	if err != nil {
		return outcome{}, err
	}
	out.made, err = d.made(ctx, writes, written)
	return out, err
}

var notOfCard = failure{code: sqlc.FailureCodeSourceRefused, message: "Its records are not what the proposal says it does, so none was written."}

// forged tells whether a record is of another kind than its proposal, or done something else to: what was decided
// was the proposal. An action's records are what it opens.
func (d *decision) forged(records []card.Record) bool {
	p := d.facts.proposal
	return p.Operation != sqlc.WriteOperationAction && slices.ContainsFunc(records, func(r card.Record) bool {
		return r.Entity != p.Entity || record.Operation(r.Operation) != single(record.Operation(p.Operation))
	})
}

// writes turns the records of a card into what record is to do.
func (g *Gate) writes(records []card.Record, salt []byte, op sqlc.WriteOperation) ([]record.Write, error) {
	list := make([]record.Write, len(records))
	for i, r := range records {
		e, ok := g.registry.Entity(r.Entity)
		if !ok {
			return nil, errUnknownEntity
		}
		list[i] = record.Write{Entity: e, Operation: record.Operation(r.Operation), Key: r.Key, Version: r.Version, Salt: salt, Values: map[string]record.Value{},
			Planned: op == sqlc.WriteOperationAction || restores(r)}
		for _, c := range r.Changes {
			if c.To != nil {
				list[i].Values[c.Field] = record.Value{JSON: c.To.JSON, Null: c.To.Null}
			}
		}
	}
	return list, nil
}

// restores tells whether a record is created again, with all that was known of it.
func restores(r card.Record) bool { return r.Operation == sqlc.WriteOperationCreate && r.Key != "" }

// write does it, and holds what came back against the card; where that is not to be, it is undone.
func (d *decision) write(ctx context.Context, writes []record.Write) ([]*record.Record, error) {
	tx, err := d.tx.Sent(ctx)
	if err != nil {
		return nil, err
	}
	written, err := d.gate.registry.Write(ctx, tx, d.facts.person, writes)
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Written)
	}
	if err == nil {
		err = asConfirmed(writes, written, d.facts.proposal.Rehearsal)
	}
	if err != nil {
		return nil, errors.Join(err, d.tx.Back(ctx))
	}
	return written, nil
}

// asConfirmed compares what the write returned with what the card said: the change, or what the rehearsal had
// shown to come of it.
func asConfirmed(writes []record.Write, written []*record.Record, rehearsed json.RawMessage) error {
	var seen *card.Rehearsal
	for i, w := range writes {
		for name, confirmed := range w.Values {
			f, known := w.Entity.Field(name)
			got, returned := written[i].Values[name]
			if known && returned && f.Same(confirmed, got) {
				continue
			}
			if seen == nil {
				var err error
				if seen, err = card.RehearsalOf(rehearsed); err != nil {
					return err
				}
			}
			if !known || !returned || !shown(seen, i, f, got) {
				return errNotAsConfirmed
			}
		}
	}
	return nil
}

// applied makes the outcome of what was written: the record as exposure rules let it be seen.
func applied(writes []record.Write, written []*record.Record) (outcome, error) {
	n := int32(len(written))
	out := outcome{status: sqlc.ProposalStatusApplied, affected: &n}
	if len(written) != 1 {
		out.keys = createdKeys(writes, written)
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
		return d.missed(ctx, writes, miss.Indexes)
	}
	if errors.Is(cause, errNotAsConfirmed) {
		return failed(failure{code: sqlc.FailureCodeSourceRefused, message: "The record would not have come out as the card showed it, so it was left as it was."}), nil
	}
	f, ok := refusalOf(cause, writes)
	if !ok {
		return outcome{}, cause
	}
	if f.code == sqlc.FailureCodeNotPermitted {
		return d.denied(ctx, writes, cause)
	}
	d.gate.log.WarnContext(ctx, "a confirmed change was refused", "proposal", d.facts.proposal.ID, "entity", d.facts.proposal.Entity, "code", f.code, "sqlstate", sqlstate(cause))
	return failed(f), nil
}

// denied: where the host does not even let the record be read, that is why.
func (d *decision) denied(ctx context.Context, writes []record.Write, cause error) (outcome, error) {
	if d.othersMay() {
		return outcome{}, withoutRight()
	}
	there := there(writes)
	_, _, err := d.lookAgain(ctx, writes, there[:min(1, len(there))])
	d.gate.log.WarnContext(ctx, "a confirmed change was not permitted by the host", "proposal", d.facts.proposal.ID, "entity", d.facts.proposal.Entity, "sqlstate", sqlstate(cause))
	switch {
	case errors.Is(err, record.ErrUnreadable):
		return failed(unreadNow), nil
	case err != nil:
		return outcome{}, err
	}
	return failed(refusedAs[unpermitted]), nil
}

// unreadNow is why a record that may not be read any more is not written.
var unreadNow = failure{code: sqlc.FailureCodeRecordUnreadable, message: "You may no longer read the record."}

// missed reads the records again, as the decider, that the conditional write did not find.
func (d *decision) missed(ctx context.Context, writes []record.Write, indexes []int) (outcome, error) {
	refused, err := d.stale(ctx, writes, indexes)
	switch {
	case refused != nil || err != nil:
		return deref(refused), err
	case d.othersMay():
		return outcome{}, withoutRight()
	}
	return failed(refusedAs[unpermitted]), nil
}

// stale says which records are not there or not as the card showed them; nil where all are.
func (d *decision) stale(ctx context.Context, writes []record.Write, indexes []int) (*outcome, error) {
	gone, changed, err := d.lookAgain(ctx, writes, indexes)
	switch {
	case errors.Is(err, record.ErrUnreadable) && d.othersMay():
		return nil, withoutRight()
	case errors.Is(err, record.ErrUnreadable):
		return new(failed(unreadNow)), nil
	case err != nil:
		return nil, err
	case len(gone) > 0:
		return new(failed(failure{code: sqlc.FailureCodeRecordGone, message: aboutSet("no longer there", "The record is no longer there.", gone, writes), positions: append(gone, changed...)})), nil
	case len(changed) > 0:
		return new(failed(failure{code: sqlc.FailureCodeRecordChanged, message: aboutSet("changed after the card was made",
			"The record changed after the card was made, so it was left as it is. Propose the change again to see it as it is now.", changed, writes), positions: changed})), nil
	}
	return nil, nil
}

// othersMay: where this person has no right in the database, another one may have it, so nothing is claimed.
// Only what its owner alone confirms, and has confirmed, fails by it.
func (d *decision) othersMay() bool { return d.facts.shared || !d.facts.own() }

const noRightToIt = "You have no right to make this change."

func withoutRight() error { return forbidden(noRightToIt) }

func aboutSet(what, one string, positions []int32, writes []record.Write) string {
	if len(writes) == 1 {
		return one
	}
	return fmt.Sprintf("%d of the %d records are %s, so none was written. Propose the change again to see them as they are now.", len(positions), len(writes), what)
}

// lookAgain gives the positions of the records that are gone, and of those that changed.
func (d *decision) lookAgain(ctx context.Context, writes []record.Write, indexes []int) (gone, changed []int32, err error) {
	tx, err := d.tx.Sent(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
		gone, changed, err = d.gate.lookAgain(ctx, savepoint, d.facts.person, writes, indexes)
		return err
	})
	return gone, changed, err
}
