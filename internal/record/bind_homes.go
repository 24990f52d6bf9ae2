package record

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// homesSQL finds the tables that views read, through other views too.
const homesSQL = `
WITH RECURSIVE under (oid) AS (
    SELECT $1::oid
    UNION SELECT d.refobjid FROM under JOIN pg_catalog.pg_rewrite r ON r.ev_class = under.oid
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.deptype = 'n'
)
SELECT c.oid::text FROM under JOIN pg_catalog.pg_class c USING (oid) WHERE c.relkind IN ('r', 'p')`

// bindHomes finds where the rows of each entity are.
func (b *binder) bindHomes(ctx context.Context, tx pgx.Tx) error {
	for _, e := range b.registry.entities {
		e.homes = []string{strconv.FormatUint(uint64(e.oid), 10)}
		if !e.view {
			continue
		}
		rows, _ := tx.Query(ctx, homesSQL, e.oid)
		var err error
		if e.homes, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return fmt.Errorf("tables of %s: %w", e.Name, err)
		}
	}
	return nil
}
