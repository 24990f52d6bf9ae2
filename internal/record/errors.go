package record

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrGone says that there is no such record, or none that this person sees: the two are not told apart.
	ErrGone = errors.New("there is no such record, or none that you may see")
	// ErrUnreadable says that reading these records is refused to this person.
	ErrUnreadable = errors.New("you may not read these records")
)

// NoRow says that some writes found no record with their key and version; nothing is written.
type NoRow struct{ Indexes []int } //nolint:errname // what happened to writes, and only then an error

func (e *NoRow) Error() string {
	return fmt.Sprintf("no record with the key and version of writes %v", e.Indexes)
}

const forbidden = "42501"

// readError tells a refusal of the read itself from all else. read is the place of the statement that reads.
func readError(e *Entity, err error, read int) error {
	var f *failure
	if code := sqlState(err); code == forbidden && errors.As(err, &f) && f.statement == read {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return fmt.Errorf("read %s: %w", e.Name, err)
}

// sqlState is PostgreSQL's code of an error; empty where the error is not PostgreSQL's.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
