package gate

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
)

// compare looks at which of the records that were created are not as they were then. It is done once they are
// drafted: what is edited later, the draft's version is there for.
func (u *undoing) compare(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor) error {
	var born []*done
	var writes []record.Write
	var indexes []int
	for _, c := range u.changes {
		one := u.undone[recordKey{c.Entity.Name, c.Key}]
		if c.Operation == record.Delete && one.version != "" {
			indexes = append(indexes, len(writes))
			born, writes = append(born, one), append(writes, record.Write{Entity: c.Entity, Key: c.Key, Version: one.version, Salt: u.salt})
		}
	}
	gone, changed, err := g.lookAgain(ctx, tx, by, writes, indexes)
	u.edited = map[*done]bool{}
	for _, position := range append(gone, changed...) {
		u.edited[born[position-1]] = true
	}
	return err
}

// untouched tells whether a record that was created is as it was then, or is to go all the same. Where no field
// is seen to have changed, and some were not kept or are not shown, it is the whole record that is another.
func (u *undoing) untouched(c record.Change, one *done, now *record.Record) bool {
	if one.version != "" && !u.edited[one] {
		return true
	}
	stands, seen, whole := true, len(u.conflicts), one.version == ""
	for _, f := range c.Entity.Fields {
		if _, known := one.applied[f.Name]; known {
			stands = u.stands(c.Entity, one, f, now.Values[f.Name]) && stands
		} else {
			whole = false
		}
	}
	if len(u.conflicts) > seen || whole {
		return stands
	}
	edited := one.conflict(c.Entity, card.Changed)
	edited.Takes = keyField(c.Entity)
	edited.Taken = slices.Contains(u.take, edited.Takes)
	u.conflicts = append(u.conflicts, edited)
	return edited.Taken
}

// keyField stands for a whole record where fields are named that are to be restored.
func keyField(e *record.Entity) string { return e.Key[0] }
