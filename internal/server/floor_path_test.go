package server_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// evil is a schema in which everything that our functions ask says yes.
const evil = `
	CREATE SCHEMA evil;
	CREATE TABLE evil.memberships AS SELECT user_id, workspace_id, 'member'::countersign.role AS role FROM countersign.memberships;
	CREATE TABLE evil.users AS SELECT id, NULL::timestamptz AS disabled_at FROM countersign.users;
	CREATE TABLE evil.sign_ins AS SELECT id, user_id, workspace_id, NULL::timestamptz AS ended_at, 'infinity'::timestamptz AS expires_at FROM countersign.sign_ins;
	CREATE TABLE evil.tool_calls (LIKE countersign.tool_calls INCLUDING DEFAULTS);
	CREATE TABLE evil.proposals (LIKE countersign.proposals INCLUDING ALL);
	CREATE TABLE evil.proposal_records (LIKE countersign.proposal_records);
	CREATE TABLE evil.proposal_decisions (LIKE countersign.proposal_decisions INCLUDING ALL);
	CREATE TABLE evil.events (LIKE countersign.events);
	CREATE TABLE evil.audit_events (LIKE countersign.audit_events);
	CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT timestamptz ''2000-01-01''';
	CREATE FUNCTION evil.num_nonnulls(uuid, uuid) RETURNS integer LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS 'SELECT id::text FROM countersign.workspaces WHERE slug = ''other-site''';
	CREATE FUNCTION evil.yes(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE OPERATOR evil.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = evil.yes);
	CREATE FUNCTION evil.later(timestamptz, timestamptz) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE OPERATOR evil.> (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.later);
	GRANT ALL ON SCHEMA evil TO PUBLIC;
	GRANT ALL ON ALL TABLES IN SCHEMA evil TO PUBLIC;
	SET LOCAL search_path = evil, countersign, pg_catalog`

// temporary puts the same tables where every session looks first.
const temporary = `
	CREATE TEMP TABLE memberships AS SELECT user_id, workspace_id, 'member'::countersign.role AS role FROM countersign.memberships;
	CREATE TEMP TABLE sign_ins AS SELECT id, user_id, workspace_id, NULL::timestamptz AS ended_at, 'infinity'::timestamptz AS expires_at FROM countersign.sign_ins;
	CREATE TEMP TABLE proposals (LIKE countersign.proposals INCLUDING ALL);
	CREATE TEMP TABLE proposal_decisions (LIKE countersign.proposal_decisions INCLUDING ALL);
	CREATE TEMP TABLE events (LIKE countersign.events);
	GRANT ALL ON memberships, sign_ins, proposals, proposal_decisions, events TO PUBLIC;
	SET LOCAL search_path = pg_temp, countersign, pg_catalog`

// What a session puts before our schema is not what our functions look at: who may not propose still may
// not, and what is proposed and withdrawn is ours.
func TestAHostileSearchPath(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example")
	good, harbor := w.legitimate(), w.workspace("harbor-mill")
	for name, path := range map[string]string{"a schema": evil, "temporary tables": temporary} {
		for what, c := range map[string]struct{ before, code string }{
			"as it should be": {`SELECT 1`, ""},
			"an auditor":      {`UPDATE countersign.memberships SET role = 'auditor'`, "CS003"},
			"signed out":      {`UPDATE countersign.sign_ins SET ended_at = now()`, "CS003"},
			"past its time":   {`UPDATE countersign.sign_ins SET expires_at = now()`, "CS003"},
			"two credentials": {`SELECT 1`, "CS003"},
		} {
			args := good
			if what == "two credentials" {
				args = good.but(proposing{"by_token": w.user("maria")})
			}
			statement, values := args.call()
			if code := w.afterwards(t, c.before+";"+path, harbor, statement, values...); code != c.code {
				t.Errorf("%s, %s: %q, want %q", name, what, code, c.code)
			}
		}
	}
}

func TestWhatAHostileSearchPathWritesIsOurs(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example")
	token := w.token("maria@harbor.example", "propose")
	w.exec(evil) // for good, and its path for this statement
	good := w.legitimate().but(proposing{"by_sign_in": nil, "by_token": token, "in_call": w.toolCall(w.user("maria"), nil, token)})
	err := pgx.BeginFunc(t.Context(), w.db.Pools.Agent, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SET LOCAL search_path = evil, countersign, pg_catalog`); err != nil {
			return err
		}
		statement, args := good.call()
		if code := inside(t, tx, w.workspace("harbor-mill"), statement, args...); code != "" {
			t.Fatalf("propose: %s", code)
		}
		var became string
		err := tx.QueryRow(t.Context(), `SELECT countersign.withdraw($1, $2, 'not any more')`, good["new_id"], token).Scan(&became)
		if became != "withdrawn" {
			t.Errorf("withdraw answers %q", became)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.sql(`SELECT (SELECT count(*) FROM countersign.proposals WHERE status = 'withdrawn') || ' ' || (SELECT count(*) FROM countersign.proposal_decisions) || ' ' || (SELECT count(*) FROM countersign.events) || ' ' || (SELECT count(*) FROM countersign.audit_events)`); got != "1 1 2 2" {
		t.Errorf("ours: %s", got)
	}
	if got := w.sql(`SELECT (SELECT count(*) FROM evil.proposals) + (SELECT count(*) FROM evil.proposal_decisions) + (SELECT count(*) FROM evil.events) + (SELECT count(*) FROM evil.tool_calls)`); got != "0" {
		t.Errorf("theirs: %s", got)
	}
}

// A token withdraws what it proposed, while it lives; nobody else's, and nothing for the system where no
// turn was cut short.
func TestWithdrawIsForWhoProposed(t *testing.T) {
	t.Parallel()
	w := start(t)
	mine := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	token := w.sql(`SELECT id FROM countersign.api_tokens`)
	mine.rename("4", "reviewer")
	which := w.sql(`SELECT id FROM countersign.proposals`)
	other, harbor := w.token("maria@harbor.example", "propose"), w.workspace("harbor-mill")
	for name, c := range map[string]struct {
		workspace, proposal, token, before string
		done                               bool
	}{
		"its own":           {harbor, which, token, "", true},
		"another token":     {harbor, which, other, "", false},
		"no token":          {harbor, which, "", "", false},
		"another workspace": {w.workspace("other-site"), which, token, "", false},
		"no such proposal":  {harbor, harbor, token, "", false},
		"revoked":           {harbor, which, token, `UPDATE api_tokens SET revoked_at = clock_timestamp()`, false},
		"past its time":     {harbor, which, token, `UPDATE api_tokens SET expires_at = clock_timestamp()`, false},
	} {
		// It divides by zero where something was withdrawn.
		statement := `SELECT 1 / (countersign.withdraw($1::text::uuid, NULLIF($2::text, '')::uuid, NULL) IS NULL)::int`
		if code := w.afterwards(t, c.before, c.workspace, statement, c.proposal, c.token); (code == "22012") != c.done {
			t.Errorf("%s: withdrawn is %v, want %v (%s)", name, !c.done, c.done, code)
		}
	}
}
