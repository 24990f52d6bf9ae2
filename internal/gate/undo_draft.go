package gate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
)

// undo drafts what takes an applied proposal back, and leaves out what changed since: one read tells which
// records are there, and one draft, however many they are, what they hold.
func (d *drafted) undo(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor, in Intent, salt []byte) error {
	u := &undoing{drafted: d, undo: in.Undo, action: in.Operation == record.Action}
	if err := u.find(ctx, g, tx, by); err != nil {
		return err
	}
	for i, one := range u.done {
		if err := u.invert(one, u.entities[i], u.there[i]); err != nil {
			return err
		}
	}
	if in.Action != nil && slices.ContainsFunc(d.changes, func(c record.Change) bool { return !in.Action.Opens(c.Entity, c.Operation) }) {
		return &Refusal{Code: NotOffered, Message: "What would undo this is not offered to you here."}
	}
	if err := u.draft(ctx, g, tx, by, salt); err != nil {
		return err
	}
	if err := u.compare(ctx, g, tx, by); err != nil {
		return err
	}
	u.leaveOut()
	if !d.changesAny() {
		return u.nothing()
	}
	u.sortAlike(func(_ record.Change, d *record.Draft) []string { return d.Changed })
	u.notice()
	return nil
}

// undoing is an undo at work.
type undoing struct {
	*drafted
	*undo
	action   bool
	entities []*record.Entity // of each that was done
	there    []*record.Record // nil where there is none
	edited   map[*done]bool   // of those that it made: not as they were then
	lost     []string         // fields whose values before were not kept
	partly   bool             // a record comes back without what is not exposed
	withheld bool             // a field that was changed is not exposed any more
}

// find reads, for each record that was changed, whether it is there now: one statement for each entity.
func (u *undoing) find(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor) error {
	u.there, u.undone = make([]*record.Record, len(u.done)), map[recordKey]*done{}
	places := map[*record.Entity][]int{}
	for i, one := range u.done {
		e, ok := g.registry.Entity(one.entity)
		if !ok {
			return &Refusal{Code: NotOffered, Message: "A kind of record that it changed is not offered here any more."}
		}
		u.entities = append(u.entities, e)
		places[e] = append(places[e], i)
		u.undone[recordKey{one.entity, one.key}] = one
	}
	if err := u.known(); err != nil {
		return err
	}
	for e, list := range places {
		keys := make([]string, len(list))
		for i, place := range list {
			keys[i] = u.done[place].key
		}
		found, err := g.registry.Look(ctx, tx, by, e, keys, nil)
		if err != nil {
			return err
		}
		for i, place := range list {
			u.there[place] = found[i]
		}
	}
	return nil
}

// known refuses the name of a field to take that is none.
func (u *undoing) known() error {
	fields := map[string]bool{}
	for _, e := range slices.Compact(slices.Clone(u.entities)) {
		fields[keyField(e)] = true
		for _, f := range e.Fields {
			fields[f.Name] = true
		}
	}
	if slices.ContainsFunc(u.take, func(name string) bool { return !fields[name] }) {
		return &Refusal{Code: BadInput, Field: "takeFields", Message: "takeFields names a field that is not among those of its records."}
	}
	return nil
}

// invert adds the change that takes one record back.
func (u *undoing) invert(one *done, e *record.Entity, there *record.Record) error {
	change := record.Change{Entity: e, Key: one.key, Kept: map[string]record.Value{}, Planned: u.action}
	switch {
	case one.born && one.gone:
		return nil
	case one.gone && there != nil:
		u.conflicts = append(u.conflicts, one.conflict(e, card.KeyTaken))
		return nil
	case one.gone && !e.KeepsKeys():
		return &Refusal{Code: WouldFail, Message: "The database numbers these records itself, so one that was deleted cannot come back under its key."}
	case one.gone:
		change.Operation, change.Planned = record.Create, true
		u.partly = u.partly || e.HasMore()
		u.keep(change, one, func(f *record.Field) bool { return f.Restorable() })
	case there == nil:
		u.conflicts = append(u.conflicts, one.conflict(e, card.Gone))
		return nil
	case one.born:
		change.Operation = record.Delete
	default:
		change.Operation = record.Update
		u.keep(change, one, func(f *record.Field) bool { _, changed := one.applied[f.Name]; return changed })
	}
	if len(change.Kept) > 0 || change.Operation != record.Update {
		u.changes = append(u.changes, change)
	}
	return nil
}

// keep gives a change the values that there were, of the fields that are wanted. A masked one was not kept, nor
// one that a card cannot hold.
func (u *undoing) keep(change record.Change, one *done, wanted func(*record.Field) bool) {
	for name := range one.before {
		if _, exposed := change.Entity.Field(name); !exposed {
			u.withheld = true
		}
	}
	for _, f := range change.Entity.Fields {
		v, known := one.before[f.Name]
		switch {
		case !known || !wanted(f):
		case !v.Null && (v.Masked || f.Masked || altered(f, v)):
			if !slices.Contains(u.lost, f.Label) {
				u.lost = append(u.lost, f.Label)
			}
		default:
			change.Kept[f.Name] = record.Value{JSON: v.JSON, Null: v.Null}
		}
	}
}

// altered tells whether a value is the text that storable made of it.
func altered(f *record.Field, v card.Value) bool {
	return f.Type == record.JSON && len(v.JSON) > 0 && v.JSON[0] == '"' && strings.Contains(string(v.JSON), `\\u`)
}

// draft reads what the records hold now.
func (u *undoing) draft(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor, salt []byte) (err error) {
	if len(u.changes) == 0 {
		return nil
	}
	u.drafts = make([]*record.Draft, len(u.changes))
	u.sortAlike(func(c record.Change, _ *record.Draft) []string { return slices.Sorted(maps.Keys(c.Kept)) })
	u.drafts, _, err = g.registry.DraftAll(ctx, tx, by, u.changes, salt)
	return err
}

// sortAlike puts updates of the same fields side by side, where their order means nothing: so they are drafted
// and written by few statements.
func (u *undoing) sortAlike(fields func(record.Change, *record.Draft) []string) {
	if slices.ContainsFunc(u.changes, func(c record.Change) bool { return c.Operation != record.Update }) {
		return
	}
	type pair struct {
		change record.Change
		draft  *record.Draft
		alike  string
	}
	pairs := make([]pair, len(u.changes))
	for i, c := range u.changes {
		pairs[i] = pair{c, u.drafts[i], c.Entity.Name + " " + strings.Join(fields(c, u.drafts[i]), " ")}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.alike, b.alike) })
	for i, p := range pairs {
		u.changes[i], u.drafts[i] = p.change, p.draft
	}
}
