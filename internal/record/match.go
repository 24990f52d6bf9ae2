package record

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Match drafts one change of all records that meet a filter, field equals value, by key: those that already
// have the values are left out. At most most+1 are given, so that the caller sees that there are more. All in
// one statement as the person; errors are as for Draft and List.
func (r *Registry) Match(ctx context.Context, tx pgx.Tx, as identity.Actor, e *Entity, where, values map[string]json.RawMessage, most int, salt []byte) ([]*Draft, error) {
	given, err := Change{Entity: e, Operation: BulkUpdate, Values: values}.accept()
	if err != nil {
		return nil, err
	}
	d := drafting{selection: e.reading(as, salt), given: given}
	q := &query{}
	q.add("SELECT ")
	d.add(q)
	d.compare(q, nil)
	q.add(" FROM ", e.table, " AS t WHERE true")
	for _, name := range slices.Sorted(maps.Keys(where)) {
		if err := e.meet(q, Condition{Field: name, Value: where[name]}); err != nil {
			return nil, err
		}
	}
	d.differing(q)
	q.add(" ORDER BY ", e.order("t"), " LIMIT ", strconv.Itoa(most+1))
	rows, err := readAs(ctx, tx, as, e, q.statement())
	if err != nil {
		return nil, draftError(e, given, err)
	}
	drafts := make([]*Draft, len(rows))
	for i, one := range rows {
		if drafts[i], err = d.read(one); err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

// differing keeps the records that the values would change. A masked value counts as another, whatever it is.
func (d drafting) differing(q *query) {
	if slices.ContainsFunc(d.given, func(g given) bool { return g.field.Masked }) {
		return
	}
	q.add(" AND (false")
	for _, g := range d.given {
		q.add(" OR ", g.field.column.differs("t", g.field.column.cast(q.param(g.text))))
	}
	q.add(")")
}

// order is the columns of the key, in their order.
func (e *Entity) order(t string) string {
	columns := ""
	for i, c := range e.key {
		if i > 0 {
			columns += ", "
		}
		columns += c.of(t)
	}
	return columns
}
