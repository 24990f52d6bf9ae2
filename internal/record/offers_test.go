package record_test

import (
	"os"
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

func TestExposedLeavesOutWhatIsMasked(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.staff (id int PRIMARY KEY, name text, pin text); INSERT INTO shop.staff VALUES (1, NULL, '1234');`, `
  shop.person: {table: shop.staff, label: "{name} {id}", operations: [get], fields: {id: , name: , pin: {masked: true}}}
`)
	e := w.entity(t, "shop.person")
	got := e.Exposed(w.mustGet(t, "shop.person", "1"))
	if len(got) != 2 || string(got["name"]) != "null" || string(got["id"]) != "1" || len(e.Exposed(nil)) != 0 {
		t.Errorf("%v", got)
	}
	if !e.Has(record.Get) || e.Has(record.List) || e.LabelField() != "" || e.Module() != "shop" || e.Source().ReadAs != "harbor_read" {
		t.Errorf("%+v", e)
	}
	if field := harbor(t).entity(t, "core.role").LabelField(); field != "name" {
		t.Errorf("a role is known by %q", field)
	}
}

func TestSourcesAreReadWithoutADatabase(t *testing.T) {
	content, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := record.SourcesIn("countersign.yaml", content)
	if err != nil || len(sources) != 1 || sources[0].Name != "harbor" || sources[0].WriteAs != "harbor_write" {
		t.Errorf("%+v, %v", sources, err)
	}
	if _, err := record.SourcesIn("x", []byte("a: b")); err == nil {
		t.Error("any file has sources")
	}
}

// Each source has its own role and settings, and neither sees what the other set.
func TestOneWriteOverTwoSources(t *testing.T) {
	db := pgtest.New(t)
	const who = `coalesce(nullif(current_setting('shop.who', true), ''), 'nobody') || ' ' || coalesce(nullif(current_setting('depot.who', true), ''), 'nobody') || ' ' || current_user`
	mustExec(t, db, `CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO harbor_read, harbor_write;
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, who text DEFAULT `+who+`); CREATE TABLE shop.crates (id int PRIMARY KEY, name text, who text DEFAULT `+who+`);
		GRANT SELECT, INSERT ON shop.items, shop.crates TO harbor_write;`)
	registry, err := record.Load(t.Context(), db.Pools.Reader, file(t, `sources:
  shop: {read_as: harbor_read, write_as: harbor_write, settings: {shop.who: "{user.email}"}}
  depot: {read_as: harbor_read, write_as: harbor_write, settings: {depot.who: "{role}"}}
entities:
  shop.item: {source: shop, table: shop.items, operations: [create], fields: {id: {writable: true}, who: }}
  shop.crate: {source: depot, table: shop.crates, operations: [create], fields: {id: {writable: true}, who: }}
`))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{DB: db, registry: registry, maria: db.Person(t, "maria@harbor.example")}
	create := func(entity, id string) record.Write {
		return record.Write{Entity: w.entity(t, entity), Operation: record.Create, Values: map[string]record.Value{"id": {JSON: []byte(id)}}}
	}
	if _, err := w.apply(t, create("shop.item", "1"), create("shop.crate", "1"), create("shop.crate", "2"), create("shop.item", "2")); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := db.Owner.QueryRow(t.Context(), `SELECT array_agg(who ORDER BY t, id) FROM (SELECT 1 AS t, * FROM shop.items UNION ALL SELECT 2, * FROM shop.crates) all_of_them`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	item, crate := "maria@harbor.example nobody harbor_write", "nobody MEMBER harbor_write"
	if !slices.Equal(got, []string{item, item, crate, crate}) {
		t.Errorf("%q", got)
	}
	if len(registry.Sources()) != 2 {
		t.Error("two sources")
	}
}

// What an action may write the host has to grant, and nothing of what is only previewed.
func TestNeedsAreOfWhatIsWritten(t *testing.T) {
	db := pgtest.New(t)
	mustExec(t, db, `CREATE SCHEMA shop; CREATE TABLE shop.items (id int PRIMARY KEY, name text); CREATE TABLE shop.crates (id int PRIMARY KEY, name text)`)
	registry, err := record.Load(t.Context(), db.Pools.Reader, file(t, `sources:
  shop: {read_as: harbor_read, write_as: harbor_write}
entities:
  shop.item: {table: shop.items, operations: [get, update, bulk_update, delete], preview_only: true, fields: {name: {writable: true}}}
  shop.crate: {table: shop.crates, operations: [get], fields: {name: }}
actions:
  shop.pack_crate: {writes: {shop.crate: [create, delete]}}
  shop.weigh_crate:
`))
	if err != nil {
		t.Fatal(err)
	}
	var needs []string
	for _, n := range registry.Needs() {
		if n.Role == "harbor_write" && !slices.Contains(needs, n.Table+" "+n.Privilege) {
			needs = append(needs, n.Table+" "+n.Privilege)
		}
	}
	slices.Sort(needs)
	if want := []string{`"shop"."crates" DELETE`, `"shop"."crates" INSERT`, `"shop"."crates" SELECT`}; !slices.Equal(needs, want) {
		t.Errorf("%q", needs)
	}
}
