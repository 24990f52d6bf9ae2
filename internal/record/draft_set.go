package record

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// DraftAll drafts each of some changes, in their order. Neighbours of one entity, operation and set of fields
// are drafted by one statement. The error is that of the first that has one, as for Draft; index says which.
func (r *Registry) DraftAll(ctx context.Context, tx pgx.Tx, as identity.Actor, changes []Change, salt []byte) (drafts []*Draft, index int, err error) {
	drafts = make([]*Draft, 0, len(changes))
	for len(changes) > 0 {
		n := run(changes)
		some, at, err := r.draftRun(ctx, tx, as, changes[:n], salt)
		if err != nil {
			return nil, len(drafts) + at, err
		}
		drafts, changes = append(drafts, some...), changes[n:]
	}
	return drafts, 0, nil
}

// run is how many of the first changes are alike.
func run(changes []Change) int {
	first := changes[0]
	if first.Operation == Create {
		return 1
	}
	different := slices.IndexFunc(changes, func(c Change) bool {
		return c.Entity != first.Entity || c.Operation != first.Operation || c.Planned != first.Planned || !sameFields(c.Values, first.Values) || !sameFields(c.Kept, first.Kept)
	})
	if different < 0 {
		return len(changes)
	}
	return different
}

func sameFields[V any](a, b map[string]V) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			return false
		}
	}
	return true
}

func (r *Registry) draftRun(ctx context.Context, tx pgx.Tx, as identity.Actor, changes []Change, salt []byte) (drafts []*Draft, index int, err error) {
	if len(changes) == 1 {
		one, err := r.Draft(ctx, tx, as, changes[0], salt)
		return []*Draft{one}, 0, err
	}
	e := changes[0].Entity
	keys, values := make([][]string, len(changes)), make([][]given, len(changes))
	for i, c := range changes {
		var ok bool
		if keys[i], ok = e.readKey(c.Key); !ok {
			return nil, i, ErrGone
		}
		if values[i], err = c.accept(); err != nil {
			return nil, i, err
		}
	}
	d := drafting{selection: e.reading(as, salt), given: values[0]}
	rows, err := readAs(ctx, tx, as, e, d.all(keys, values))
	if err != nil {
		return nil, 0, draftError(e, d.given, err)
	}
	return d.inOrder(rows, len(changes))
}

// all reads the records of the keys, each with its place and beside its values.
func (d drafting) all(keys [][]string, values [][]given) statement {
	q, w := &query{}, &wanted{}
	at := d.entity.at(w.keys(d.entity, keys))
	columns := w.values(values)
	q.add("SELECT w.n::text, ")
	d.add(q)
	d.compare(q, columns)
	q.add(" FROM ", w.table(q), " JOIN ", d.entity.table, " AS t ON ", at, " ORDER BY w.n")
	return q.statement()
}

// inOrder reads a row for each place; ErrGone where there is none.
func (d drafting) inOrder(rows []row, places int) (drafts []*Draft, index int, err error) {
	for i := range places {
		if i >= len(rows) || text(rows[i][0]) != strconv.Itoa(i+1) {
			return nil, i, ErrGone
		}
		one, err := d.read(rows[i][1:])
		if err != nil {
			return nil, i, err
		}
		drafts = append(drafts, one)
	}
	return drafts, 0, nil
}
