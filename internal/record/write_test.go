package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

func TestWriteChangesTheRecordAndGivesItBack(t *testing.T) {
	w := harbor(t)
	got, err := w.write(t, "core.role", record.Update, "4", `{"name":"reviewer"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.Key != "4" || got.Label != "reviewer" || printed(got.Values["name"]) != `"reviewer"` {
		t.Errorf("%+v", got)
	}
	if again := w.mustGet(t, "core.role", "4"); again.Label != "reviewer" || printed(again.Values["updated_at"]) != printed(got.Values["updated_at"]) {
		t.Errorf("read %v after %v", again.Values, got.Values)
	}
}

func TestWriteCreatesAndDeletes(t *testing.T) {
	w := harbor(t)
	made, err := w.write(t, "core.role", record.Create, "", `{"name":"brewer","description":"Brews"}`)
	if err != nil {
		t.Fatal(err)
	}
	if made.Key != "12" || printed(made.Values["id"]) != `"12"` || printed(made.Values["description"]) != `"Brews"` {
		t.Errorf("%+v", made)
	}
	gone, err := w.write(t, "core.role", record.Delete, made.Key, "")
	if err != nil || printed(gone.Values["name"]) != `"brewer"` {
		t.Errorf("deleted %+v, %v", gone, err)
	}
	if _, err := w.get(t, w.maria, "core.role", made.Key); !errors.Is(err, record.ErrGone) {
		t.Errorf("after the delete: %v", err)
	}
}

func TestWriteMissesARecordThatChanged(t *testing.T) {
	w := harbor(t)
	for _, change := range []string{
		`UPDATE mrp.production_orders SET notes = 'x' WHERE id = 1`,
		`UPDATE mrp.production_orders SET unit_cost = 29 WHERE id = 1`, // hidden
		`UPDATE mrp.production_orders SET site = 'other-site' WHERE id = 1`,
		`ALTER TABLE mrp.production_orders ADD COLUMN colour text`,
		`DELETE FROM mrp.production_orders WHERE id = 1`,
	} {
		write := w.prepare(t, "mrp.production_order", record.Update, "1", `{"planned_start":"2026-06-03"}`)
		mustExec(t, w.DB, change)
		_, err := w.apply(t, write)
		var missed *record.NoRow
		if !errors.As(err, &missed) || missed.Indexes[0] != 0 {
			t.Errorf("after %s: %v", change, err)
		}
		mustExec(t, w.DB, `UPDATE mrp.production_orders SET site = 'harbor-mill' WHERE id = 1`)
	}
}

// The change commits while the write waits for the row: the condition is looked at again.
func TestWriteMissesARecordThatChangesWhileItWaits(t *testing.T) {
	w := harbor(t)
	write := w.prepare(t, "mrp.production_order", record.Update, "3", `{"planned_start":"2026-06-02"}`)
	done := make(chan error, 1)
	err := pgx.BeginFunc(t.Context(), w.Owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE mrp.production_orders SET notes = 'edited' WHERE id = 3`)
		go func() { _, err := w.apply(t, write); done <- err }()
		pgtest.WaitBlocked(t, w.DB, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var missed *record.NoRow
	if err := <-done; !errors.As(err, &missed) {
		t.Errorf("the waiting write: %v", err)
	}
	if got := w.mustGet(t, "mrp.production_order", "3"); printed(got.Values["notes"]) != `"edited"` || printed(got.Values["planned_start"]) != `"2026-05-31"` {
		t.Errorf("%v", got.Values)
	}
}

func TestSeveralWritesAreAllOrNone(t *testing.T) {
	w := harbor(t)
	first := w.prepare(t, "mrp.production_order", record.Update, "1", `{"priority":2}`)
	second := w.prepare(t, "mrp.production_order", record.Update, "2", `{"priority":2}`)
	mustExec(t, w.DB, `UPDATE mrp.production_orders SET notes = 'x' WHERE id = 2`)
	_, err := w.apply(t, first, second)
	var missed *record.NoRow
	if !errors.As(err, &missed) || missed.Indexes[0] != 1 {
		t.Fatalf("%v", err)
	}
	if got := w.mustGet(t, "mrp.production_order", "1"); printed(got.Values["priority"]) != "3" {
		t.Errorf("the first is written: %v", got.Values["priority"])
	}
	second = w.prepare(t, "mrp.production_order", record.Update, "2", `{"priority":2}`)
	if _, err := w.apply(t, first, second); err != nil {
		t.Fatal(err)
	}
}

func TestWriteLeavesTheErrorToItsCaller(t *testing.T) {
	w := harbor(t)
	for _, test := range []struct{ entity, key, values, code string }{
		{"mrp.production_order", "3", `{"quantity":0}`, "23514"},
		{"core.role", "4", `{"name":"viewer"}`, "23505"},
		{"mrp.production_order", "3", `{"planned_finish":"2026-05-01"}`, "23514"},
	} {
		_, err := w.write(t, test.entity, record.Update, test.key, test.values)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != test.code {
			t.Errorf("%s %s: %v", test.entity, test.values, err)
		}
	}
	mustExec(t, w.DB, `REVOKE UPDATE ON core.roles FROM harbor_write`)
	_, err := w.write(t, "core.role", record.Update, "4", `{"name":"reviewer"}`)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("without the right: %v", err)
	}
}

