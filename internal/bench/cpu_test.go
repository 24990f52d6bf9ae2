package bench_test

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// ownCPU is what this process has used.
func ownCPU() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// databaseCPU is what the sessions on the database have used that are there; 0 where that is not to be seen.
func (m *mill) databaseCPU() (all time.Duration) {
	m.t.Helper()
	rows, err := m.db.Owner.Query(m.t.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			m.t.Fatal(err)
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		var used time.Duration
		_, _ = fmt.Sscan(string(stat), &used)
		all += used
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
	return all
}
