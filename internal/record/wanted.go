package record

import (
	"strconv"
	"strings"
)

// wanted is a table of texts, one row for each of some records: parameters that stand in columns, so that a
// statement is the same for any number of them. The columns of a row called w are w.c1, w.c2 …; w.n counts
// the rows from 1.
type wanted struct{ columns [][]*string }

// add gives the name of a new column.
func (w *wanted) add(texts []*string) string {
	w.columns = append(w.columns, texts)
	return "w.c" + strconv.Itoa(len(w.columns))
}

// keys adds the columns of the records' keys.
func (w *wanted) keys(e *Entity, parts [][]string) []string {
	names := make([]string, len(e.key))
	for i := range e.key {
		texts := make([]*string, len(parts))
		for j := range parts {
			texts[j] = &parts[j][i]
		}
		names[i] = w.add(texts)
	}
	return names
}

// values adds a column for each field that the rows are given; the fields are those of the first row.
func (w *wanted) values(rows [][]given) []string {
	names := make([]string, len(rows[0]))
	for i := range rows[0] {
		texts := make([]*string, len(rows))
		for j := range rows {
			texts[j] = rows[j][i].text
		}
		names[i] = w.add(texts)
	}
	return names
}

// table is the expression that the rows come from.
func (w *wanted) table(q *query) string {
	sql, names := "ROWS FROM (", ""
	for i, texts := range w.columns {
		if i > 0 {
			sql += ", "
		}
		literal := arrayLiteral(texts)
		sql += "pg_catalog.unnest(" + q.param(&literal) + "::text[])"
		names += "c" + strconv.Itoa(i+1) + ", "
	}
	return sql + ") WITH ORDINALITY AS w (" + names + "n)"
}

// at is the condition that a row called t has the key that stands in the columns.
func (e *Entity) at(columns []string) string {
	conditions := make([]string, len(e.key))
	for i, c := range e.key {
		conditions[i] = c.equals(columns[i])
	}
	return strings.Join(conditions, " AND ")
}

// arrayLiteral spells a list of texts as PostgreSQL does.
func arrayLiteral(texts []*string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = "NULL"
		if text != nil {
			items[i] = `"` + escapes.Replace(*text) + `"`
		}
	}
	return "{" + strings.Join(items, ",") + "}"
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
