package record

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// lock is a condition under which a record is not offered for change.
type lock struct {
	column *column
	values []string // as the column's type reads them
	shown  bool     // the field may be named with its value
	field  string
	label  string
}

// bindLocks reads the conditions. Their columns need not be exposed.
func (b *binder) bindLocks(e *Entity, spec *entitySpec) {
	for _, l := range spec.locked {
		what := e.Name + ": locked"
		c := b.column(e, l.column, what)
		if c == nil {
			continue
		}
		bound := lock{column: c}
		for _, f := range e.Fields {
			if f.column == c {
				bound.shown, bound.field, bound.label = !f.Masked, f.Name, f.Label
			}
		}
		for _, w := range l.values {
			value, err := c.scan(w.text)
			if err != nil {
				b.problems.say(w.line, "%s: %s %v", what, c.name, err)
			}
			bound.values = append(bound.values, value)
		}
		e.locks = append(e.locks, bound)
	}
}

// lockOf is the place of the first lock whose condition the row meets, or NULL.
func (e *Entity) lockOf(q *query) string {
	if len(e.locks) == 0 {
		return "NULL::text"
	}
	sql := "CASE"
	for i, l := range e.locks {
		for j := range l.values {
			sql += " WHEN " + l.column.equals(q.param(&l.values[j])) + " THEN '" + strconv.Itoa(i) + "'"
		}
	}
	return sql + " END"
}

// locked says why a record is not offered for change, with the value where it is shown anyway.
func (e *Entity) locked(place *string, record *Record) string {
	if place == nil {
		return ""
	}
	i, _ := strconv.Atoi(*place)
	l := e.locks[i]
	if !l.shown {
		return "This record is not offered for change."
	}
	var value string
	if json.Unmarshal(record.Values[l.field].JSON, &value) != nil {
		value = string(record.Values[l.field].JSON)
	}
	return fmt.Sprintf("This record is not offered for change: %s is %s.", l.label, value)
}
