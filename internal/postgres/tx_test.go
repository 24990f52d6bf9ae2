package postgres_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

// notes makes a table to write into.
func notes(t *testing.T) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t)
	if _, err := db.Owner.Exec(t.Context(), `CREATE TABLE notes (n int PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	return db
}

func noted(t *testing.T, db *pgtest.DB) (list []int) {
	t.Helper()
	if err := db.Owner.QueryRow(t.Context(), `SELECT coalesce(array_agg(n ORDER BY n), '{}') FROM notes`).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// transact runs a transaction on a connection of the owner's pool.
func transact(t *testing.T, db *pgtest.DB, do func(*postgres.Tx) error) error {
	t.Helper()
	return db.Owner.AcquireFunc(t.Context(), func(conn *pgxpool.Conn) error { return postgres.Transact(t.Context(), conn.Conn(), do) })
}

const note = `INSERT INTO notes VALUES ($1)`

func TestATransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	db := notes(t)
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		do   func(*postgres.Tx) error
		want error // of Transact
		adds int
	}{
		{"now", func(tx *postgres.Tx) error {
			_, err := tx.Now().Exec(t.Context(), note, 1)
			return err
		}, nil, 1},
		{"later, and nothing after it", func(tx *postgres.Tx) error {
			_, err := tx.Later().Exec(t.Context(), note, 2)
			return err
		}, nil, 1},
		{"later, then the last", func(tx *postgres.Tx) error {
			_, _ = tx.Later().Exec(t.Context(), note, 3)
			return tx.Last().QueryRow(t.Context(), `SELECT n FROM notes WHERE n = 3`).Scan(new(int))
		}, nil, 1},
		{"the last finds no row", func(tx *postgres.Tx) error {
			_, _ = tx.Later().Exec(t.Context(), note, 4)
			return tx.Last().QueryRow(t.Context(), `SELECT n FROM notes WHERE n = 0`).Scan(new(int))
		}, pgx.ErrNoRows, 1},
		{"nothing at all", func(*postgres.Tx) error { return nil }, nil, 0},
		{"an error before anything was sent", func(tx *postgres.Tx) error {
			_, _ = tx.Later().Exec(t.Context(), note, 5)
			return broken
		}, broken, 0},
		{"an error after", func(tx *postgres.Tx) error {
			_, err := tx.Now().Exec(t.Context(), note, 6)
			return errors.Join(err, broken)
		}, broken, 0},
		{"what has to wait answers", func(tx *postgres.Tx) error {
			_, _ = tx.Now().Exec(t.Context(), note, 7)
			return tx.Later().QueryRow(t.Context(), `SELECT 1`).Scan(new(int))
		}, nil, 0},
		{"an error that is kept quiet", func(tx *postgres.Tx) error {
			_, _ = tx.Now().Exec(t.Context(), note, 8)
			_, _ = tx.Now().Exec(t.Context(), `SELECT 1 / 0`)
			return nil
		}, pgx.ErrTxCommitRollback, 0},
		{"undone to the mark", func(tx *postgres.Tx) error {
			_, _ = tx.Later().Exec(t.Context(), note, 9)
			tx.Mark()
			inner, err := tx.Sent(t.Context())
			if err != nil {
				return err
			}
			_, err = inner.Exec(t.Context(), note, 9)
			return errors.Join(tx.Back(t.Context()), refusedOnly(err))
		}, nil, 1},
	} {
		before := len(noted(t, db))
		err := transact(t, db, c.do)
		if c.want != nil && !errors.Is(err, c.want) || (err == nil) != (c.want == nil && c.name != "what has to wait answers") {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := len(noted(t, db)); after-before != c.adds {
			t.Errorf("%s: %d rows were added, want %d", c.name, after-before, c.adds)
		}
	}
}

// refusedOnly passes what PostgreSQL refused.
func refusedOnly(err error) error {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return nil
	}
	return errors.New("it was not refused")
}

func TestAnErrorOfWhatWaitedIsThatOfWhatItWentWith(t *testing.T) {
	t.Parallel()
	db := notes(t)
	err := transact(t, db, func(tx *postgres.Tx) error {
		for range 2 {
			if _, err := tx.Later().Exec(t.Context(), note, 1); err != nil {
				t.Error("what waits has failed already:", err)
			}
		}
		return tx.Last().QueryRow(t.Context(), `SELECT 1`).Scan(new(int))
	})
	if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "23505" || errors.Is(err, postgres.ErrUnheard) {
		t.Error(err)
	}
	if list := noted(t, db); len(list) != 0 {
		t.Errorf("%v was committed", list)
	}
}

func TestAnEndedTransactionGivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	db := notes(t)
	conns := map[uint32]bool{}
	for _, fails := range []bool{false, true, false} {
		_ = transact(t, db, func(tx *postgres.Tx) error {
			inner, err := tx.Sent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns[inner.Conn().PgConn().PID()] = true
			if fails {
				return errors.New("failed")
			}
			return nil
		})
	}
	if len(conns) != 1 {
		t.Errorf("%d connections were used, one after the other", len(conns))
	}
}

func TestACommitWhoseAnswerIsLostIsSaidToBeUnheard(t *testing.T) {
	t.Parallel()
	db := notes(t)
	for name, last := range map[string]func(*postgres.Tx) error{
		"the last": func(tx *postgres.Tx) error {
			return tx.Last().QueryRow(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`).Scan(new(bool))
		},
		"before": func(tx *postgres.Tx) error {
			return tx.Now().QueryRow(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`).Scan(new(bool))
		},
	} {
		err := transact(t, db, last)
		if unheard := errors.Is(err, postgres.ErrUnheard); err == nil || unheard != (name == "the last") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