func TestFailedWriteIsUndoneByASavepoint(t *testing.T) {
	w := harbor(t)
	write := w.prepare(t, "mrp.production_order", record.Update, "3", `{"quantity":0}`)
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		savepoint, err := tx.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.registry.Write(ctx, savepoint, w.maria, []record.Write{write}); err == nil {
			t.Fatal("a quantity of 0 is written")
		}
		if err := savepoint.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		var user, path, site string
		err = tx.QueryRow(ctx, `SELECT current_user, current_setting('search_path'), coalesce(current_setting('app.site', true), '')`).Scan(&user, &path, &site)
		if err != nil || user != "countersign_gate" || path != "countersign, pg_catalog, pg_temp" || site != "" {
			t.Errorf("as %s in %s, site %q: %v", user, path, site, err)
		}
	})
}

func TestDeferredConstraintsAreCheckedByTheWrite(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.parts (id int PRIMARY KEY, name text, of int REFERENCES shop.parts DEFERRABLE INITIALLY DEFERRED); INSERT INTO shop.parts VALUES (1, 'a');`, `
  shop.part: {table: shop.parts, operations: [get, update], fields: {of: {writable: true}}}
`)
	write := w.prepare(t, "shop.part", record.Update, "1", `{"of":77}`)
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		_, err := w.registry.Write(ctx, tx, w.maria, []record.Write{write})
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "23503" {
			t.Errorf("%v", err)
		}
	})
}

func TestNobodyWritesNothing(t *testing.T) {
	w := harbor(t)
	write := w.prepare(t, "core.role", record.Update, "4", `{"name":"reviewer"}`)
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		if _, err := w.registry.Write(ctx, tx, identity.Person{}, []record.Write{write}); err == nil || !strings.Contains(err.Error(), "nobody is signed in") {
			t.Errorf("the zero person gets as far as the database: %v", err)
		}
		for name, broken := range map[string]record.Write{
			"no version": {Entity: write.Entity, Operation: record.Update, Key: "4", Salt: salt, Values: write.Values},
			"no salt":    {Entity: write.Entity, Operation: record.Update, Key: "4", Version: write.Version, Values: write.Values},
			"a read":     {Entity: write.Entity, Operation: record.Get, Key: "4", Version: write.Version, Salt: salt, Values: write.Values},
			"no values":  {Entity: write.Entity, Operation: record.Update, Key: "4", Version: write.Version, Salt: salt},
			"not there":  {Entity: write.Entity, Operation: record.Update, Key: "4", Version: write.Version, Salt: salt, Values: map[string]record.Value{"site": {Null: true}}},
			"read-only":  {Entity: write.Entity, Operation: record.Update, Key: "4", Version: write.Version, Salt: salt, Values: map[string]record.Value{"id": {JSON: []byte(`"5"`)}}},
		} {
			if _, err := w.registry.Write(ctx, tx, w.maria, []record.Write{broken}); err == nil {
				t.Errorf("%s: written", name)
			}
		}
	})
}

func TestTriggersSeeThePersonAndTheHostsSearchPath(t *testing.T) {
	w := workshop(t, `CREATE TABLE public.journal (who text, role text);
		GRANT INSERT, SELECT ON public.journal TO harbor_write; GRANT USAGE ON SCHEMA public TO harbor_write;
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, shout text GENERATED ALWAYS AS (upper(name)) STORED, edits int NOT NULL DEFAULT 0);
		CREATE FUNCTION shop.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO journal VALUES (current_setting('app.who'), current_user); NEW.edits := OLD.edits + 1; RETURN NEW; END $$;
		CREATE TRIGGER note BEFORE UPDATE ON shop.items FOR EACH ROW EXECUTE FUNCTION shop.note();
		INSERT INTO shop.items VALUES (1, 'tap');`, `
  shop.item: {table: shop.items, operations: [get, update], fields: {name: {writable: true}, shout: , edits: }}
