package server_test

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// becomes tries every role and gives those that the login can become.
func (a *attacker) becomes() (roles []string) {
	a.t.Helper()
	rows, err := a.w.db.Owner.Query(a.t.Context(), `SELECT rolname::text FROM pg_roles WHERE rolname <> $1 ORDER BY 1`, "countersign_"+a.login)
	if err != nil {
		a.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		a.t.Fatal(err)
	}
	for _, role := range all {
		quoted := pgx.Identifier{role}.Sanitize()
		a.tries("", attempt{"SET ROLE " + role, `SET LOCAL ROLE ` + quoted, false}, attempt{"set_config role " + role, `SELECT set_config('role', '` + role + `', true)`, false},
			attempt{"SESSION AUTHORIZATION " + role, `SET SESSION AUTHORIZATION ` + quoted, false}, attempt{"GRANT " + role, `GRANT ` + quoted + ` TO countersign_` + a.login, false},
			attempt{"ALTER ROLE " + role, `ALTER ROLE ` + quoted + ` PASSWORD 'mine'`, false}, attempt{"DROP ROLE " + role, `DROP ROLE ` + quoted, false})
		if a.succeed["SET ROLE "+role] {
			roles = append(roles, role)
		}
	}
	return roles
}

// everythingOnTheServer is what is there beside tables: files, programs, other sessions, code, settings.
func (a *attacker) everythingOnTheServer() {
	var list []attempt
	for _, statement := range []string{
		`SELECT pg_read_file('/etc/passwd')`, `SELECT pg_read_binary_file('/etc/passwd')`, `SELECT pg_ls_dir('/')`, `SELECT pg_stat_file('/etc/passwd')`, `SELECT pg_ls_logdir()`, `SELECT pg_ls_waldir()`,
		`SELECT lo_import('/etc/passwd')`, `SELECT lo_export(1, '/tmp/countersign-attack')`, `SELECT lo_create(0)`,
		`SELECT pg_reload_conf()`, `SELECT pg_rotate_logfile()`, `SELECT pg_switch_wal()`, `SELECT pg_create_restore_point('mine')`, `SELECT pg_backup_start('mine')`,
		`SELECT pg_create_physical_replication_slot('mine')`, `SELECT pg_create_logical_replication_slot('mine', 'pgoutput')`, `SELECT pg_stat_reset()`, `SELECT pg_promote()`, `SELECT pg_logical_emit_message(true, 'a', 'b')`,
		`SELECT 1 / count(*) FROM pg_stat_activity WHERE usename <> current_user AND query !~ 'insufficient' AND usename ~ 'countersign_'`, `SELECT * FROM pg_authid`, `SELECT * FROM pg_shadow`, `SELECT * FROM pg_statistic`, `SELECT * FROM pg_hba_file_rules`, `SELECT * FROM pg_config`,
		`CREATE EXTENSION dblink`, `CREATE EXTENSION postgres_fdw`, `CREATE EXTENSION file_fdw`, `CREATE EXTENSION pgcrypto`, `CREATE EXTENSION plperlu`, `CREATE EXTENSION plpython3u`,
		`CREATE FOREIGN DATA WRAPPER mine`, `CREATE SERVER mine FOREIGN DATA WRAPPER postgres_fdw`, `CREATE LANGUAGE mine HANDLER plpgsql_call_handler`, `CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION nothing()`,
		`CREATE PUBLICATION mine FOR ALL TABLES`, `CREATE SUBSCRIPTION mine CONNECTION 'host=localhost' PUBLICATION mine`, `CREATE ACCESS METHOD mine TYPE TABLE HANDLER heap_tableam_handler`, `CREATE CAST (text AS uuid) WITH INOUT AS IMPLICIT`,
		`CREATE ROLE mine SUPERUSER`, `CREATE ROLE mine`, `ALTER ROLE CURRENT_USER SUPERUSER`, `ALTER ROLE CURRENT_USER BYPASSRLS`, `ALTER ROLE CURRENT_USER PASSWORD 'mine'`, `ALTER ROLE CURRENT_USER SET search_path = pg_temp`, `ALTER ROLE ALL SET search_path = pg_temp`,
		`ALTER DEFAULT PRIVILEGES FOR ROLE countersign_owner GRANT ALL ON TABLES TO PUBLIC`, `REASSIGN OWNED BY countersign_owner TO CURRENT_USER`, `DROP OWNED BY countersign_owner`,
		`SET session_replication_role = replica`, `SET LOCAL row_security = off`, `SET LOCAL allow_system_table_mods = on`, `SET LOCAL zero_damaged_pages = on`, `SET LOCAL log_statement = 'none'`, `LOAD 'auto_explain'`, `SET LOCAL session_preload_libraries = 'mine'`,
		`CREATE SCHEMA mine`, `ALTER SCHEMA countersign OWNER TO CURRENT_USER`, `DROP SCHEMA countersign CASCADE`, `SECURITY LABEL ON TABLE proposals IS 'mine'`,
		`LISTEN countersign_feed`, `NOTIFY countersign_feed, '9'`, `SELECT pg_advisory_xact_lock(1)`, `DO $$ BEGIN PERFORM 1; END $$`, `CREATE FUNCTION pg_temp.mine() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'`,
		`CREATE FUNCTION pg_temp.evil() RETURNS integer LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'system'`, `CREATE TEMP TABLE mine ()`, `CREATE TEMP VIEW peek AS SELECT * FROM proposals`,
		`SELECT query_to_xml('DELETE FROM proposals', true, true, '')`, `SELECT database_to_xml(true, true, '')`, `SELECT ts_stat('DELETE FROM countersign.proposals')`, `SELECT pg_import_system_collations('countersign')`,
		`SELECT brin_summarize_new_values('proposals_newest'::regclass)`, `SELECT gin_clean_pending_list('proposals_newest'::regclass)`,
	} {
		list = append(list, attempt{statement, statement, false})
	}
	for _, schema := range []string{"countersign", "public", "core", "mrp", "crp", "pg_catalog"} {
		for kind, statement := range map[string]string{"TABLE": `CREATE TABLE %s.mine ()`, "FUNCTION": `CREATE FUNCTION %s.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'`, "VIEW": `CREATE VIEW %s.mine AS SELECT 1`, "TYPE": `CREATE TYPE %s.mine AS ENUM ()`,
			"OPERATOR": `CREATE OPERATOR %s.=== (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_eq)`} {
			list = append(list, attempt{kind + " in " + schema, fmt.Sprintf(statement, schema), false})
		}
	}
	list = append(list, attempt{"", `GRANT ALL ON SCHEMA countersign TO PUBLIC`, false}) // it is warned, and gives nothing: see rights
	a.tries("", list...)
	a.outside(`ALTER SYSTEM SET fsync = off`, `CREATE DATABASE mine`, `DROP DATABASE postgres`, `CREATE TABLESPACE mine LOCATION '/tmp'`, `ALTER DATABASE `+a.database()+` SET search_path = pg_temp`)
	a.otherSessions()
}

func (a *attacker) database() string { return a.w.sql(`SELECT quote_ident(current_database())`) }

// outside tries what goes into no transaction.
func (a *attacker) outside(statements ...string) {
	a.t.Helper()
	for _, statement := range statements {
		if _, err := a.conn.Exec(a.t.Context(), statement); err == nil {
			a.succeed[statement] = true
		}
	}
	size := `SELECT relfilenode FROM pg_class WHERE oid = 'countersign.proposals'::regclass`
	before := a.w.sql(size)
	_, _ = a.conn.Exec(a.t.Context(), `VACUUM FULL proposals`) // refused by a warning
	if a.w.sql(size) != before {
		a.succeed[`VACUUM FULL proposals`] = true
	}
}

// otherSessions are those of the other logins, which it is not to end.
func (a *attacker) otherSessions() {
	a.t.Helper()
	for _, login := range logins {
		if login == a.login {
			continue
		}
		victim := a.w.attacker(a.t, login)
		for _, does := range []string{"pg_terminate_backend", "pg_cancel_backend"} {
			a.tries("", attempt{does + " " + login, fmt.Sprintf(`SELECT %s(%d)`, does, victim.conn.PgConn().PID()), false})
		}
		victim.must(`SELECT 1`)
	}
}
