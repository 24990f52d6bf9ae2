package record

import (
	"fmt"
	"slices"
	"strconv"
)

// group is neighbouring writes that one statement makes. first is the place of the first of them.
type group struct {
	first  int
	writes []Write
	// brief ones give back of many records no more than the fields that are written
	brief bool
}

// grouped keeps the order: updates of one entity's same fields that stand side by side are a group.
func grouped(writes []Write) []group {
	var list []group
	for i, w := range writes {
		last := len(list) - 1
		if last >= 0 && alike(list[last].writes[0], w) {
			list[last].writes = append(list[last].writes, w)
			continue
		}
		list = append(list, group{first: i, writes: []Write{w}})
	}
	return list
}

func alike(a, b Write) bool {
	return a.Operation == Update && b.Operation == Update && a.Entity == b.Entity && a.Planned == b.Planned && string(a.Salt) == string(b.Salt) && sameFields(a.Values, b.Values)
}

func (g group) statement() (statement, error) {
	if len(g.writes) == 1 {
		return g.writes[0].statement(g.first)
	}
	keys, values, versions := make([][]string, len(g.writes)), make([][]given, len(g.writes)), make([]*string, len(g.writes))
	for i, w := range g.writes {
		if err := w.versioned(); err != nil {
			return statement{}, err
		}
		var err error
		if values[i], err = w.given(); err != nil {
			return statement{}, err
		}
		var ok bool
		if keys[i], ok = w.Entity.readKey(w.Key); !ok {
			return statement{}, &NoRow{Indexes: []int{g.first + i}}
		}
		versions[i] = &w.Version
	}
	if len(values[0]) == 0 {
		return statement{}, fmt.Errorf("an update of %s changes nothing", g.writes[0].Entity.Name)
	}
	return g.update(keys, values, versions), nil
}

// update locks the records in the order of their keys, each while it has its version, and then writes those
// it holds. A record that someone else is changing is waited for, and looked at again as they left it.
func (g group) update(keys [][]string, values [][]given, versions []*string) statement {
	e, q, w := g.writes[0].Entity, &query{}, &wanted{}
	at := e.at(w.keys(e, keys))
	columns := w.values(values)
	version := w.add(versions)
	q.add("WITH wanted AS MATERIALIZED (SELECT * FROM ", w.table(q), "), held AS MATERIALIZED (SELECT w.n FROM wanted AS w JOIN ", e.table, " AS t ON ", at,
		" WHERE ", selection{salt: g.writes[0].Salt}.version(q), " = ", version, " ORDER BY ", e.order("t"), " FOR NO KEY UPDATE OF t)",
		" UPDATE ", e.table, " AS t SET ")
	for i, f := range values[0] {
		if i > 0 {
			q.add(", ")
		}
		q.add(quote(f.field.column.name), " = ", f.field.column.cast(columns[i]))
	}
	q.add(" FROM wanted AS w JOIN held USING (n) WHERE ", at, " RETURNING n::text")
	if !g.brief {
		q.add(", ")
		selection{entity: e}.add(q)
		return q.statement()
	}
	for _, f := range values[0] {
		q.add(", ", f.field.column.text(f.field.column.of("t")))
	}
	return q.statement()
}

// record reads a row that the group's statement gave back, for its write.
func (g group) record(w Write, r row) (*Record, error) {
	if !g.brief {
		one, _, err := selection{entity: w.Entity}.read(r)
		return one, err
	}
	one := &Record{Key: w.Key, Values: map[string]Value{}}
	for _, f := range w.Entity.Fields {
		if _, written := w.Values[f.Name]; written {
			one.Values[f.Name], r = f.column.output(r[0]), r[1:]
		}
	}
	return one, nil
}

// written reads what the group's statement gave back, in the order of the writes.
func (g group) written(rows []row) ([]*Record, error) {
	if len(g.writes) == 1 {
		one, err := written(g.first, g.writes[0].Entity, rows)
		return []*Record{one}, err
	}
	records := make([]*Record, len(g.writes))
	for _, r := range rows {
		n, err := strconv.Atoi(text(r[0]))
		if err != nil || n < 1 || n > len(records) || records[n-1] != nil {
			return nil, fmt.Errorf("a write of %s gave back a record it was not asked for", g.writes[0].Entity.Name)
		}
		if records[n-1], err = g.record(g.writes[n-1], r[1:]); err != nil {
			return nil, err
		}
	}
	return records, g.missing(records)
}

func (g group) missing(records []*Record) error {
	var places []int
	for i, r := range records {
		if r == nil {
			places = append(places, g.first+i)
		}
	}
	if len(places) == 0 {
		return nil
	}
	return &NoRow{Indexes: slices.Clip(places)}
}
