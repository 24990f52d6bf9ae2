package record

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Condition is a field and the value it has to have; null is one too.
type Condition struct {
	Field string
	Value json.RawMessage
}

// Page is a piece of a list. Next is the cursor of what comes after it; empty at the end.
type Page struct {
	Records []*Record
	Next    string
}

// MaxPage is the most records of a page.
const MaxPage = 100

// List reads records that meet all conditions, by key, as the person. The error is an *InputError where a
// condition names no exposed field, a masked one, or a value that the field cannot have, or where first or
// after are out of range; else as for Get.
func (r *Registry) List(ctx context.Context, tx pgx.Tx, as identity.Actor, e *Entity, where []Condition, first int, after string) (*Page, error) {
	if first < 1 || first > MaxPage {
		return nil, invalid("first", "first takes a whole number from 1 to %d.", MaxPage)
	}
	s := e.reading(as, nil)
	q := &query{}
	q.add("SELECT ")
	s.add(q)
	q.add(" FROM ", e.table, " AS t WHERE true")
	for _, c := range where {
		if err := e.meet(q, c); err != nil {
			return nil, err
		}
	}
	if err := e.page(q, first, after); err != nil {
		return nil, err
	}
	rows, err := readAs(ctx, tx, as, e, q.statement())
	if err != nil {
		return nil, err
	}
	return s.page(rows, first)
}

// meet adds one condition.
func (e *Entity) meet(q *query, condition Condition) error {
	f, err := e.find(condition.Field)
	if err != nil {
		return err
	}
	if f.Masked {
		return invalid(f.Name, "%q is masked, so records cannot be looked for by it.", f.Name)
	}
	if isNull(condition.Value) {
		q.add(" AND ", f.column.of("t"), " IS NULL")
		return nil
	}
	value, err := f.column.input(condition.Value)
	if err != nil {
		return invalid(f.Name, "%q %s.", f.Name, err)
	}
	q.add(" AND ", f.column.equals(q.param(value)))
	return nil
}

// pageSizes are few, and written into the statement: PostgreSQL plans LIMIT $1 anew each time.
var pageSizes = []int{10, 25, 50, MaxPage}

// page adds order, place and length. Rows of a view whose key is NULL are no records.
func (e *Entity) page(q *query, first int, after string) error {
	for _, c := range e.key {
		if e.view {
			q.add(" AND ", c.of("t"), " IS NOT NULL")
		}
	}
	columns := e.order("t")
	if after != "" {
		parts, err := e.readCursor(after)
		if err != nil {
			return err
		}
		q.add(" AND (", columns, ") > (")
		for i, c := range e.key {
			if i > 0 {
				q.add(", ")
			}
			q.add(c.cast(q.param(&parts[i])))
		}
		q.add(")")
	}
	size := pageSizes[slices.IndexFunc(pageSizes, func(n int) bool { return n >= first })]
	q.add(" ORDER BY ", columns, " LIMIT ", strconv.Itoa(size+1))
	return nil
}

func (s selection) page(rows []row, first int) (*Page, error) {
	page := &Page{Records: []*Record{}}
	for i, r := range rows {
		if i == first {
			page.Next = writeCursor(page.Records[first-1].Key)
			break
		}
		record, _, err := s.read(r)
		if err != nil {
			return nil, err
		}
		page.Records = append(page.Records, record)
	}
	return page, nil
}
