package record

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Get reads one record as the person: ErrGone where there is none that this person sees, whatever the key;
// ErrUnreadable where reading is refused. The transaction is left as it was found, but after an error of
// PostgreSQL's it has to be rolled back to a savepoint before anything else.
func (r *Registry) Get(ctx context.Context, tx pgx.Tx, as identity.Actor, e *Entity, key string) (*Record, error) {
	parts, ok := e.readKey(key)
	if !ok {
		return nil, ErrGone
	}
	s := e.reading(as, nil)
	q := &query{}
	q.add("SELECT ")
	s.add(q)
	q.add(" FROM ", e.table, " AS t")
	e.where(q, parts)
	rows, err := readAs(ctx, tx, as, e, q.statement())
	if err != nil {
		return nil, err
	}
	one, err := single(e, rows)
	if err != nil {
		return nil, err
	}
	record, _, err := s.read(one)
	return record, err
}

// readAs runs one statement as the person, in one round trip.
func readAs(ctx context.Context, tx pgx.Tx, as identity.Actor, e *Entity, s statement) ([]row, error) {
	person := asPerson(e.source, e.source.ReadAs, as)
	results, err := exchange(ctx, tx.Conn(), []statement{person.enter(), s, person.leave()})
	if err != nil {
		return nil, readError(e, err, 1)
	}
	return results[1], nil
}

func single(e *Entity, rows []row) (row, error) {
	switch len(rows) {
	case 0:
		return nil, ErrGone
	case 1:
		return rows[0], nil
	default:
		return nil, fmt.Errorf("%s has %d records with one key", e.Name, len(rows))
	}
}
