package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// function is one of our schema, with the names of its arguments and their types.
type function struct {
	Name      string
	Arguments []string
	Types     []string
}

// everyFunction calls each function of ours, where it may with hostile arguments, one at a time, and again with
// tables and functions of its own in the way of ours.
func (a *attacker) everyFunction() {
	a.t.Helper()
	hostile := map[string][]string{}
	for _, shadowed := range []bool{false, true} {
		if shadowed {
			a.shadow()
		}
		for _, f := range a.functions() {
			values := a.rightful()
			a.tries("", attempt{"call " + f.Name, f.call(values, "", ""), true})
			if !a.succeed["call "+f.Name] {
				continue
			}
			for i, name := range f.Arguments {
				if hostile[f.Types[i]] == nil {
					hostile[f.Types[i]] = a.hostile(f.Types[i])
				}
				for _, value := range hostile[f.Types[i]] {
					a.tries("", attempt{"", f.call(values, name, value), false})
				}
			}
		}
	}
	a.must(`RESET search_path`)
}

func (a *attacker) functions() []function {
	a.t.Helper()
	rows, err := a.w.db.Owner.Query(a.t.Context(), `SELECT p.proname::text AS name, coalesce(p.proargnames[1:p.pronargs], '{}')::text[] AS arguments,
		ARRAY(SELECT CASE y.typnamespace WHEN 'countersign'::regnamespace THEN format('countersign.%I', y.typname) ELSE format_type(t, NULL) END
			FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, n) JOIN pg_type y ON y.oid = a.t ORDER BY n)::text[] AS types
		FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace ORDER BY 1`)
	if err != nil {
		a.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[function])
	if err != nil || len(list) < 8 {
		a.t.Fatalf("%d functions, %v", len(list), err)
	}
	return list
}

// call is a statement that calls it with values by name, NULL where there is none, and one of them another.
func (f function) call(values map[string]string, but, value string) string {
	arguments := make([]string, len(f.Arguments))
	for i, name := range f.Arguments {
		v, ok := values[name]
		if !ok {
			v = "NULL"
		}
		if name == but {
			v = value
		}
		arguments[i] = name + " => " + v + "::" + f.Types[i]
	}
	return "SELECT countersign." + f.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// rightful are arguments with which propose takes a proposal of Maria's, and the others hers.
func (a *attacker) rightful() map[string]string {
	values := map[string]string{"new_id": "gen_random_uuid()", "call_id": "gen_random_uuid()", "tool_name": "'x'", "logged_input": "'{}'", "ended": "'failed'", "which": literal(a.w.pending("maria")), "why": "'x'", "above": "0", "most": "10", "changes": "'[]'"}
	for name, v := range a.w.maker(a.login) {
		values[name] = v
	}
	return values
}

// maker are the arguments of a rightful propose, as SQL writes them; of a login that cannot begin a call there are
// none.
func (w *world) maker(login string) map[string]string {
	if login != "agent" {
		return nil
	}
	values := map[string]string{}
	p := w.legitimate()
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch v := p[name].(type) {
		case nil:
		case []byte:
			values[name] = fmt.Sprintf(`'\x%x'`, v)
		default:
			values[name] = literal(fmt.Sprint(v))
		}
	}
	values["new_id"] = "gen_random_uuid()"
	return values
}

func (w *world) pending(user string) string {
	return w.sql(`SELECT p.id FROM countersign.proposals p JOIN countersign.users u ON u.id = p.acting_user_id WHERE u.email LIKE $1 || '@%' AND p.status = 'pending' ORDER BY number LIMIT 1`, user)
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// hostile are values that one might get further with.
func (a *attacker) hostile(kind string) []string {
	const inject = `'x''; UPDATE countersign.proposals SET status = ''applied''; --'`
	switch strings.TrimPrefix(kind, "countersign.") {
	case "uuid":
		return []string{"NULL", "gen_random_uuid()", literal(a.w.pending("maria")), literal(a.w.pending("olu")), literal(a.w.user("olu")), literal(a.w.user("jonas")), literal(a.w.signInOf("olu")), literal(a.w.workspace("other-site"))}
	case "text":
		return []string{"NULL", "''", inject, `'core.role'`, `'mrp.production_order'`, `'pg_catalog.pg_authid'`, `repeat('x', 100000)`, `E'\n'`, `'operator'`}
	case "jsonb":
		return []string{"NULL", `'[]'`, `'{}'`, `'null'`, `'[null]'`, `'[{"position": -1}]'`, literal(strings.ReplaceAll(aRecord, "update", "delete")), literal(strings.ReplaceAll(aRecord, "core.role", "core.user"))}
	case "integer", "bigint":
		return []string{"NULL", "-1", "0", "2147483647"}
	case "interval":
		return []string{"NULL", "'-1 day'", "'1000 years'", "'0s'"}
	case "boolean":
		return []string{"NULL", "true", "false"}
	case "bytea":
		return []string{"NULL", `'\x'`, `sha256('')`}
	}
	labels := a.w.sql(`SELECT string_agg(quote_literal(e.enumlabel), ',') FROM pg_enum e WHERE e.enumtypid = to_regtype('countersign.' || $1)`, strings.TrimPrefix(kind, "countersign."))
	return append(strings.Split(labels, ","), "NULL")
}

// shadow puts tables of its own, which say yes to everything, and functions where its session looks first.
func (a *attacker) shadow() {
	for _, r := range a.relations() {
		_, _ = a.conn.Exec(a.t.Context(), fmt.Sprintf(`CREATE TEMP TABLE %s AS SELECT * FROM %s`, r.Name, r.Full)) // where it may read it
	}
	for _, statement := range []string{
		`CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT timestamptz ''2000-01-01'''`,
		`CREATE FUNCTION pg_temp.num_nonnulls(uuid, uuid) RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
		`CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text LANGUAGE sql AS 'SELECT id::text FROM countersign.workspaces LIMIT 1'`,
		`CREATE FUNCTION pg_temp.yes(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
		`CREATE OPERATOR pg_temp.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = pg_temp.yes)`,
	} {
		a.must(statement)
	}
	a.must(`SET search_path = pg_temp, countersign, pg_catalog`)
}
