package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/sqlc"
)

// RightsError says which rights the logins have that they must not have, or lack; each sentence ends with
// the statement that mends it.
type RightsError struct{ Problems []string }

func (e *RightsError) Error() string {
	return "the database's roles are not as they must be:\n  " + strings.Join(e.Problems, "\n  ")
}

// CheckRoles refuses (*RightsError) a database where a login could do what only the gate may: become
// someone who may, or write a business record or a decision itself. tables are the business tables, as
// SQL writes them. It looks at rights however they are had: granted, through PUBLIC, through a role in
// between, or on a column.
func CheckRoles(ctx context.Context, db sqlc.DBTX, sources []Source, tables []string) error {
	var readAs, writeAs []string
	for _, source := range sources {
		readAs, writeAs = appendName(readAs, source.ReadAs), appendName(writeAs, source.WriteAs)
	}
	var problems []string
	for _, check := range []struct {
		sql       string
		arguments []any
	}{
		{unknownRoles, []any{append(readAs, writeAs...)}},
		{unknownTables, []any{tables}},
		{strongLogins, nil},
		{wrongMemberships, []any{writeAs}},
		{missingMemberships, []any{readAs, writeAs}},
		{writableTables, []any{writeAs, tables, []string{"agent", "reader", "worker", "identity"}}},
		{writableTables, []any{writeAs, decisionTables, []string{"agent", "reader", "identity"}}},
		{writableTables, []any{writeAs, identityTables, []string{"agent", "reader", "worker"}}},
	} {
		found, err := sentences(ctx, db, check.sql, check.arguments)
		if err != nil {
			return fmt.Errorf("check the roles: %w", err)
		}
		problems = append(problems, found...)
	}
	if len(problems) > 0 {
		return &RightsError{Problems: problems}
	}
	return nil
}

func appendName(list []string, name string) []string {
	if name == "" {
		return list
	}
	return append(list, name)
}

