package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

func byLogin(pools *postgres.Pools) map[string]*pgxpool.Pool {
	return map[string]*pgxpool.Pool{
		"countersign_gate": pools.Gate, "countersign_agent": pools.Agent, "countersign_reader": pools.Reader,
		"countersign_worker": pools.Worker, "countersign_identity": pools.Identity,
	}
}

func TestEachPoolIsItsLogin(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for login, pool := range byLogin(db.Pools) {
		var session, current, path, zone string
		err := pool.QueryRow(t.Context(), `SELECT session_user, current_user, current_setting('search_path'), current_setting('TimeZone')`).Scan(&session, &current, &path, &zone)
		if err != nil {
			t.Errorf("%s: %v", login, err)
			continue
		}
		t.Logf("%s: session_user %s, current_user %s", login, session, current)
		if session != login || current != login || path != "countersign, pg_catalog, pg_temp" || zone != "UTC" {
			t.Errorf("%s is session_user %s, current_user %s, search_path %q, TimeZone %s", login, session, current, path, zone)
		}
	}
	if err := db.Pools.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A generic plan with a LIMIT that is a parameter expects a tenth of a large table, and was compiled first.
func TestNoPoolCompilesItsStatements(t *testing.T) {
	t.Parallel()
	pools := pgtest.New(t).Pools
	byName := byLogin(pools)
	byName["the streams"] = pools.Streams
	for name, pool := range byName {
		var jit string
		if err := pool.QueryRow(t.Context(), `SHOW jit`).Scan(&jit); err != nil || jit != "off" {
			t.Errorf("%s: jit is %q, %v", name, jit, err)
		}
	}
}

func TestAPoolUnderAnotherLoginIsRefused(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	pools, err := postgres.OpenPools(t.Context(), db.OwnerURL, func(name string) string {
		if name == "COUNTERSIGN_AGENT_URL" {
			return db.OwnerURL
		}
		return ""
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pools.Close()
	err = pools.Verify(t.Context())
	if err == nil || !strings.Contains(err.Error(), "COUNTERSIGN_AGENT_URL") || !strings.Contains(err.Error(), "countersign_owner") {
		t.Errorf("got %v", err)
	}
}

// Whatever a login can make itself, by RESET ROLE and SET ROLE, only the gate writes a business record,
// and only as the host's write role.
func TestOnlyTheGateWritesABusinessRecord(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	roles := everyRole(t, db)
	for login, pool := range byLogin(db.Pools) {
		var wrote []string
		for _, role := range roles {
			if writesAs(t, pool, role) {
				wrote = append(wrote, role)
			}
		}
		want := []string(nil)
		if login == "countersign_gate" {
			want = []string{"harbor_write"}
		}
		if !slices.Equal(wrote, want) {
			t.Errorf("%s writes as %v, want %v", login, wrote, want)
		}
	}
}

// Also when it tries one role after the other in one session.
func TestNoChainOfRolesLetsAnotherLoginWrite(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	roles := everyRole(t, db)
	for login, pool := range byLogin(db.Pools) {
		if login == "countersign_gate" {
			continue
		}
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range roles {
			_, _ = conn.Exec(t.Context(), `RESET ROLE; SET app.site = 'harbor-mill'`)
			_, _ = conn.Exec(t.Context(), `SET ROLE `+pgx.Identifier{first}.Sanitize())
			for _, second := range roles {
				_, _ = conn.Exec(t.Context(), `SET ROLE `+pgx.Identifier{second}.Sanitize())
				if tag, err := conn.Exec(t.Context(), `UPDATE core.roles SET name = 'taken' WHERE id = 4`); err == nil && tag.RowsAffected() > 0 {
					t.Errorf("%s wrote as %s, then %s", login, first, second)
				}
			}
		}
		conn.Release()
	}
}

// everyRole gives the roles of the server, "" for the login itself.
func everyRole(t *testing.T, db *pgtest.DB) []string {
	t.Helper()
	rows, err := db.Owner.Query(t.Context(), `SELECT '' UNION SELECT rolname::text FROM pg_catalog.pg_roles ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Contains(roles, "harbor_write") || !slices.Contains(roles, "countersign_owner") {
		t.Fatalf("roles %v, %v", roles, err)
	}
	return roles
}

func writesAs(t *testing.T, pool *pgxpool.Pool, role string) bool {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `RESET ROLE; SET LOCAL app.site = 'harbor-mill'`); err != nil {
		t.Fatal(err)
	}
	if role != "" {
		if _, err := tx.Exec(t.Context(), `SET LOCAL ROLE `+pgx.Identifier{role}.Sanitize()); err != nil {
			return false
		}
	}
	tag, err := tx.Exec(t.Context(), `UPDATE core.roles SET name = 'taken' WHERE id = 4`)
	return err == nil && tag.RowsAffected() == 1
}

// What each login may write of ours, seen by trying: nothing more than it is there for.
func TestNoLoginButTheGateDecides(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for login, pool := range byLogin(db.Pools) {
		for statement, allowed := range map[string]string{
			`INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final) SELECT NULL, NULL, 'confirm', true WHERE false`: "countersign_gate countersign_worker",
			`UPDATE proposals SET status = 'applied' WHERE false`:                                                                    "countersign_gate countersign_worker",
			`UPDATE proposals SET outcome_affected = 1 WHERE false`:                                                                  "countersign_gate",
			`INSERT INTO proposals (id) SELECT NULL WHERE false`:                                                                     "",
			`DELETE FROM proposals WHERE false`:                                                                                      "countersign_worker", // what is over
			`DELETE FROM audit_events WHERE false`:                                                                                   "",
			`UPDATE sign_ins SET ended_at = NULL WHERE false`:                                                                        "countersign_identity",
			`SELECT password_hash FROM users WHERE false`:                                                                            "countersign_identity",
			`UPDATE memberships SET role = 'operator' WHERE false`:                                                                   "countersign_identity",
			`CREATE TABLE mine ()`:                                                                                                   "",
		} {
			_, err := pool.Exec(t.Context(), statement)
			if may := slices.Contains(strings.Fields(allowed), login); (err == nil) != may {
				t.Errorf("%s: %s: %v, allowed: %v", login, statement, err, may)
			}
		}
	}
}
