package record

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// catalog is what PostgreSQL knows of the host's tables, roles and types.
type catalog struct {
	relations map[string]*relation // by schema.name
	roles     []string
}

// relation is a table or a view.
type relation struct {
	OID    uint32
	Schema string
	Name   string
	Kind   string // of pg_class: r, p, v, m or f
	RLS    bool

	columns map[string]*column
	order   []string
	primary []string
	uniques [][]string
	// constraints are the columns that each constraint, and each unique index, is about
	constraints map[string][]string
}

func (r *relation) isView() bool { return r.Kind == "v" || r.Kind == "m" }

const relationsSQL = `
SELECT c.oid, n.nspname, c.relname, c.relkind::text, c.relrowsecurity
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
ORDER BY n.nspname, c.relname`

const columnsSQL = `
SELECT a.attrelid, a.attname, a.atttypid, a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attgenerated::text, a.attidentity::text, a.atthasdef
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum`

const typesSQL = `
WITH RECURSIVE needed (oid) AS (
    SELECT a.atttypid FROM pg_catalog.pg_attribute a WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
    UNION
    SELECT under.oid FROM needed JOIN pg_catalog.pg_type t ON t.oid = needed.oid
    CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS under (oid)
    WHERE under.oid <> 0
)
SELECT t.oid, n.nspname, t.typname, t.typtype::text, t.typbasetype, t.typtypmod, t.typnotnull,
    coalesce((SELECT e.oid FROM pg_catalog.pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid), 0),
    ARRAY (SELECT l.enumlabel::text FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid ORDER BY l.enumsortorder)
FROM needed JOIN pg_catalog.pg_type t ON t.oid = needed.oid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace`

// A key needs an index that is unique for every row and checked at once.
const uniquesSQL = `
SELECT i.indrelid, i.indisprimary,
    ARRAY (SELECT a.attname::text FROM unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY AS k (attnum, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.place)
FROM pg_catalog.pg_index i
WHERE i.indrelid = ANY ($1) AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid`

const constraintsSQL = `
SELECT c.conrelid, c.conname, ARRAY (SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey))
FROM pg_catalog.pg_constraint c WHERE c.conrelid = ANY ($1)
UNION ALL SELECT i.indrelid, r.relname, ARRAY (SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey))
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class r ON r.oid = i.indexrelid WHERE i.indrelid = ANY ($1) AND i.indisunique`

// readCatalog reads every relation's name, and the columns and keys of those that are wanted.
func readCatalog(ctx context.Context, tx pgx.Tx, wanted func(*relation) bool) (*catalog, error) {
	// Without other schemas in the path format_type writes the schema of every type that is not PostgreSQL's.
	if _, err := tx.Exec(ctx, `SELECT pg_catalog.set_config('search_path', 'pg_catalog', true)`); err != nil {
		return nil, err
	}
	c := &catalog{relations: map[string]*relation{}}
	rows, _ := tx.Query(ctx, relationsSQL)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*relation, error) {
		r := &relation{columns: map[string]*column{}, constraints: map[string][]string{}}
		return r, row.Scan(&r.OID, &r.Schema, &r.Name, &r.Kind, &r.RLS)
	})
	if err != nil {
		return nil, fmt.Errorf("read the catalog's tables: %w", err)
	}
	byOID, oids := map[uint32]*relation{}, []uint32{}
	for _, r := range list {
		c.relations[r.Schema+"."+r.Name] = r
		if wanted(r) {
			byOID[r.OID], oids = r, append(oids, r.OID)
		}
	}
	if err := readColumns(ctx, tx, oids, byOID); err != nil {
		return nil, fmt.Errorf("read the catalog's columns: %w", err)
	}
	if err := readUniques(ctx, tx, oids, byOID); err != nil {
		return nil, fmt.Errorf("read the catalog's keys: %w", err)
	}
	if err := readConstraints(ctx, tx, oids, byOID); err != nil {
		return nil, fmt.Errorf("read the catalog's constraints: %w", err)
	}
	rows, _ = tx.Query(ctx, `SELECT rolname::text FROM pg_catalog.pg_roles ORDER BY 1`)
	c.roles, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return c, err
}

func readColumns(ctx context.Context, tx pgx.Tx, oids []uint32, byOID map[uint32]*relation) error {
	types, err := readTypes(ctx, tx, oids)
	if err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, columnsSQL, oids)
	var relation, typ uint32
	var modifier int32
	var name, typeName, generated, identity string
	var notNull, hasDefault bool
	_, err = pgx.ForEachRow(rows, []any{&relation, &name, &typ, &modifier, &typeName, &notNull, &generated, &identity, &hasDefault}, func() error {
		c := &column{name: name, typeName: typeName, notNull: notNull, hasValue: hasDefault || identity != ""}
		switch {
		case generated != "":
			c.readOnly = "the database generates it"
		case identity == "a":
			c.readOnly = "the database always numbers it"
		}
		types.describe(c, typ, modifier)
		r := byOID[relation]
		r.columns[name], r.order = c, append(r.order, name)
		return nil
	})
	return err
}

func readConstraints(ctx context.Context, tx pgx.Tx, oids []uint32, byOID map[uint32]*relation) error {
	rows, _ := tx.Query(ctx, constraintsSQL, oids)
	var relation uint32
	var name string
	var columns []string
	_, err := pgx.ForEachRow(rows, []any{&relation, &name, &columns}, func() error {
		byOID[relation].constraints[name], columns = columns, nil
		return nil
	})
	return err
}

func readUniques(ctx context.Context, tx pgx.Tx, oids []uint32, byOID map[uint32]*relation) error {
	rows, _ := tx.Query(ctx, uniquesSQL, oids)
	var relation uint32
	var primary bool
	var names []string
	_, err := pgx.ForEachRow(rows, []any{&relation, &primary, &names}, func() error {
		r := byOID[relation]
		r.uniques = append(r.uniques, names)
		if primary {
			r.primary = names
		}
		names = nil
		return nil
	})
	return err
}
