package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

const bindable = `
	CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO harbor_read, harbor_write;
	CREATE TABLE shop.items (id bigint PRIMARY KEY, sku text NOT NULL UNIQUE, name varchar(20) NOT NULL, loose text UNIQUE, late text NOT NULL UNIQUE DEFERRABLE,
		part text NOT NULL, loud text GENERATED ALWAYS AS (upper(name)) STORED, serial int GENERATED ALWAYS AS IDENTITY, price float8 NOT NULL, blob bytea, state text, UNIQUE (sku, part));
	CREATE UNIQUE INDEX ON shop.items (part) WHERE part <> '';
	CREATE TABLE shop.heap (id int, name text);
	CREATE TABLE shop.pairs (a int, b uuid, item bigint, name text, PRIMARY KEY (a, b));
	CREATE VIEW shop.cheap AS SELECT * FROM shop.items;
	CREATE MATERIALIZED VIEW shop.old AS SELECT * FROM shop.items;
	CREATE TABLE shop.guarded (id int PRIMARY KEY, name text); ALTER TABLE shop.guarded ENABLE ROW LEVEL SECURITY;
	CREATE TABLE shop.secret (id bigint PRIMARY KEY, name text);`

const bound = `sources:
  shop: {read_as: harbor_read, write_as: harbor_write}
entities:
  shop.item:
    table: shop.items
    operations: [list, get, create, update]
    fields:
      name: {writable: true}
`

func TestLoadRefusesWhatTheDatabaseDoesNotHave(t *testing.T) {
	db := pgtest.New(t)
	mustExec(t, db, bindable)
	for _, test := range []struct{ old, new, says string }{
		{"harbor_read", "harbour_read", `2: source "shop": the database has no role "harbour_read"; did you mean "harbor_read"?`},
		{"shop.items", "shop.item", `5: shop.item: the database has no table or view shop.item; did you mean "shop.items"?`},
		{"shop.items", "items", `5: shop.item: table is written with its schema, e.g. core.roles, not "items"; did you mean "shop.items"?`},
		{"shop.items", "pg_catalog.pg_class", `5: shop.item: the database has no table or view pg_catalog.pg_class`},
		{"shop.items", "countersign.proposals", `5: shop.item: countersign.proposals is countersign's own, and no record of yours`},
		{"shop.items", "shop.heap", `5: shop.item: shop.heap is a table without a primary key; say which columns are its key, e.g. key: id`},
		{"shop.items", "shop.cheap", `5: shop.item: shop.cheap is a view; say which columns are its key, e.g. key: id`},
		{"shop.items", "shop.old\n    key: id", `4: shop.item offers a write, but shop.old is a materialized view or a foreign table, where a change cannot be part of the decision`},
		{"shop.items", "shop.items\n    key: idd", `6: shop.item: key: shop.items has no column "idd"; did you mean "id"?`},
		{"shop.items", "shop.items\n    key: name", `6: shop.item: key: shop.items has no unique index on exactly (name); its primary key is (id)`},
		{"shop.items", "shop.items\n    key: part", `6: shop.item: key: shop.items has no unique index on exactly (part); its primary key is (id)`},
		{"shop.items", "shop.items\n    key: late", `6: shop.item: key: shop.items has no unique index on exactly (late); its primary key is (id)`},
		{"shop.items", "shop.items\n    key: loose", `6: shop.item: key: column "loose" may be NULL, so it cannot be a key`},
		{"shop.items", "shop.items\n    key: price", `6: shop.item: key: column "price" of type double precision cannot be a key`},
		{"shop.items", "shop.items\n    key: [id, id]", `6: shop.item: key: "id" is said twice`},
		{"shop.items", "shop.items\n    label: namme", `6: shop.item: label: shop.item exposes no field "namme"; did you mean "name"?`},
		{"shop.items", "shop.items\n    label: '{name} {sku}'", `6: shop.item: label: shop.item exposes no field "sku"`},
		{"shop.items", "shop.items\n    label: '{name'", `6: shop.item: label: a template has names in braces, e.g. {key}`},
		{"shop.items", "shop.items\n    url: 'https://x/{sku}'", `6: shop.item: url: there is no {sku}; a link is made of {key} or of the key's columns`},
		{"shop.items", "shop.items\n    url: 'javascript:{key}'", `6: shop.item: url begins with https://, http:// or /`},
		{"shop.items", "shop.items\n    url: '//evil.example/{key}'", `6: shop.item: url begins with https://, http:// or /`},
		{"shop.items", "shop.items\n    locked: {stat: [x]}", `6: shop.item: locked: shop.items has no column "stat"; did you mean "state"?`},
		{"shop.items", "shop.items\n    locked: {id: [x]}", `6: shop.item: locked: id takes a whole number from -9223372036854775808 to 9223372036854775807`},
		{"shop.items", "shop.guarded\n    confirm: WORKSPACE", `6: shop.item: confirm: WORKSPACE, but shop.guarded has row-level security; say rows: workspace if its policies look at nothing but the workspace, so that everybody in it sees the same rows`},
		{"      name: {writable: true}", "      namme: {writable: true}", `8: shop.item: field "namme": shop.items has no column "namme"; did you mean "name"?`},
		{"      name: {writable: true}", "      namme: {hidden: true}", `8: shop.item: field "namme": shop.items has no column "namme"; did you mean "name"?`},
		{"      name: {writable: true}", "      name:", `6: shop.item offers create, but no field is writable`},
		{"      name: {writable: true}", "      loud: {writable: true}", `8: shop.item: field "loud" cannot be writable: the database generates it`},
		{"      name: {writable: true}", "      serial: {writable: true}", `8: shop.item: field "serial" cannot be writable: the database always numbers it`},
		{"      name: {writable: true}", "      blob: {writable: true}", `8: shop.item: field "blob" cannot be writable: values of type bytea are only read`},
		{"      name: {writable: true}", "      name: {writable: true}\n      again: {column: name}", `9: shop.item: field "again" is the column of field "name" too`},
		{"      name: {writable: true}", "      name: {writable: true}\n      no: {column: name, hidden: true}", `8: shop.item: field "name" exposes column "name", which line 9 hides`},
		{"      name: {writable: true}", "      name: {writable: true}\n      id: {masked: true}", `9: shop.item: field "id" is masked, but the key is shown; a masked column cannot be part of it`},
		{"      name: {writable: true}", "      name: {writable: true, references: shop.item}", `8: shop.item: field "name" of type character varying(20) cannot reference shop.item, whose key is (id)`},
		{"      name: {writable: true}", "      name: {writable: true, references: shop.pair}\n  shop.pair: {table: shop.pairs, operations: [get], fields: {name: }}", `8: shop.item: field "name" of type character varying(20) cannot reference shop.pair, whose key is (a, b)`},
	} {
		content := strings.Replace(bound, test.old, test.new, 1)
		path := file(t, content)
		_, err := record.Load(t.Context(), db.Pools.Reader, path)
		if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), path+":"+test.says) {
			t.Errorf("%s:\n got %v\nwant %s", test.new, err, test.says)
		}
	}
}

