package postgres

import "github.com/jackc/pgx/v5"

// rows are the rows of a batch's last statement. Reading to the end or closing ends the batch, gives its
// connection back and says whether its transaction committed.
type rows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  bool
	err     error
}

// Next moves to the next row; after the last one the batch is over.
func (r *rows) Next() bool {
	if r.closed {
		return false
	}
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close ends the batch; it can be called again.
func (r *rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.results.Close()
}

// Err tells what went wrong, the end of the transaction included.
func (r *rows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// row is the first of some rows, as QueryRow gives it.
type row struct {
	rows pgx.Rows
	err  error
}

// Scan reads the row and ends the statement.
func (r row) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
