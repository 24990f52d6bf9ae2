package record

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// typeRow is a type of the database.
type typeRow struct {
	oid      uint32
	schema   string
	name     string
	typtype  string // e for an enum, d for a domain
	base     uint32 // what a domain is made of
	modifier int32  // of that
	notNull  bool
	element  uint32 // of an array
	labels   []string
}

type types map[uint32]*typeRow

func readTypes(ctx context.Context, tx pgx.Tx, relations []uint32) (types, error) {
	rows, _ := tx.Query(ctx, typesSQL, relations)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*typeRow, error) {
		t := &typeRow{}
		return t, row.Scan(&t.oid, &t.schema, &t.name, &t.typtype, &t.base, &t.modifier, &t.notNull, &t.element, &t.labels)
	})
	if err != nil {
		return nil, err
	}
	all := types{}
	for _, t := range list {
		all[t.oid] = t
	}
	return all, nil
}

// describe goes down from the column's type through domains and the list to the type of its values.
func (all types) describe(c *column, oid uint32, modifier int32) {
	t := all[oid]
	for {
		switch {
		case t.typtype == "d":
			if c.domain == "" {
				c.domain = t.schema + "." + t.name
			}
			c.notNull = c.notNull || t.notNull && !c.list
			if modifier < 0 {
				modifier = t.modifier
			}
			t = all[t.base]
		case t.element != 0 && !c.list:
			c.list = true
			t = all[t.element]
		default:
			c.base(t, modifier)
			return
		}
	}
}

const headerSize = 4 // of what a modifier counts

// base takes over kind and limits of the type under all domains and lists.
func (c *column) base(t *typeRow, modifier int32) {
	switch {
	case t.typtype == "e":
		c.kind, c.labels = enumKind, t.labels
	case t.schema == "pg_catalog":
		c.kind = kinds[t.name]
	case t.name == "citext":
		c.kind = textKind
	}
	if c.kind == otherKind && c.readOnly == "" {
		c.readOnly = "values of type " + c.typeName + " are only read"
	}
	if modifier < headerSize {
		return
	}
	switch c.kind {
	case textKind:
		c.maxLength = int(modifier - headerSize)
	case numericKind:
		c.precision = int((modifier - headerSize) >> 16 & 0xffff)
		c.scale = int((modifier-headerSize)&0x7ff^0x400) - 0x400
	}
}
