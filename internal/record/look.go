package record

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Look reads the records of an entity that have the keys, with their versions, in one statement as the
// person. It gives a place for each key, nil where there is none that this person sees. Errors are as for Get.
func (r *Registry) Look(ctx context.Context, tx pgx.Tx, as identity.Actor, e *Entity, keys []string, salt []byte) ([]*Record, error) {
	found := make([]*Record, len(keys))
	var parts [][]string
	var places []int
	for i, key := range keys {
		if p, ok := e.readKey(key); ok {
			parts, places = append(parts, p), append(places, i)
		}
	}
	if len(parts) == 0 {
		return found, nil
	}
	s := e.reading(as, salt)
	q, w := &query{}, &wanted{}
	at := e.at(w.keys(e, parts))
	q.add("SELECT w.n::text, ")
	s.add(q)
	q.add(" FROM ", w.table(q), " JOIN ", e.table, " AS t ON ", at, " ORDER BY w.n")
	rows, err := readAs(ctx, tx, as, e, q.statement())
	if err != nil {
		return nil, err
	}
	for _, one := range rows {
		n, err := strconv.Atoi(text(one[0]))
		if err != nil {
			return nil, err
		}
		if found[places[n-1]], _, err = s.read(one[1:]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
