package server_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// relation is a table, view or sequence that somebody made, with its columns.
type relation struct {
	Name    string // as it is listed: those of ours without their schema
	Full    string
	Kind    string
	Columns []string
}

func (a *attacker) relations() []relation {
	a.t.Helper()
	rows, err := a.w.db.Owner.Query(a.t.Context(), `SELECT CASE WHEN n.nspname = 'countersign' THEN '' ELSE n.nspname || '.' END || c.relname AS name, n.nspname || '.' || c.relname AS full, c.relkind::text AS kind,
		ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attname) AS columns
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname !~ '^(pg_|information_schema)' ORDER BY 1`)
	if err != nil {
		a.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[relation])
	if err != nil || len(list) < 25 {
		a.t.Fatalf("%d relations, %v", len(list), err)
	}
	return list
}

// everythingOnTables is DML and DDL on all of them as a role.
func (a *attacker) everythingOnTables(role string) {
	for _, r := range a.relations() {
		if r.Kind == "S" {
			a.tries(role, attempt{"setval " + r.Name, `SELECT setval('` + r.Full + `', 1)`, true}, attempt{"nextval " + r.Name, `SELECT nextval('` + r.Full + `')`, true},
				attempt{"own " + r.Name, `ALTER SEQUENCE ` + r.Full + ` RESTART`, false})
			continue
		}
		a.tries(role, r.written()...)
		a.tries(role, r.defined(a.login)...)
		if columns := a.updates(role, r); len(columns) == len(r.Columns) {
			a.succeed[as(role)+"UPDATE "+r.Name] = true
		} else if len(columns) > 0 {
			a.succeed[as(role)+"UPDATE "+r.Name+" ("+strings.Join(columns, ", ")+")"] = true
		}
	}
}

// updates are the columns that a role may set.
func (a *attacker) updates(role string, r relation) []string {
	var may []string
	for _, column := range r.Columns {
		a.tries(role, attempt{"a column", fmt.Sprintf(`UPDATE %s SET %s = DEFAULT`, r.Full, pgx.Identifier{column}.Sanitize()), true})
		if name := as(role) + "a column"; a.succeed[name] {
			may = append(may, column)
			delete(a.succeed, name)
		}
	}
	slices.Sort(may)
	return may
}

func (r relation) written() []attempt {
	return []attempt{
		{"INSERT " + r.Name, `INSERT INTO ` + r.Full + ` DEFAULT VALUES`, true},
		{"DELETE " + r.Name, `DELETE FROM ` + r.Full, true},
		{"TRUNCATE " + r.Name, `TRUNCATE ` + r.Full + ` CASCADE`, true},
		{"MERGE " + r.Name, `MERGE INTO ` + r.Full + ` AS t USING (SELECT 1) AS s ON true WHEN MATCHED THEN DELETE`, true},
		{"COPY FROM " + r.Name, `COPY ` + r.Full + ` FROM PROGRAM 'true'`, true},
		{"COPY FROM A FILE " + r.Name, `COPY ` + r.Full + ` FROM '/dev/null'`, true},
		{"COPY TO A PROGRAM " + r.Name, `COPY ` + r.Full + ` TO PROGRAM 'cat >/dev/null'`, true},
		{"COPY TO A FILE " + r.Name, `COPY ` + r.Full + ` TO '/tmp/countersign-attack'`, true},
	}
}

func (r relation) defined(login string) []attempt {
	list := []attempt{}
	for name, statement := range map[string]string{
		"ADD COLUMN": `ALTER TABLE %s ADD COLUMN mine integer`, "OWNER": `ALTER TABLE %s OWNER TO countersign_` + login, "RENAME": `ALTER TABLE %s RENAME TO mine`, "SET SCHEMA": `ALTER TABLE %s SET SCHEMA public`,
		"DISABLE TRIGGER": `ALTER TABLE %s DISABLE TRIGGER ALL`, "DISABLE RLS": `ALTER TABLE %s DISABLE ROW LEVEL SECURITY`, "NO FORCE RLS": `ALTER TABLE %s NO FORCE ROW LEVEL SECURITY`,
		"POLICY": `CREATE POLICY mine ON %s USING (true)`, "RULE": `CREATE RULE mine AS ON UPDATE TO %s DO INSTEAD NOTHING`, "INDEX": `CREATE INDEX ON %s ((1))`,
		"TRIGGER": `CREATE TRIGGER mine BEFORE INSERT ON %s FOR EACH STATEMENT EXECUTE FUNCTION suppress_redundant_updates_trigger()`, "COMMENT": `COMMENT ON TABLE %s IS 'mine'`,
		"DROP": `DROP TABLE %s CASCADE`, "INHERIT": `CREATE TABLE public.mine () INHERITS (%s)`, "REINDEX": `REINDEX TABLE %s`, "CLUSTER": `CLUSTER %s`,
	} {
		list = append(list, attempt{name + " " + r.Name, fmt.Sprintf(statement, r.Full), false})
	}
	return append(list,
		attempt{"", `GRANT ALL ON ` + r.Full + ` TO PUBLIC`, true}, // where it may do something with it, it is warned and gives nothing: see rights
		attempt{"LOCK " + r.Name, `LOCK TABLE ` + r.Full + ` IN ACCESS EXCLUSIVE MODE`, true})
}
