package record_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/record"
)

const kept = `
  shop.thing:
    table: shop.things
    label: name
    operations: [list, get, create, update, delete]
    fields:
      name: { writable: true }
      price: { writable: true }
      since: { writable: true }
      data: { writable: true }
      tags: { writable: true }
      stock:
      twice:
`

// restore drafts a change with kept values and writes it.
func (w *world) restore(t *testing.T, c record.Change) (*record.Record, error) {
	t.Helper()
	var d *record.Draft
	var err error
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) { d, err = w.registry.Draft(ctx, tx, w.maria, c, salt) })
	if err != nil {
		return nil, err
	}
	write := record.Write{Entity: c.Entity, Operation: c.Operation, Key: c.Key, Salt: salt, Values: d.To, Planned: c.Planned}
	if d.Record != nil {
		write.Version = d.Record.Version
	}
	return w.apply(t, write)
}

// What a record had goes back as it was, though nobody may propose such values; and under its key, which is
// exposed in no field.
func TestKeptValuesGoBackAsTheyWere(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.things (a integer, b text, name text NOT NULL, price numeric, since date, data jsonb, tags text[], stock integer DEFAULT 7, twice integer GENERATED ALWAYS AS (stock * 2) STORED, PRIMARY KEY (b, a));
		INSERT INTO shop.things (a, b, name, price, since, data, tags, stock) VALUES (1, 'x "y"', '', 'NaN', '-infinity', 'null', '{NULL,"",a}', NULL), (2, 'x', 'two', 1.50, '0044-03-15 BC', '"1"', NULL, 3)`, kept)
	e := w.entity(t, "shop.thing")
	for _, key := range []string{`["x \"y\"","1"]`, `["x","2"]`} {
		was := w.mustGet(t, "shop.thing", key)
		values := maps.Clone(was.Values)
		delete(values, "twice") // the database alone sets it
		update := record.Change{Entity: e, Operation: record.Update, Key: key, Values: object(t, `{"name":"other","price":1,"since":"2026-01-01","data":null,"tags":[]}`)}
		if _, err := w.restore(t, update); err != nil {
			t.Fatal(err)
		}
		update.Values, update.Kept, update.Planned = nil, values, true
		if got, err := w.restore(t, update); err != nil || !same(got.Values, was.Values) {
			t.Errorf("%s: updated back to %v, %v; it was %v", key, got, err, was.Values)
		}
		if _, err := w.write(t, "shop.thing", record.Delete, key, ""); err != nil {
			t.Fatal(err)
		}
		got, err := w.restore(t, record.Change{Entity: e, Operation: record.Create, Key: key, Kept: values, Planned: true})
		if err != nil || got.Key != key || !same(got.Values, was.Values) {
			t.Errorf("%s: created again as %v, %v; it was %v", key, got, err, was.Values)
		}
	}
	for field, want := range map[string]bool{"name": true, "stock": true, "twice": false} {
		if f, _ := e.Field(field); f.Restorable() != want {
			t.Errorf("%s: restorable is %t", field, f.Restorable())
		}
	}
	if e.HasMore() || !e.KeepsKeys() {
		t.Errorf("has more %t, keeps keys %t", e.HasMore(), e.KeepsKeys())
	}
	bad := (*record.InputError)(nil)
	if _, err := w.restore(t, record.Change{Entity: e, Operation: record.Update, Key: `["x","2"]`, Kept: map[string]record.Value{"stock": {JSON: []byte("1")}}}); !errors.As(err, &bad) || bad.Code != record.FieldNotWritable {
		t.Errorf("a kept value of a field that is not writable: %v", err)
	}
}

func same(a, b map[string]record.Value) bool {
	return maps.EqualFunc(a, b, func(x, y record.Value) bool { return printed(x) == printed(y) })
}

func TestNumbersOfOneValueAreTheSame(t *testing.T) {
	w := harbor(t)
	quantity, _ := w.entity(t, "mrp.production_order").Field("quantity")
	notes, _ := w.entity(t, "mrp.production_order").Field("notes")
	text := func(s string) record.Value { return record.Value{JSON: []byte(`"` + s + `"`)} }
	for _, c := range []struct {
		a, b string
		same bool
	}{{"1.50", "1.5", true}, {"100", "1e2", true}, {"0.0", "0", true}, {"NaN", "NaN", true}, {"1.5", "1.51", false}, {"NaN", "0", false}} {
		if quantity.Same(text(c.a), text(c.b)) != c.same {
			t.Errorf("%s and %s are the same: %t", c.a, c.b, !c.same)
		}
		if c.a != c.b && notes.Same(text(c.a), text(c.b)) {
			t.Errorf("the texts %s and %s are the same", c.a, c.b)
		}
	}
}
