package pgtest

import (
	"testing"
	"time"
)

// WaitBlocked returns when at least n sessions of the database wait for a lock, and ends the test where
// that does not happen within a minute.
func WaitBlocked(t testing.TB, d *DB, n int) {
	t.Helper()
	wait(t, d, n, "Lock", "%")
}

// WaitSleeping returns when at least n sessions of the database sleep in pg_sleep, as WaitBlocked does.
func WaitSleeping(t testing.TB, d *DB, n int) {
	t.Helper()
	wait(t, d, n, "Timeout", "PgSleep")
}

func wait(t testing.TB, d *DB, n int, kind, event string) {
	t.Helper()
	s := need(t)
	deadline := time.Now().Add(time.Minute)
	for waiting := 0; ; {
		// As superuser: nobody else is told what another's session waits for.
		err := s.admin.QueryRow(t.Context(), `SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = $1 AND wait_event_type = $2 AND wait_event LIKE $3`, d.name, kind, event).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		if waiting >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions wait (%s), not %d", waiting, kind, n)
		}
		if _, err := s.admin.Exec(t.Context(), `SELECT pg_sleep(0.005)`); err != nil {
			t.Fatal(err)
		}
	}
}
