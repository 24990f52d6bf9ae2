package record_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/record"
)

func TestDraftShowsWhatWouldBeKept(t *testing.T) {
	w := harbor(t)
	d := w.mustDraft(t, "core.role", record.Update, "4", `{"name":"reviewer"}`)
	if d.Record.Key != "4" || printed(d.Record.Values["name"]) != `"editor"` || printed(d.To["name"]) != `"reviewer"` || !slices.Equal(d.Changed, []string{"name"}) {
		t.Errorf("%+v", d)
	}
	if len(d.Record.Version) != 64 {
		t.Errorf("version %q", d.Record.Version)
	}
	if _, err := w.draft(t, "core.role", record.Update, "11", `{"name":"reviewer"}`); !errors.Is(err, record.ErrGone) {
		t.Errorf("another workspace's role: %v", err)
	}
}

func TestChangedNamesFieldsWhoseValueIsAnother(t *testing.T) {
	w := harbor(t)
	for values, want := range map[string][]string{
		`{"quantity":480}`:                              nil,
		`{"quantity":"480.000"}`:                        nil,
		`{"quantity":"4.8e2","priority":3}`:             nil,
		`{"quantity":"480.001"}`:                        {"quantity"},
		`{"notes":null}`:                                {"notes"},
		`{"notes":""}`:                                  {"notes"},
		`{"planned_start":"2026-05-31"}`:                nil,
		`{"due_date":"2026-06-07","priority":2}`:        {"priority", "due_date"},
		`{"planned_start":"2026-06-02","quantity":480}`: {"planned_start"},
	} {
		d := w.mustDraft(t, "mrp.production_order", record.Update, "3", values)
		if !slices.Equal(d.Changed, want) {
			t.Errorf("%s changes %v", values, d.Changed)
		}
		if len(d.To) != len(object(t, values)) {
			t.Errorf("%s: to %v", values, d.To)
		}
	}
}

func TestDraftOfACreate(t *testing.T) {
	w := harbor(t)
	d := w.mustDraft(t, "core.role", record.Create, "", `{"name":"brewer","description":null}`)
	if d.Record != nil || printed(d.To["name"]) != `"brewer"` || printed(d.To["description"]) != "NULL" || !slices.Equal(d.Changed, []string{"name", "description"}) {
		t.Errorf("%+v", d)
	}
	if _, err := w.draft(t, "core.role", record.Create, "", `{"description":"x"}`); refusal(t, err).Message != `"name" has to be given to create core.role.` {
		t.Error(err)
	}
}

func TestDraftRefusesFields(t *testing.T) {
	w := harbor(t)
	for _, test := range []struct {
		operation         record.Operation
		values            string
		code, field, says string
	}{
		{record.Update, `{"colour":1}`, record.InvalidInput, "colour", `mrp.production_order has no field "colour".`},
		{record.Update, `{"unit_cost":1}`, record.InvalidInput, "unit_cost", `mrp.production_order has no field "unit_cost".`},
		{record.Update, `{"site":"other-site"}`, record.InvalidInput, "site", `mrp.production_order has no field "site".`},
		{record.Update, `{"quantyty":1}`, record.InvalidInput, "quantyty", `mrp.production_order has no field "quantyty"; did you mean "quantity"?`},
		{record.Update, `{"order_number":"PO-1"}`, record.FieldNotWritable, "order_number", `"order_number" of mrp.production_order can be read but not changed.`},
		{record.Update, `{"priority":12.5}`, record.InvalidInput, "priority", `"priority" takes a whole number from -2147483648 to 2147483647.`},
		{record.Update, `{"priority":null}`, record.InvalidInput, "priority", `"priority" has to have a value; it cannot be null.`},
		{record.Delete, `{"priority":1}`, record.InvalidInput, "priority", `A delete changes no fields.`},
	} {
		_, err := w.draft(t, "mrp.production_order", test.operation, "3", test.values)
		if got := refusal(t, err); got.Code != test.code || got.Field != test.field || got.Message != test.says {
			t.Errorf("%s: %s %s: %s", test.values, got.Code, got.Field, got.Message)
		}
	}
}