func sentences(ctx context.Context, db sqlc.DBTX, sql string, arguments []any) ([]string, error) {
	rows, err := db.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// What nobody but the gate, the worker within its policies, and the functions of the definer may write.
var decisionTables = []string{"countersign.proposals", "countersign.proposal_records", "countersign.proposal_created", "countersign.proposal_decisions", "countersign.events", "countersign.audit_events", "countersign.tool_calls", "countersign.feed", "countersign.feed_queue", "countersign.feed_floor"}

// What only identity may write: who may sign in, and as what.
var identityTables = []string{"countersign.users", "countersign.workspaces", "countersign.memberships", "countersign.sign_ins", "countersign.api_tokens", "countersign.sessions"}

const unknownRoles = `
SELECT format('There is no role %I, which a source names: CREATE ROLE %I NOLOGIN', name, name)
FROM (SELECT DISTINCT unnest($1::text[]) AS name) AS named
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name)
ORDER BY name`

// given are tables by their names. They are looked up in the catalog, since to_regclass wants USAGE on the
// host's schema, which whoever migrates has no need of.
const given = `given AS (
    SELECT name, c.oid, c.relowner, c.relacl
    FROM unnest($%d::text[]) AS name
    LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = (parse_ident(name))[1]
    LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = (parse_ident(name))[2]
)`

// A table that is not found would not be looked at.
var unknownTables = `
WITH ` + fmt.Sprintf(given, 1) + `
SELECT format('There is no table %s to look at', name) FROM given WHERE oid IS NULL ORDER BY name`

// ours are the logins of the pools.
const ours = `ours AS (
    SELECT oid, rolname, substr(rolname, length('countersign_') + 1) AS short, rolsuper, rolbypassrls, rolcreaterole, rolreplication
    FROM pg_catalog.pg_roles WHERE rolname IN ('countersign_gate', 'countersign_agent', 'countersign_reader', 'countersign_worker', 'countersign_identity')
)`

const strongLogins = `
WITH ` + ours + `
SELECT format('%I must not have %s: ALTER ROLE %I NO%s', rolname, attribute, rolname, attribute)
FROM ours CROSS JOIN LATERAL (VALUES ('SUPERUSER', rolsuper), ('BYPASSRLS', rolbypassrls), ('CREATEROLE', rolcreaterole), ('REPLICATION', rolreplication)) AS has (attribute, has)
WHERE has
ORDER BY rolname, attribute`

// wrong are the roles that a login may never become, the gate and $1, who write business records, apart:
// the others of ours, and whoever is past all rights.
const wrong = `wrong AS (
    SELECT oid, rolname, rolsuper, coalesce(rolname = ANY ($1::text[]), false) AS writes FROM pg_catalog.pg_roles
    WHERE rolname ~ '^countersign_(owner|definer|gate|agent|reader|worker|identity)$' OR rolname = ANY ($1::text[])
        OR rolsuper OR rolbypassrls OR rolcreaterole
        OR rolname IN ('pg_read_all_data', 'pg_write_all_data', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
)`

// through is the membership of the login's own that leads there, and the one to revoke.
const wrongMemberships = `
WITH ` + ours + `, ` + wrong + `
SELECT format('%I may become %I%s: REVOKE %I FROM %I', l.rolname, w.rolname,
    CASE WHEN through.oid <> w.oid THEN format(' (through %I)', through.rolname) ELSE '' END, through.rolname, l.rolname)
FROM ours l
JOIN pg_catalog.pg_auth_members m ON m.member = l.oid
JOIN pg_catalog.pg_roles through ON through.oid = m.roleid
JOIN wrong w ON w.oid <> l.oid AND (through.oid = w.oid OR NOT through.rolsuper AND pg_has_role(through.oid, w.oid, 'MEMBER'))
WHERE NOT l.rolsuper AND NOT (w.writes AND NOT w.rolsuper AND l.short = 'gate')
GROUP BY l.rolname, w.oid, w.rolname, through.oid, through.rolname
ORDER BY l.rolname, w.rolname, through.rolname`

// From version 16 a membership may exclude SET ROLE, which is what it is for here.
const missingMemberships = `
WITH ` + ours + `, needed AS (
    SELECT role, short FROM unnest($1::text[]) AS role CROSS JOIN unnest(ARRAY['gate', 'agent', 'reader']) AS short
    UNION SELECT role, 'gate' FROM unnest($2::text[]) AS role
)
SELECT format('%I may not become %I, which it reads or writes a source as: GRANT %I TO %I', l.rolname, r.rolname, r.rolname, l.rolname)
FROM needed n
JOIN ours l ON l.short = n.short
JOIN pg_catalog.pg_roles r ON r.rolname = n.role
WHERE NOT pg_has_role(l.oid, r.oid, CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END)
ORDER BY l.rolname, r.rolname`

// Grants are looked up where they are, on tables and on columns, so that the sentence names the one to
// revoke. A login has those of PUBLIC and of every role it may become; what it has only through a role it
// must not become goes with that membership.
var writableTables = `
WITH ` + ours + `, ` + wrong + `, ` + fmt.Sprintf(given, 2) + `, tables AS (
    SELECT oid, oid::regclass AS name, relowner, relacl FROM given WHERE oid IS NOT NULL
), grants AS (
    SELECT t.name, t.relowner, a.grantee, a.privilege_type AS may, a.privilege_type AS what
    FROM tables t CROSS JOIN LATERAL aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) AS a
    UNION
    SELECT t.name, t.relowner, a.grantee, a.privilege_type, format('%s (%I)', a.privilege_type, c.attname)
    FROM tables t JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid AND c.attacl IS NOT NULL CROSS JOIN LATERAL aclexplode(c.attacl) AS a
)
SELECT DISTINCT format('%I may %s %s: ', l.rolname, g.may, g.name) || CASE
    WHEN g.grantee = 0 THEN format('REVOKE %s ON %s FROM PUBLIC', g.what, g.name)
    WHEN g.grantee = g.relowner AND g.grantee = l.oid THEN format('ALTER TABLE %s OWNER TO another role', g.name)
    WHEN g.grantee = g.relowner THEN format('REVOKE %s FROM %I', g.grantee::regrole, l.rolname)
    ELSE format('REVOKE %s ON %s FROM %s', g.what, g.name, g.grantee::regrole) END AS sentence
FROM grants g
JOIN ours l ON g.grantee = 0 OR pg_has_role(l.oid, g.grantee, 'MEMBER')
WHERE l.short = ANY ($3::text[]) AND NOT l.rolsuper AND g.may IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
  AND NOT EXISTS (SELECT FROM wrong w WHERE g.grantee <> 0 AND w.oid <> l.oid AND pg_has_role(l.oid, w.oid, 'MEMBER') AND pg_has_role(w.oid, g.grantee, 'MEMBER'))
ORDER BY sentence`
