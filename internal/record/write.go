package record

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// Write is one change of one record.
type Write struct {
	Entity    *Entity
	Operation Operation
	// Key, Version and Salt say which record, and as it was when; a create has none.
	Key     string
	Version string
	Salt    []byte
	Values  map[string]Value
}

// Write changes records as the person, each in a statement that finds the record only while it has the key
// and the version, and checks deferred constraints, all in one round trip. It gives each record as the write
// left it, a deleted one as it was.
//
// *NoRow: a write found no record. *InputError: the registry no longer lets a field be written. Else the
// cause is PostgreSQL's, a *pgconn.PgError. After any error the caller rolls back to its savepoint, which
// undoes the writes before it and the person's settings.
func (r *Registry) Write(ctx context.Context, tx pgx.Tx, as identity.Person, writes []Write) ([]*Record, error) {
	if !as.Live() {
		return nil, errors.New("nobody is signed in, so nothing is written")
	}
	b := &batch{writes: writes, as: as}
	if err := b.queue(); err != nil {
		return nil, err
	}
	results, err := exchange(ctx, tx, b.statements)
	if err != nil {
		return nil, b.explain(err)
	}
	records := make([]*Record, len(writes))
	for i, w := range writes {
		if records[i], err = written(i, w.Entity, results[b.places[i]]); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// batch is the statements of some writes.
type batch struct {
	writes     []Write
	as         identity.Actor
	statements []statement
	places     []int // of each write among the statements
	person     *become
}

func (b *batch) queue() error {
	for i, w := range b.writes {
		b.become(w.Entity.source)
		s, err := w.statement(i)
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
				return fmt.Errorf("write %s: %w", b.writes[i].Entity.Name, err)
			}
		}
	}
	return fmt.Errorf("write records: %w", err)
}

// written reads what a write gave back.
func written(index int, e *Entity, rows []row) (*Record, error) {
	one, err := single(e, rows)
	if errors.Is(err, ErrGone) {
		return nil, &NoRow{Index: index}
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
		w.insert(q, given)
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
		if err := w.Entity.mayWrite(w.Operation, name); err != nil {
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

func (w Write) insert(q *query, given []given) {
	q.add("INSERT INTO ", w.Entity.table, " AS t")
	if len(given) == 0 {
		q.add(" DEFAULT VALUES")
		return
	}
	names, values := "", ""
	for i, g := range given {
		if i > 0 {
			names, values = names+", ", values+", "
		}
		names += quote(g.field.column.name)
		values += g.field.column.cast(q.param(g.text))
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
	if len(w.Version) != hex.EncodedLen(32) || len(w.Salt) == 0 {
		return fmt.Errorf("%s of %s without a version", w.Operation, w.Entity.Name)
	}
	parts, ok := w.Entity.readKey(w.Key)
	if !ok {
		return &NoRow{Index: index}
	}
	w.Entity.where(q, parts)
	q.add(" AND ", selection{salt: w.Salt}.version(q), " = ", q.arg(w.Version))
	return nil
}
