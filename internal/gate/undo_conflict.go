package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

// leaveOut holds what the records are now against what was applied. What is another value is a conflict, and is
// left as it is unless it is taken.
func (u *undoing) leaveOut() {
	changes, drafts := u.changes[:0:0], u.drafts[:0:0]
	for i, c := range u.changes {
		one := u.undone[recordKey{c.Entity.Name, c.Key}]
		keep := true
		switch c.Operation {
		case record.Update:
			u.narrow(c, one, u.drafts[i])
		case record.Delete:
			keep = u.untouched(c, one, u.drafts[i].Record)
		}
		if keep {
			changes, drafts = append(changes, c), append(drafts, u.drafts[i])
		}
	}
	u.changes, u.drafts = changes, drafts
}

// narrow keeps the fields of an update that are as they were applied, and those that are taken.
func (u *undoing) narrow(c record.Change, one *done, draft *record.Draft) {
	draft.Changed = slices.DeleteFunc(draft.Changed, func(name string) bool {
		f, _ := c.Entity.Field(name)
		now := draft.Record.Values[name]
		return f.Same(draft.To[name], now) || !u.stands(c.Entity, one, f, now)
	})
}

// stands tells whether a field may be taken back: it has the value that was applied, or is taken.
func (u *undoing) stands(e *record.Entity, one *done, f *record.Field, now record.Value) bool {
	applied := one.applied[f.Name]
	now.JSON = storable(now.JSON)
	if f.Same(record.Value{JSON: applied.JSON, Null: applied.Null}, now) {
		return true
	}
	c := one.conflict(e, card.Changed)
	c.Field, c.Title, c.Type, c.Takes, c.Taken = f.Name, f.Label, card.FieldType(f.Type), f.Name, slices.Contains(u.take, f.Name)
	if before, known := one.before[f.Name]; known {
		c.Before = hidden(before, f)
	}
	c.Applied, c.Now = hidden(applied, f), hidden(card.Value{JSON: now.JSON, Null: now.Null}, f)
	u.conflicts = append(u.conflicts, c)
	return c.Taken
}

// hidden is a value as a card may hold it that nothing writes: of a masked one, that there is one.
func hidden(v card.Value, f *record.Field) *card.Value {
	if v.Masked = v.Masked || f.Masked; v.Masked {
		v.JSON = nil
	}
	return &v
}

func (d *done) conflict(e *record.Entity, why card.Reason) card.Conflict {
	return card.Conflict{Entity: d.entity, Key: d.key, Label: d.label, URL: e.URL(d.key), Reason: why}
}

// compare gives the card's changes their third column: what was applied.
func (d *done) compare(changes []card.Change) {
	if d == nil {
		return
	}
	for i, c := range changes {
		if applied, known := d.applied[c.Field]; known && !d.gone {
			if applied.Masked {
				applied.JSON = nil
			}
			changes[i].Applied = &applied
		}
	}
}

// nothing says why there is nothing left to take back.
func (u *undoing) nothing() error {
	var changed []string
	gone, taken := 0, 0
	for _, c := range u.conflicts {
		switch {
		case c.Reason == card.Gone:
			gone++
		case c.Reason == card.KeyTaken:
			taken++
		case !slices.Contains(changed, c.Takes):
			changed = append(changed, c.Takes)
		}
	}
	switch {
	case u.before != 0:
		return &Refusal{Code: DecidedBefore, Message: fmt.Sprintf("It was undone already, by #%d.", u.before)}
	case len(changed) > 0:
		slices.Sort(changed)
		return &Refusal{Code: NothingToChange, Field: "takeFields", Message: "Changed since, and left as it is: " + strings.Join(changed, ", ") + ". Name in takeFields what is to be restored all the same."}
	case taken > 0:
		return &Refusal{Code: WouldFail, Message: "Another record has its key now, so it cannot come back."}
	case gone > 0:
		return &Refusal{Code: RecordGone, Message: "There is no such record any more, or you may not see it."}
	case len(u.lost) > 0:
		return &Refusal{Code: NothingToChange, Message: "What was there before was not kept, so it cannot be restored."}
	}
	return &Refusal{Code: NothingToChange, Message: "Everything is as it was before, so there is nothing to undo."}
}

// notice tells what does not come back.
func (u *undoing) notice() {
	if len(u.lost) > 0 {
		u.warnings = append(u.warnings, card.Notice{Code: "NOT_RESTORED", Message: "Not restored, since the value before was not kept: " + strings.Join(u.lost, ", ") + "."})
	}
	if u.withheld {
		u.warnings = append(u.warnings, card.Notice{Code: "NOT_RESTORED", Message: "Not restored: a field that is not shown here any more."})
	}
	if u.partly {
		u.warnings = append(u.warnings, card.Notice{Code: "NOT_RESTORED", Message: "A record holds more than is shown here. That was not kept: it gets what the database gives a new record."})
	}
}
