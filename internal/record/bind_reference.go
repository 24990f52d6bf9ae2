package record

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// bindReferences finds what references point at, once all entities are there.
func (b *binder) bindReferences(ctx context.Context, tx pgx.Tx, d *document) error {
	for _, spec := range d.entities {
		e := b.registry.byName[spec.name]
		for _, fs := range spec.fields {
			target := b.registry.byName[fs.references.text]
			if e == nil || target == nil {
				continue
			}
			f, ok := e.Field(fs.name)
			if !ok || len(target.key) == 0 {
				continue
			}
			if len(target.key) != 1 || f.column.list || target.key[0].keyClass() != f.column.keyClass() {
				b.problems.say(fs.references.line, "%s of type %s cannot reference %s, whose key is (%s)", fs.what, f.column.typeName, target.Name, strings.Join(target.Key, ", "))
				continue
			}
			readable, err := readsLabel(ctx, tx, e.source.ReadAs, target)
			if err != nil {
				return err
			}
			if readable {
				f.target = target
			}
		}
	}
	return nil
}

// keyClass tells which columns can be compared with which.
func (c *column) keyClass() Type {
	if c.kind == numericKind {
		return Integer
	}
	return c.fieldType()
}

const readsLabelSQL = `
SELECT coalesce(bool_and(pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
    AND pg_catalog.has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')), false)
FROM pg_catalog.pg_roles r, pg_catalog.pg_class c
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = ANY ($3)
WHERE r.rolname = $1 AND c.oid = $2`

// readsLabel tells whether a role may read what the target's label is made of. Where it may not, the
// label is not asked for: it would make the whole read fail.
func readsLabel(ctx context.Context, tx pgx.Tx, role string, target *Entity) (bool, error) {
	names := append([]string{}, target.Key...)
	for _, name := range target.label.names() {
		if f, ok := target.Field(name); ok {
			names = append(names, f.column.name)
		}
	}
	var readable bool
	if err := tx.QueryRow(ctx, readsLabelSQL, role, target.oid, names).Scan(&readable); err != nil {
		return false, fmt.Errorf("rights of %s on %s: %w", role, unquoted(target.table), err)
	}
	return readable, nil
}
