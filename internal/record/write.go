package record

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Write is one change of one record.
type Write struct {
	Entity    *Entity
	Operation Operation
	// Key, Version and Salt say which record, and as it was when; a create has none, or the key the record gets.
	Key     string
	Version string
	Salt    []byte
	Values  map[string]Value
	// Planned writes are an action's: they may set any exposed field but the key's.
	Planned bool
}

// Write changes records as the person, each only while it has the key and the version, and checks deferred
// constraints, all in one round trip. Neighbouring updates of one entity's same fields are one statement, which
// locks their records in the order of their keys. It gives each record as the write left it, a deleted one as
// it was; of several that one statement writes, no more than the fields that were written.
//
// *NoRow: some writes found no record. *InputError: the registry no longer lets a field be written. Else the
// cause is PostgreSQL's, a *pgconn.PgError. After any error the caller rolls back to its savepoint, which
// undoes the writes before it and the person's settings.
func (r *Registry) Write(ctx context.Context, tx pgx.Tx, as identity.Person, writes []Write) ([]*Record, error) {
	if !as.Live() {
		return nil, errors.New("nobody is signed in, so nothing is written")
	}
	b := &batch{groups: grouped(writes), as: as}
	for i := range b.groups {
		b.groups[i].brief = true
	}
	if err := b.queue(); err != nil {
		return nil, err
	}
	knownOn(tx.Conn()).wrote = true
	results, err := exchange(ctx, tx.Conn(), b.statements)
	if err != nil {
		return nil, b.explain(err)
	}
	return b.written(results)
}

// written are the records as the writes left them.
func (b *batch) written(results [][]row) ([]*Record, error) {
	var records []*Record
	for i, g := range b.groups {
		some, err := g.written(results[b.places[i]])
		if err != nil {
			return nil, err
		}
		records = append(records, some...)
	}
	return records, nil
}

// batch is the statements of some writes.
type batch struct {
	as         identity.Actor
	rehearses  bool
	groups     []group
	statements []statement
	places     []int // of each group among the statements
	person     *become
}

func (b *batch) queue() error {
	for _, g := range b.groups {
		b.become(g.writes[0].Entity.source)
		s, err := g.statement()
		if err != nil {
			return err
		}
		b.places = append(b.places, len(b.statements))
		b.statements = append(b.statements, s)
	}
	b.become(nil)
	return nil
}

// become enters a source, if it is not the one already entered, and leaves the one before.
func (b *batch) become(next *Source) {
	if b.person != nil {
		if b.person.source == next {
			return
		}
		b.statements = append(b.statements, statement{sql: "SET CONSTRAINTS ALL IMMEDIATE"}, b.person.leave())
		b.person = nil
	}
	if next != nil {
		person := asPerson(next, next.WriteAs, b.as)
		person.rehearses = b.rehearses
		b.person = &person
		b.statements = append(b.statements, person.enter())
	}
}

// explain names the entity whose write failed.
func (b *batch) explain(err error) error {
	var f *failure
	if errors.As(err, &f) {
		for i, place := range b.places {
			if place == f.statement {
				return fmt.Errorf("write %s: %w", b.groups[i].writes[0].Entity.Name, err)
			}
		}
	}
	return fmt.Errorf("write records: %w", err)
}

// written reads what a write gave back.
func written(index int, e *Entity, rows []row) (*Record, error) {
	one, err := single(e, rows)
	if errors.Is(err, ErrGone) {
		return nil, &NoRow{Indexes: []int{index}}
	}
	if err != nil {
		return nil, err
	}
	record, _, err := selection{entity: e}.read(one)
	return record, err
}

// statement makes the write of place index.
func (w Write) statement(index int) (statement, error) {
	given, err := w.given()
	if err != nil {
		return statement{}, err
	}
	q := &query{}
	switch w.Operation {
	case Create:
		columns, err := w.keyed(given)
		if err != nil {
			return statement{}, err
		}
		insert(q, w.Entity, columns)
	case Update, BulkUpdate:
		if len(given) == 0 {
			return statement{}, fmt.Errorf("an update of %s changes nothing", w.Entity.Name)
		}
		w.update(q, given)
	case Delete:
		q.add("DELETE FROM ", w.Entity.table, " AS t")
	default:
		return statement{}, fmt.Errorf("%s of %s writes nothing", w.Operation, w.Entity.Name)
	}
	if w.Operation != Create {
		if err := w.condition(q, index); err != nil {
			return statement{}, err
		}
	}
	q.add(" RETURNING ")
	selection{entity: w.Entity}.add(q)
	return q.statement(), nil
}

// given are the values in the registry's order.
func (w Write) given() ([]given, error) {
	for name := range w.Values {
		if err := w.Entity.mayWrite(w.Operation, name, w.Planned); err != nil {
			return nil, err
		}
	}
	var list []given
	for _, f := range w.Entity.Fields {
		if v, ok := w.Values[f.Name]; ok {
			text, err := f.column.parameter(v)
			if err != nil {
				return nil, invalid(f.Name, "%q %s.", f.Name, err)
			}
			list = append(list, given{field: f, text: text})
		}
	}
	return list, nil
}

// filled is a column of a new row and its text; nil for NULL.
type filled struct {
	column *column
	text   *string
}

// keyed are the columns of a new row: those that are given, and those of its key where it is to have one.
func (w Write) keyed(given []given) ([]filled, error) {
	list := make([]filled, len(given))
	for i, g := range given {
		list[i] = filled{g.field.column, g.text}
	}
	if w.Key == "" {
		return list, nil
	}
	parts, ok := w.Entity.readKey(w.Key)
	if !ok {
		return nil, fmt.Errorf("a create of %s with a key that is none", w.Entity.Name)
	}
	for i, c := range w.Entity.key {
		if !slices.ContainsFunc(list, func(f filled) bool { return f.column == c }) {
			list = append(list, filled{c, &parts[i]})
		}
	}
	return list, nil
}

func insert(q *query, e *Entity, columns []filled) {
	q.add("INSERT INTO ", e.table, " AS t")
	if len(columns) == 0 {
		q.add(" DEFAULT VALUES")
		return
	}
	names, values := "", ""
	for i, f := range columns {
		if i > 0 {
			names, values = names+", ", values+", "
		}
		names += quote(f.column.name)
		values += f.column.cast(q.param(f.text))
	}
	q.add(" (", names, ") VALUES (", values, ")")
}

func (w Write) update(q *query, given []given) {
	q.add("UPDATE ", w.Entity.table, " AS t SET ")
	for i, g := range given {
		if i > 0 {
			q.add(", ")
		}
		q.add(quote(g.field.column.name), " = ", g.field.column.cast(q.param(g.text)))
	}
}

// condition keeps the write to the record as it was when its version was taken.
func (w Write) condition(q *query, index int) error {
	if err := w.versioned(); err != nil {
		return err
	}
	parts, ok := w.Entity.readKey(w.Key)
	if !ok {
		return &NoRow{Indexes: []int{index}}
	}
	w.Entity.where(q, parts)
	q.add(" AND ", selection{salt: w.Salt}.version(q), " = ", q.arg(w.Version))
	return nil
}

func (w Write) versioned() error {
	if len(w.Version) != hex.EncodedLen(32) || len(w.Salt) == 0 {
		return fmt.Errorf("%s of %s without a version", w.Operation, w.Entity.Name)
	}
	return nil
}