func TestLoadTakesViewsUniqueKeysAndSearchPaths(t *testing.T) {
	db := pgtest.New(t)
	mustExec(t, db, bindable)
	registry, err := record.Load(t.Context(), db.Pools.Reader, file(t, `sources:
  shop: {read_as: harbor_read, search_path: [shop, Odd Name]}
entities:
  shop.cheap: {table: shop.cheap, key: [sku, part], operations: [list, get], fields: {name: }}
  shop.item: {table: shop.items, key: sku, operations: get, fields: {name: , id: {references: shop.secret}, loud: }}
  shop.old: {table: shop.old, key: id, operations: {list: {roles: [OPERATOR, AUDITOR]}}, fields: {name: }, cites: false}
  shop.secret: {table: shop.secret, key: id, label: name, operations: [get], fields: {name: }}
`))
	if err != nil {
		t.Fatal(err)
	}
	old, _ := registry.Entity("shop.old")
	if old.Offers(record.Get, "operator") || !old.Offers(record.List, "operator") || !old.Offers(record.List, "auditor") || old.Offers(record.List, "member") || old.Cites {
		t.Errorf("%+v", old)
	}
	if got := registry.Tables(); !slices.Equal(got, []string{`"shop"."cheap"`, `"shop"."items"`, `"shop"."old"`, `"shop"."secret"`}) {
		t.Error(got)
	}
	if a := registry.Assistant(); a.Enabled {
		t.Error("an assistant that nobody set up is enabled")
	}
	// harbor_read has no right to shop.secret: its label is not asked for, and the read works.
	mustExec(t, db, `GRANT SELECT ON shop.items, shop.cheap TO harbor_read; INSERT INTO shop.items VALUES (1, 'a"b', 'tap', NULL, 'x', 'p', DEFAULT, DEFAULT, 1), (2, 'c', 'b', NULL, 'y', 'q', DEFAULT, DEFAULT, 1)`)
	w := &world{DB: db, registry: registry, maria: db.Person(t, "maria@harbor.example")}
	if got := w.mustGet(t, "shop.item", `a"b`); got.Key != `a"b` || got.Label != `a"b` || printed(got.Values["loud"]) != `"TAP"` || len(got.Labels) != 0 {
		t.Errorf("%+v", got)
	}
	if page, err := w.list(t, "shop.cheap", "", 1, ""); err != nil || page.Records[0].Key != `["a\"b","p"]` || page.Next == "" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestDemoRegistry(t *testing.T) {
	w := harbor(t)
	var names []string
	for _, e := range w.registry.Entities() {
		names = append(names, e.Name)
	}
	if want := []string{"core.role", "core.user", "mrp.production_order", "mrp.work_center", "crp.operation", "crp.calendar_day"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	role, order := w.entity(t, "core.role"), w.entity(t, "mrp.production_order")
	if role.Approval(record.Delete).Needed != 1 || role.Approval(record.Update).Needed != 0 || role.Confirm != record.ConfirmOwner || order.Confirm != record.ConfirmWorkspace {
		t.Errorf("role %+v\norder %+v", role, order)
	}
	for _, test := range []struct {
		role      string
		operation record.Operation
		offered   bool
	}{{"member", record.Update, true}, {"AUDITOR", record.Update, false}, {"auditor", record.List, true}, {"operator", record.Delete, true}, {"nobody", record.List, false}, {"member", record.BulkUpdate, false}} {
		if role.Offers(test.operation, test.role) != test.offered {
			t.Errorf("%s to %s: %t", test.operation, test.role, !test.offered)
		}
	}
	var writable []string
	for _, f := range order.Fields {
		if f.Writable {
			writable = append(writable, f.Name)
		}
	}
	if want := []string{"quantity", "priority", "planned_start", "planned_finish", "due_date", "notes"}; !slices.Equal(writable, want) {
		t.Errorf("%v", writable)
	}
	if _, exposed := order.Field("unit_cost"); exposed {
		t.Error("unit_cost is exposed")
	}
	name, _ := role.Field("name")
	if !name.Required || name.MaxLength != 60 || name.Nullable || order.Plural != "Production orders" {
		t.Errorf("%+v, %s", name, order.Plural)
	}
	if _, err := record.Load(t.Context(), w.Owner, "../../countersign.yaml"); err != nil {
		t.Error(err)
	}
}
