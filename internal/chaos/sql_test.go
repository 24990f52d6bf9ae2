//go:build failpoints

package chaos

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
)

// superuser does something past every right and policy.
func (w *world) superuser(statement string, arguments ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.SuperuserURL)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = conn.Exec(w.t.Context(), statement, arguments...)
	if closed := conn.Close(w.t.Context()); err != nil || closed != nil {
		w.t.Fatalf("%s: %v %v", statement, err, closed)
	}
}

// sql reads one value as the owner; "" where there is none.
func (w *world) sql(query string, arguments ...any) string {
	w.t.Helper()
	var value *string
	if err := w.db.Owner.QueryRow(w.t.Context(), "SELECT ("+query+")::text", arguments...).Scan(&value); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// terminate ends every session of the program's logins in the database.
func (w *world) terminate() {
	w.t.Helper()
	w.superuser(`SELECT count(pg_terminate_backend(pid, 1000)) FROM pg_stat_activity WHERE datname = current_database() AND usename IN ('countersign_gate', 'countersign_agent', 'countersign_worker')`)
}

// lapse makes the time of a value's proposals be over.
func (w *world) lapse(value string) {
	w.t.Helper()
	if _, err := w.lapsing(w.t.Context(), value); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lapsing(ctx context.Context, value string) (rows int64, err error) {
	done, err := w.db.Owner.Exec(ctx, `UPDATE proposals SET expires_at = clock_timestamp() WHERE status IN ('pending', 'awaiting_approval')
		AND id IN (SELECT proposal_id FROM proposal_records r WHERE r.changes -> 0 -> 'to' ->> 'json' = $1)`, value)
	return done.RowsAffected(), err
}

// unfinished is a proposal of a turn that still runs.
func (w *world) unfinished(ctx context.Context) (p known, ok bool) {
	var stored uuid.UUID
	err := w.db.Owner.QueryRow(ctx, `SELECT p.id, p.fingerprint, split_part(lower(u.name), ' ', 1), r.changes -> 0 -> 'to' ->> 'json' FROM turns t JOIN proposals p ON p.turn_id = t.id
		JOIN users u ON u.id = p.acting_user_id JOIN proposal_records r ON r.proposal_id = p.id
		WHERE t.status = 'running' AND p.status = 'pending' ORDER BY p.number DESC LIMIT 1`).Scan(&stored, &p.print, &p.owner, &p.value)
	p.id, p.by, p.turn = id.ProposalOf(stored).String(), p.owner, true
	return p, err == nil
}

// id is that of the proposal of a value.
func (w *world) id(value string) string {
	w.t.Helper()
	stored, err := uuid.Parse(w.sql(`SELECT proposal_id FROM proposal_records r WHERE r.changes -> 0 -> 'to' ->> 'json' = $1`, value))
	if err != nil {
		w.t.Fatal(err)
	}
	return id.ProposalOf(stored).String()
}
