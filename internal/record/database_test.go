package record_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is a database with Harbor Mill in it, bound to a registry.
type world struct {
	*pgtest.DB
	registry *record.Registry
	maria    identity.Person
}

var salt = []byte("sixteen bytes!!!")

func harbor(t *testing.T) *world {
	t.Helper()
	db := pgtest.New(t)
	registry, err := record.Load(t.Context(), db.Pools.Reader, "../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return &world{DB: db, registry: registry, maria: db.Person(t, "maria@harbor.example")}
}

// workshop is a database with tables of a test's own in the schema shop, and the entities the test describes.
func workshop(t *testing.T, tables, entities string) *world {
	t.Helper()
	db := pgtest.New(t)
	mustExec(t, db, `CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO harbor_read, harbor_write;
		ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO harbor_read;
		ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO harbor_write;`+tables)
	registry, err := record.Load(t.Context(), db.Pools.Reader, file(t, shop+entities))
	if err != nil {
		t.Fatal(err)
	}
	return &world{DB: db, registry: registry, maria: db.Person(t, "maria@harbor.example")}
}

const shop = `sources:
  shop:
    read_as: harbor_read
    write_as: harbor_write
    settings:
      app.site: "{workspace.slug}"
      app.who: "{user.email} {role} {user.id} {workspace.id}"
entities:
`

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustExec(t *testing.T, db *pgtest.DB, sql string) {
	t.Helper()
	if _, err := db.Owner.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

func (w *world) entity(t *testing.T, name string) *record.Entity {
	t.Helper()
	e, ok := w.registry.Entity(name)
	if !ok {
		t.Fatalf("no entity %s", name)
	}
	return e
}

// inGate runs in a transaction of the gate's that is rolled back.
func (w *world) inGate(t *testing.T, run func(ctx context.Context, tx pgx.Tx)) {
	t.Helper()
	tx, err := w.Pools.Gate.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	run(t.Context(), tx)
}

func (w *world) get(t *testing.T, as identity.Actor, entity, key string) (got *record.Record, err error) {
	t.Helper()
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) { got, err = w.registry.Get(ctx, tx, as, w.entity(t, entity), key) })
	return got, err
}

func (w *world) mustGet(t *testing.T, entity, key string) *record.Record {
	t.Helper()
	got, err := w.get(t, w.maria, entity, key)
	if err != nil {
		t.Fatalf("get %s %s: %v", entity, key, err)
	}
	return got
}

func (w *world) draft(t *testing.T, entity string, op record.Operation, key, values string) (got *record.Draft, err error) {
	t.Helper()
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		got, err = w.registry.Draft(ctx, tx, w.maria, record.Change{Entity: w.entity(t, entity), Operation: op, Key: key, Values: object(t, values)}, salt)
	})
	return got, err
}

func (w *world) mustDraft(t *testing.T, entity string, op record.Operation, key, values string) *record.Draft {
	t.Helper()
	got, err := w.draft(t, entity, op, key, values)
	if err != nil {
		t.Fatalf("draft %s %s %s: %v", op, entity, values, err)
	}
	return got
}

// write drafts a change and writes it, for good.
func (w *world) write(t *testing.T, entity string, op record.Operation, key, values string) (*record.Record, error) {
	t.Helper()
	return w.apply(t, w.prepare(t, entity, op, key, values))
}

// prepare makes the write of a draft.
func (w *world) prepare(t *testing.T, entity string, op record.Operation, key, values string) record.Write {
	t.Helper()
	d := w.mustDraft(t, entity, op, key, values)
	write := record.Write{Entity: w.entity(t, entity), Operation: op, Key: key, Salt: salt, Values: d.To}
	if d.Record != nil {
		write.Version = d.Record.Version
	}
	return write
}

func (w *world) apply(t *testing.T, writes ...record.Write) (*record.Record, error) {
	t.Helper()
	var got []*record.Record
	err := pgx.BeginFunc(t.Context(), w.Pools.Gate, func(tx pgx.Tx) (err error) {
		got, err = w.registry.Write(t.Context(), tx, w.maria, writes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return got[0], nil
}

func object(t *testing.T, s string) map[string]json.RawMessage {
	t.Helper()
	var values map[string]json.RawMessage
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), &values); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return values
}

// printed is a value as a test compares it.
func printed(v record.Value) string {
	if v.Null {
		return "NULL"
	}
	return string(v.JSON)
}
