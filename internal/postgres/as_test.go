package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// conversation gives a workspace of the demo with a conversation in it.
func conversation(t *testing.T, db *pgtest.DB, slug string) (id.Workspace, id.Conversation) {
	t.Helper()
	var workspace id.Workspace
	var user id.User
	err := db.Owner.QueryRow(t.Context(), `SELECT w.id, m.user_id FROM workspaces w JOIN memberships m ON m.workspace_id = w.id
		WHERE w.slug = $1 ORDER BY m.user_id LIMIT 1`, slug).Scan(&workspace, &user)
	if err != nil {
		t.Fatal(err)
	}
	made := id.NewConversation()
	_, err = postgres.As(db.Pools.Agent, workspace).Exec(t.Context(),
		`INSERT INTO conversations (id, workspace_id, user_id, title) VALUES ($1, $2, $3, 'a title')`, made, workspace, user)
	if err != nil {
		t.Fatal(err)
	}
	return workspace, made
}

func count(t *testing.T, db sqlc.DBTX) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM conversations`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// drain reads rows to their end.
func drain(rows pgx.Rows, err error) error {
	defer rows.Close()
	for err == nil && rows.Next() {
		_, err = rows.Values()
	}
	return errors.Join(err, rows.Err())
}

func TestAStatementSeesOneWorkspace(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	harbor, first := conversation(t, db, "harbor-mill")
	other, second := conversation(t, db, "other-site")
	for workspace, want := range map[id.Workspace]id.Conversation{harbor: first, other: second} {
		rows, err := postgres.As(db.Pools.Reader, workspace).Query(t.Context(), `SELECT id FROM conversations`)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := pgx.CollectRows(rows, pgx.RowTo[id.Conversation])
		if err != nil || len(seen) != 1 || seen[0] != want {
			t.Errorf("workspace %s sees %v, %v; want %s", workspace, seen, err, want)
		}
	}
	if n := count(t, postgres.As(db.Pools.Reader, id.NewWorkspace())); n != 0 {
		t.Errorf("a workspace that is not there sees %d conversations", n)
	}
	if n := count(t, postgres.As(db.Pools.Reader, id.Workspace{})); n != 0 {
		t.Errorf("no workspace sees %d conversations", n)
	}
}

func TestWithoutAWorkspaceNoLoginSeesARow(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	conversation(t, db, "harbor-mill")
	for name, pool := range map[string]*pgxpool.Pool{"gate": db.Pools.Gate, "agent": db.Pools.Agent, "reader": db.Pools.Reader, "worker": db.Pools.Worker} {
		if n := count(t, pool); n != 0 {
			t.Errorf("%s sees %d conversations without a workspace", name, n)
		}
	}
}

func TestAWorkspaceNeverReachesTheNextBorrower(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	harbor, _ := conversation(t, db, "harbor-mill")
	conn, err := db.Pools.Reader.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	before := conn.Conn().PgConn().PID()
	setting := func() (value string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `SELECT coalesce(current_setting('countersign.workspace', true), '')`).Scan(&value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, use := range map[string]func() error{
		"a statement": func() error {
			_, err := postgres.As(conn.Conn(), harbor).Exec(t.Context(), `SELECT 1`)
			return err
		},
		"rows read to the end": func() error {
			rows, err := postgres.As(conn.Conn(), harbor).Query(t.Context(), `SELECT generate_series(1, 100)`)
			return drain(rows, err)
		},
		"rows given up": func() error {
			rows, err := postgres.As(conn.Conn(), harbor).Query(t.Context(), `SELECT generate_series(1, 100)`)
			rows.Next()
			rows.Close()
			return err
		},
		"a row": func() error {
			var n int
			return postgres.As(conn.Conn(), harbor).QueryRow(t.Context(), `SELECT 1 / 1`).Scan(&n)
		},
		"a failed statement": func() error {
			if _, err := postgres.As(conn.Conn(), harbor).Exec(t.Context(), `SELECT 1 / 0`); err == nil {
				return errors.New("1 / 0 has a value")
			}
			return nil
		},
		"a transaction": func() error {
			return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error { return postgres.Enter(t.Context(), tx, harbor) })
		},
		"a transaction that failed": func() error {
			_ = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				return errors.Join(postgres.Enter(t.Context(), tx, harbor), errors.New("failed"))
			})
			return nil
		},
	} {
		if err := use(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if value := setting(); value != "" {
			t.Errorf("after %s the workspace is still %q", name, value)
		}
	}
	if now := conn.Conn().PgConn().PID(); now != before {
		t.Errorf("the session changed from %d to %d", before, now)
	}
}

func TestInATransactionTheWorkspaceHoldsToItsEnd(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	harbor, _ := conversation(t, db, "harbor-mill")
	err := pgx.BeginFunc(t.Context(), db.Pools.Gate, func(tx pgx.Tx) error {
		if n := count(t, tx); n != 0 {
			t.Errorf("before entering, %d conversations", n)
		}
		if err := postgres.Enter(t.Context(), tx, harbor); err != nil {
			return err
		}
		if n := count(t, tx); n != 1 {
			t.Errorf("after entering, %d conversations", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorsOfAStatementComeOut(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	harbor, _ := conversation(t, db, "harbor-mill")
	as := postgres.As(db.Pools.Agent, harbor)
	var n int
	if err := as.QueryRow(t.Context(), `SELECT 1 WHERE false`).Scan(&n); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
	if err := as.QueryRow(t.Context(), `SELECT 'x'`).Scan(&n); err == nil {
		t.Error("a text was scanned into an int")
	}
	var refused *pgconn.PgError
	if err := as.QueryRow(t.Context(), `SELECT 1 / (SELECT 0)`).Scan(&n); !errors.As(err, &refused) || refused.Code != "22012" {
		t.Errorf("division by zero: %v", err)
	}
	unknown, err := as.Query(t.Context(), `SELECT nothing`)
	if err := drain(unknown, err); !errors.As(err, &refused) || refused.Code != "42703" {
		t.Errorf("unknown column: %v", err)
	}
	rows, err := as.Query(t.Context(), `SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n`)
	if err := drain(rows, err); !errors.As(err, &refused) || refused.Code != "22012" {
		t.Errorf("division by zero in the third row: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := as.Exec(cancelled, `SELECT 1`); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if held := db.Pools.Agent.Stat().AcquiredConns(); held != 0 {
		t.Errorf("%d connections were not given back", held)
	}
}

// A constraint that is checked when the transaction ends fails after the statement succeeded.
func TestAFailedCommitIsAnError(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	harbor, _ := conversation(t, db, "harbor-mill")
	_, err := db.Owner.Exec(t.Context(), `CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED); GRANT ALL ON late TO countersign_agent; INSERT INTO late VALUES (1)`)
	if err != nil {
		t.Fatal(err)
	}
	as := postgres.As(db.Pools.Agent, harbor)
	var refused *pgconn.PgError
	if _, err := as.Exec(t.Context(), `INSERT INTO late VALUES (1)`); !errors.As(err, &refused) || refused.Code != "23505" {
		t.Errorf("Exec: %v", err)
	}
	var a int
	if err := as.QueryRow(t.Context(), `INSERT INTO late VALUES (1) RETURNING a`).Scan(&a); !errors.As(err, &refused) || refused.Code != "23505" {
		t.Errorf("QueryRow: %v", err)
	}
	rows, err := as.Query(t.Context(), `INSERT INTO late VALUES (1) RETURNING a`)
	if err := drain(rows, err); !errors.As(err, &refused) || refused.Code != "23505" {
		t.Errorf("Query: %v", err)
	}
}