`)
	got, err := w.write(t, "shop.item", record.Update, "1", `{"name":"valve"}`)
	if err != nil {
		t.Fatal(err)
	}
	if printed(got.Values["shout"]) != `"VALVE"` || printed(got.Values["edits"]) != "1" {
		t.Errorf("%v", got.Values)
	}
	var who, role string
	if err := w.Owner.QueryRow(t.Context(), `SELECT who, role FROM public.journal`).Scan(&who, &role); err != nil {
		t.Fatal(err)
	}
	want := "maria@harbor.example MEMBER " + w.maria.User().ID.UUID().String() + " " + w.maria.Workspace().ID.UUID().String()
	if who != want || role != "harbor_write" {
		t.Errorf("%s as %s", who, role)
	}
}

func TestTriggerThatSuppressesTheWriteIsNoRow(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.items (id int PRIMARY KEY, name text); INSERT INTO shop.items VALUES (1, 'tap');
		CREATE FUNCTION shop.no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER no BEFORE UPDATE ON shop.items FOR EACH ROW EXECUTE FUNCTION shop.no();`, `
  shop.item: {table: shop.items, operations: [get, update], fields: {name: {writable: true}}}
`)
	_, err := w.write(t, "shop.item", record.Update, "1", `{"name":"valve"}`)
	var missed *record.NoRow
	if !errors.As(err, &missed) {
		t.Errorf("%v", err)
	}
}

func TestWriteOfACompositeKeyAndReservedNames(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop."Order ""Lines"" " ("Order" text, "select" int, "t" text, "Weird ""Col; --" numeric(10,3), PRIMARY KEY ("select", "Order"));
		INSERT INTO shop."Order ""Lines"" " VALUES ('a''b"c', 1, 'x', 100), ('z', 1, 'x', 1);`, `
  shop.line:
    table: 'shop."Order ""Lines"" "'
    key: [Order, select]
    label: "{order} / {line}"
    url: "https://erp.example/{Order}/{select}?key={key}"
    operations: [list, get, update, create, delete]
    fields:
      order: {column: Order, writable: true}
      line: {column: select, writable: true}
      t: {writable: true}
      amount: {column: 'Weird "Col; --', writable: true}
`)
	const key = `["a'b\"c","1"]`
	got, err := w.write(t, "shop.line", record.Update, key, `{"amount":"100.0004","t":"y"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.Key != key || got.Label != `a'b"c / 1` || printed(got.Values["amount"]) != `"100.000"` || printed(got.Values["t"]) != `"y"` {
		t.Errorf("%+v", got)
	}
	if url := w.entity(t, "shop.line").URL(key); url != "https://erp.example/a%27b%22c/1?key=%5B%22a%27b%5C%22c%22%2C%221%22%5D" {
		t.Error(url)
	}
	_, err = w.draft(t, "shop.line", record.Update, key, `{"line":2}`)
	if refused := refusal(t, err); refused.Code != record.FieldNotWritable || refused.Message != `"line" is the key of shop.line, and a record keeps its key.` {
		t.Errorf("%+v", refused)
	}
	made, err := w.write(t, "shop.line", record.Create, "", `{"line":7,"order":"new","amount":null}`)
	if err != nil || made.Key != `["new","7"]` {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := w.write(t, "shop.line", record.Delete, `["new","7"]`, ""); err != nil {
		t.Error(err)
	}
	for _, none := range []string{`["a"]`, `["a","1","2"]`, `[1,"a"]`, `["a",null]`, `a`, `["a","1"] `, `["a","x"]`, `{}`} {
		if _, err := w.get(t, w.maria, "shop.line", none); !errors.Is(err, record.ErrGone) {
			t.Errorf("key %s: %v", none, err)
		}
	}
}

func TestVersionCoversTheWholeRecordAndNothingElse(t *testing.T) {
	w := harbor(t)
	version := func(settings string) (version string) {
		w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
			if _, err := tx.Exec(ctx, settings); err != nil {
				t.Fatal(err)
			}
			d, err := w.registry.Draft(ctx, tx, w.maria, record.Change{Entity: w.entity(t, "mrp.production_order"), Operation: record.Delete, Key: "3"}, salt)
			if err != nil {
				t.Fatal(err)
			}
			version = d.Record.Version
		})
		return version
	}
	seen := []string{version("")}
	if got := version(`SET LOCAL "TimeZone" = 'Pacific/Chatham'; SET LOCAL "DateStyle" = 'German, DMY'; SET LOCAL extra_float_digits = -10; SET LOCAL bytea_output = 'escape'; SET LOCAL "IntervalStyle" = 'iso_8601'`); got != seen[0] {
		t.Errorf("with other settings of the session the version is %s, not %s", got, seen[0])
	}
	mustExec(t, w.DB, `ALTER TABLE mrp.production_orders DISABLE TRIGGER USER`)
	for _, change := range []string{"unit_cost = 1", "notes = NULL", "notes = ''", "quantity = 480.0", "updated_at = '2026-01-01'"} {
		mustExec(t, w.DB, `UPDATE mrp.production_orders SET `+change+` WHERE id = 3`)
		now := version("")
		if slices.Contains(seen, now) {
			t.Errorf("after %s the version is one that was", change)
		}
		seen = append(seen, now)
	}
}