func TestLabelsOfProposedReferences(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.shelves (id bigint PRIMARY KEY, name text, hidden boolean NOT NULL DEFAULT false);
		ALTER TABLE shop.shelves ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON shop.shelves USING (NOT hidden);
		CREATE TABLE shop.boxes (id int PRIMARY KEY, shelf_id bigint REFERENCES shop.shelves);
		INSERT INTO shop.shelves VALUES (1, 'upper', false), (2, 'lower', false), (3, 'secret', true), (4, '', false);
		INSERT INTO shop.boxes VALUES (1, 1);`, `
  shop.shelf: {table: shop.shelves, label: name, operations: [get], fields: {name: }}
  shop.box: {table: shop.boxes, operations: [get, update], fields: {shelf_id: {references: shop.shelf, writable: true}}}
`)
	for value, want := range map[string]string{`"2"`: "lower", `3`: "", `"4"`: "4", `77`: "", `null`: ""} {
		d := w.mustDraft(t, "shop.box", record.Update, "1", `{"shelf_id":`+value+`}`)
		if d.Labels["shelf_id"] != want || d.FromLabels["shelf_id"] != "upper" {
			t.Errorf("shelf %s is called %q, the one before %q", value, d.Labels["shelf_id"], d.FromLabels["shelf_id"])
		}
	}
}

func TestLabelIsNotToldToARoleThatMayNotReadTheRecord(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.shelves (id bigint PRIMARY KEY, name text); CREATE TABLE shop.boxes (id int PRIMARY KEY, shelf_id bigint);
		INSERT INTO shop.shelves VALUES (1, 'upper'); INSERT INTO shop.boxes VALUES (1, 1);`, `
  shop.shelf: {table: shop.shelves, label: name, operations: {get: {roles: [OPERATOR]}}, fields: {name: }}
  shop.box: {table: shop.boxes, operations: [get], fields: {shelf_id: {references: shop.shelf}}}
`)
	if label := w.mustGet(t, "shop.box", "1").Labels["shelf_id"]; label != "" {
		t.Errorf("maria is told %q", label)
	}
	rosa, err := w.get(t, w.Person(t, "rosa@harbor.example"), "shop.box", "1")
	if err != nil || rosa.Labels["shelf_id"] != "upper" {
		t.Errorf("rosa is told %q, %v", rosa.Labels["shelf_id"], err)
	}
}

func TestCastThatTheDatabaseRefusesNamesTheField(t *testing.T) {
	w := workshop(t, `CREATE DOMAIN shop.email AS text CONSTRAINT looks_like_email CHECK (VALUE ~ '@');
		CREATE TABLE shop.people (id int PRIMARY KEY, email shop.email, data jsonb, name text);
		INSERT INTO shop.people VALUES (1);`, `
  shop.person: {table: shop.people, operations: [get, update], fields: {email: {writable: true}, data: {writable: true}, name: {writable: true}}}
`)
	_, err := w.draft(t, "shop.person", record.Update, "1", `{"email":"secret-value","name":"x"}`)
	if got := refusal(t, err); got.Field != "email" || got.Message != `"email" takes only what the check "looks_like_email" of its type allows.` {
		t.Errorf("%+v", got)
	}
	_, err = w.draft(t, "shop.person", record.Update, "1", `{"data":1e999999}`)
	if got := refusal(t, err); got.Field != "data" {
		t.Errorf("%+v", got)
	}
	_, err = w.draft(t, "shop.person", record.Update, "1", `{"data":1e999999,"name":"x"}`)
	if got := refusal(t, err); got.Field != "" || got.Code != record.InvalidInput {
		t.Errorf("%+v", got)
	}
}
