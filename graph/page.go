package graph

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/graph/model"
)

const maxPage = 100

// window is one page of a list: how many, from where, in which direction.
type window struct {
	size    int
	cursor  *string
	forward bool
}

// windowOf reads the four arguments of a Relay page. last asks for the page before a cursor; without it
// first counts.
func windowOf(first *int32, after *string, last *int32, before *string, usual int) (window, error) {
	w := window{size: usual, cursor: after, forward: true}
	name, asked := "first", first
	if last != nil {
		w.cursor, w.forward, name, asked = before, false, "last", last
	}
	if asked != nil {
		w.size = int(*asked)
	}
	if w.size < 1 || w.size > maxPage {
		return w, invalid(name, fmt.Sprintf("%s is a number from 1 to %d.", name, maxPage))
	}
	return w, nil
}

// limit asks for one more than the page, to know whether there is more.
func (w window) limit() int32 { return int32(w.size) + 1 }

// connect makes a page of rows that were read in the window's direction, one more than asked for.
func connect[T any](w window, rows []T, cursor func(T) string) *model.Connection[T] {
	more := len(rows) > w.size
	rows = rows[:min(len(rows), w.size)]
	if !w.forward {
		slices.Reverse(rows)
	}
	c := &model.Connection[T]{Edges: make([]model.Edge[T], len(rows))}
	for i, row := range rows {
		c.Edges[i] = model.Edge[T]{Cursor: cursor(row), Node: row}
	}
	c.PageInfo.HasNextPage, c.PageInfo.HasPreviousPage = more, w.cursor != nil
	if !w.forward {
		c.PageInfo.HasNextPage, c.PageInfo.HasPreviousPage = w.cursor != nil, more
	}
	if n := len(rows); n > 0 {
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &c.Edges[0].Cursor, &c.Edges[n-1].Cursor
	}
	return c
}

// slice makes a page of a list that is there whole; cursors are positions in it.
func slice[T any](w window, all []T, list string) (*model.Connection[T], error) {
	from := 0
	if w.cursor != nil {
		var err error
		if from, err = position(*w.cursor, list); err != nil {
			return nil, err
		}
	}
	from = min(from, len(all))
	index := from
	return connect(w, slices.Clone(all[from:min(len(all), from+w.size+1)]), func(T) string {
		index++
		return place{List: list, Number: int64(index)}.String()
	}), nil
}
