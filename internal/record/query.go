package record

import (
	"strconv"
	"strings"
)

// statement is SQL and its parameters, all of them texts; nil is NULL.
type statement struct {
	sql  string
	args []*string
	// synced statements are a transaction of their own, where none has begun
	synced bool
}

// query is a statement being written.
type query struct {
	sql  strings.Builder
	args []*string
}

func (q *query) add(pieces ...string) {
	for _, p := range pieces {
		q.sql.WriteString(p)
	}
}

// param adds a parameter and gives its place.
func (q *query) param(text *string) string {
	q.args = append(q.args, text)
	return "$" + strconv.Itoa(len(q.args))
}

// arg is param for a text, typed as one.
func (q *query) arg(text string) string { return q.param(&text) + "::text" }

func (q *query) statement() statement { return statement{sql: q.sql.String(), args: q.args} }
