package postgres

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/sqlc"
)

// MissingRights says, in a sentence with its GRANT each, which of these rights the host has not granted:
// a role's privilege on a table, element by element. A right on some columns counts, SELECT apart.
func MissingRights(ctx context.Context, db sqlc.DBTX, roles, tables, privileges []string) ([]string, error) {
	list, err := sentences(ctx, db, missingRights, []any{tables, roles, privileges})
	if err != nil {
		return nil, fmt.Errorf("look at the rights of the host's roles: %w", err)
	}
	return list, nil
}

var missingRights = `
WITH ` + fmt.Sprintf(given, 1) + `, needs AS (
    SELECT DISTINCT r.oid AS role, n.role AS role_name, g.oid, n.privilege
    FROM unnest($2::text[], $1::text[], $3::text[]) AS n (role, name, privilege)
    JOIN given g USING (name) JOIN pg_catalog.pg_roles r ON r.rolname = n.role WHERE g.oid IS NOT NULL
)
SELECT format('%I has no %s on %s: GRANT %s ON %s TO %I', role_name, privilege, oid::regclass, privilege, oid::regclass, role_name) AS sentence
FROM needs
WHERE NOT CASE WHEN privilege IN ('INSERT', 'UPDATE') THEN has_any_column_privilege(role, oid, privilege) ELSE has_table_privilege(role, oid, privilege) END
UNION
SELECT DISTINCT format('%I has no USAGE on the schema of %s: GRANT USAGE ON SCHEMA %s TO %I', role_name, oid::regclass, relnamespace::regnamespace, role_name)
FROM needs JOIN pg_catalog.pg_class USING (oid)
WHERE NOT has_schema_privilege(role, relnamespace, 'USAGE')
ORDER BY sentence`
