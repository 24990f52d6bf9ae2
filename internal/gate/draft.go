package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Plan is what a custom action makes of its input: changes of records in the order they are made, and what
// the person should know.
type Plan struct {
	Changes  []record.Change
	Warnings []card.Notice
}

// drafted is a wish held against the records there are.
type drafted struct {
	changes   []record.Change
	drafts    []*record.Draft
	warnings  []card.Notice
	preview   bool
	cards     []card.Record // what the card shows of each
	rehearsal *card.Rehearsal
	// undone and conflicts are those of an undo: what it takes back, and what it leaves as it is
	undone    map[recordKey]*done
	conflicts []card.Conflict
}

// draft reads, as the person, what the intent is about. A *Refusal says why there is nothing to propose.
func (g *Gate) draft(ctx context.Context, tx pgx.Tx, by identity.Actor, in Intent, salt []byte) (*drafted, error) {
	d := &drafted{}
	var err error
	switch {
	case in.Undo != nil:
		err = d.undo(ctx, g, tx, by, in, salt)
	case in.Plan != nil:
		err = d.plan(ctx, g, tx, by, in, salt)
	case in.Operation == record.BulkUpdate:
		err = d.match(ctx, g, tx, by, in, salt)
	default:
		d.changes = []record.Change{{Entity: in.Entity, Operation: in.Operation, Key: in.Key, Values: in.Values}}
		d.drafts = make([]*record.Draft, 1)
		d.drafts[0], err = g.registry.Draft(ctx, tx, by, d.changes[0], salt)
	}
	if refusal := RefusalOf(err); refusal != nil {
		return nil, refusal
	} else if err != nil {
		return nil, err
	}
	if err := d.unchangeable(); err != nil {
		return nil, err
	}
	if most := in.Entity.BulkCap; in.Operation == record.BulkUpdate && len(d.changes) > most {
		return nil, tooMany(fmt.Sprintf("It would change %d records, and one proposal changes at most %d.", len(d.changes), most))
	}
	if refusal := d.barred(in, by.Role()); refusal != nil {
		return nil, refusal
	}
	d.preview, d.cards = d.previews(in), d.records()
	return d, d.rehearse(ctx, g, tx, by, in, salt)
}

func (d *drafted) plan(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor, in Intent, salt []byte) error {
	plan, err := in.Plan(ctx, tx)
	if err != nil {
		return err
	}
	if len(plan.Changes) > record.MaxSet {
		return tooMany(fmt.Sprintf("It would change %d records; one proposal changes at most %d.", len(plan.Changes), record.MaxSet))
	}
	d.changes, d.warnings = plan.Changes, plan.Warnings
	if d.drafts, _, err = g.registry.DraftAll(ctx, tx, by, d.changes, salt); err != nil {
		return err
	}
	return d.once()
}

// once refuses a plan that changes one record twice: a card has each record as it is now, so that the second of
// the changes would never find it so.
func (d *drafted) once() error {
	seen := map[recordKey]bool{}
	for i, c := range d.changes {
		r := d.drafts[i].Record
		if r == nil {
			continue
		}
		which := recordKey{c.Entity.Name, r.Key}
		if seen[which] {
			return &Refusal{Code: BadInput, Message: fmt.Sprintf("This changes the %s %s twice, and one proposal changes a record once.", strings.ToLower(c.Entity.Title), r.Label)}
		}
		seen[which] = true
	}
	return nil
}

// match freezes the records that meet the filter now: these, and no others, are what is proposed.
func (d *drafted) match(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor, in Intent, salt []byte) error {
	if len(in.Where) == 0 {
		return &Refusal{Code: BadInput, Field: "where", Message: "A change of many records needs a filter: which of them?"}
	}
	if len(in.Values) == 0 {
		return &Refusal{Code: NothingToChange, Field: "changes", Message: "No field is given, so there is nothing to change."}
	}
	most := in.Entity.BulkCap
	var err error
	if d.drafts, err = g.registry.Match(ctx, tx, by, in.Entity, in.Where, in.Values, most, salt); err != nil {
		return err
	}
	if len(d.drafts) > most {
		return tooMany(fmt.Sprintf("More than %d records match, and one proposal changes at most that many. Narrow the filter.", most))
	}
	for _, one := range d.drafts {
		d.changes = append(d.changes, record.Change{Entity: in.Entity, Operation: record.Update, Key: one.Record.Key, Values: in.Values})
	}
	return nil
}

func tooMany(message string) *Refusal { return &Refusal{Code: TooManyRecords, Message: message} }

// unchangeable tells why records that were read are not offered for this change.
func (d *drafted) unchangeable() error {
	locked, first := 0, ""
	for _, one := range d.drafts {
		if one.Record != nil && one.Record.Locked != "" {
			if locked++; locked == 1 {
				first = one.Record.Label + ": " + one.Record.Locked
			}
		}
	}
	switch {
	case locked == 1 && len(d.drafts) == 1:
		return &Refusal{Code: Locked, Message: d.drafts[0].Record.Locked}
	case locked > 0:
		return &Refusal{Code: Locked, Message: fmt.Sprintf("%d of the %d records are not offered for change, e.g. %s", locked, len(d.drafts), first)}
	case !d.changesAny():
		return &Refusal{Code: NothingToChange, Message: "No record would be changed by this: none matches, or they have these values already."}
	}
	return nil
}

// changesAny drops the updates that change nothing, and tells whether anything is left.
func (d *drafted) changesAny() bool {
	changes, drafts := d.changes[:0:0], d.drafts[:0:0]
	for i, c := range d.changes {
		if c.Operation != record.Update || len(d.drafts[i].Changed) > 0 {
			changes, drafts = append(changes, c), append(drafts, d.drafts[i])
		}
	}
	d.changes, d.drafts = changes, drafts
	return len(changes) > 0
}

// records are what the card shows of each.
func (d *drafted) records() []card.Record {
	list := make([]card.Record, len(d.changes))
	for i, c := range d.changes {
		list[i] = recordOf(c, d.drafts[i])
		d.undone[recordKey{c.Entity.Name, c.Key}].compare(list[i].Changes)
	}
	return list
}

// stored are the rows of proposal_records.
func (d *drafted) stored(records []card.Record) (json.RawMessage, error) {
	list := make([]storedRecord, len(records))
	for i, r := range records {
		before := d.changes[i].Entity.Exposed(d.drafts[i].Record)
		for name, v := range before {
			before[name] = storable(v)
		}
		list[i] = storedRecord{Position: i + 1, Entity: r.Entity, Operation: r.Operation, Key: optional(r.Key), Label: r.Label, URL: optional(r.URL),
			Version: optional(r.Version), Before: before, Changes: r.Changes}
	}
	return json.Marshal(list)
}

// storedRecord is a row of proposal_records as the function propose takes it.
type storedRecord struct {
	Position  int                        `json:"position"`
	Entity    string                     `json:"entity"`
	Operation sqlc.WriteOperation        `json:"operation"`
	Key       *string                    `json:"key"`
	Label     string                     `json:"label"`
	URL       *string                    `json:"url"`
	Version   *string                    `json:"version"`
	Before    map[string]json.RawMessage `json:"before"`
	Changes   []card.Change              `json:"changes"`
}
