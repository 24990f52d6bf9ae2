package record_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

func (w *world) rehearse(t *testing.T, writes ...record.Write) (*record.Rehearsal, error) {
	t.Helper()
	return w.registry.Rehearse(t.Context(), w.Pools.Gate, w.maria, writes)
}

// depot has a table of parts, and behind it what only the database knows of.
const depot = `
	CREATE TABLE shop.parts (id int PRIMARY KEY, name text NOT NULL, stock int NOT NULL DEFAULT 0, edits int NOT NULL DEFAULT 0);
	CREATE TABLE shop.bins (id int PRIMARY KEY, part int REFERENCES shop.parts ON DELETE CASCADE);
	CREATE TABLE shop.labels (id int PRIMARY KEY, bin int REFERENCES shop.bins ON DELETE CASCADE);
	INSERT INTO shop.parts VALUES (1, 'tap', 5), (2, 'valve', 5), (3, 'pipe', 5);
	INSERT INTO shop.bins VALUES (10, 1), (11, 1), (12, 2);
	INSERT INTO shop.labels SELECT 100 + n, 10 FROM generate_series(1, 7) AS n;`

const parts = `
  shop.part: {table: shop.parts, label: name, operations: [get, create, update, delete], fields: {id: {writable: true}, name: {writable: true}, stock: {writable: true}, edits: }}
`

func TestRehearsalGivesTheRecordsAsTheWritesWouldLeaveThem(t *testing.T) {
	w := workshop(t, depot+`
		CREATE FUNCTION shop.count() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.edits := OLD.edits + 1; RETURN NEW; END $$;
		CREATE TRIGGER count BEFORE UPDATE ON shop.parts FOR EACH ROW EXECUTE FUNCTION shop.count();`, parts)
	before := w.fingerprint(t)
	got, err := w.rehearse(t,
		w.prepare(t, "shop.part", record.Update, "1", `{"name":"cock"}`),
		w.prepare(t, "shop.part", record.Update, "2", `{"name":"gate"}`),
		w.prepare(t, "shop.part", record.Create, "", `{"id":9,"name":"bend"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Records) != 3 || printed(got.Records[1].Values["name"]) != `"gate"` || printed(got.Records[1].Values["edits"]) != "1" || printed(got.Records[2].Values["stock"]) != "0" {
		t.Errorf("%+v", got.Records)
	}
	if len(got.Effects) != 0 {
		t.Errorf("the writes themselves are effects: %v", got.Effects)
	}
	if after := w.fingerprint(t); after != before {
		t.Errorf("something is left behind: %s, %s", before, after)
	}
}

// fingerprint is of every row in the schema shop, with the transaction that wrote it.
func (w *world) fingerprint(t *testing.T) string {
	t.Helper()
	var sum string
	err := w.Owner.QueryRow(t.Context(), `SELECT pg_catalog.md5(pg_catalog.string_agg(row::text, E'\n' ORDER BY row::text)) FROM (
		SELECT 'parts', xmin::text, p::text FROM shop.parts p UNION ALL SELECT 'bins', xmin::text, b::text FROM shop.bins b UNION ALL SELECT 'labels', xmin::text, l::text FROM shop.labels l) AS row`).Scan(&sum)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// The one refusal there is comes from a constraint trigger that waits for the commit, on a table that the
// registry does not name.
func TestRehearsalMeetsADeferredRefusalOnAnUnnamedTable(t *testing.T) {
	w := workshop(t, depot+`
		CREATE FUNCTION shop.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT count(*) FROM shop.labels) = 0 THEN RAISE EXCEPTION 'the last label, of part %', OLD.bin; END IF; RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER refuse AFTER DELETE ON shop.labels DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION shop.refuse();`, parts)
	before := w.fingerprint(t)
	_, err := w.rehearse(t, w.prepare(t, "shop.part", record.Delete, "1", ""))
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "P0001" || errors.Is(err, record.ErrNoLock) {
		t.Errorf("%v", err)
	}
	if after := w.fingerprint(t); after != before {
		t.Error("something is left behind")
	}
	if _, err := w.rehearse(t, w.prepare(t, "shop.part", record.Delete, "2", "")); err != nil {
		t.Errorf("a part without labels: %v", err)
	}
}

func TestRehearsalCountsWhatCascadesTwoTablesAway(t *testing.T) {
	w := workshop(t, depot, parts)
	pool := w.gate(t, func(*pgxpool.Config) {})
	want := []record.Effect{{Table: "shop.bins", Operation: "DELETE", Rows: 2}, {Table: "shop.labels", Operation: "DELETE", Rows: 7}}
	seen := func(want []record.Effect, writes ...record.Write) {
		t.Helper()
		got, err := w.registry.Rehearse(t.Context(), pool, w.maria, writes)
		if err != nil || !slices.Equal(got.Effects, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	// The counters of a session go on: through rehearsals, refused ones, writes that commit and ones that do not.
	gone := w.prepare(t, "shop.part", record.Delete, "1", "")
	seen(want, gone)
	seen(want, gone)
	taken := w.prepare(t, "shop.part", record.Create, "", `{"id":2,"name":"twice"}`)
	if _, err := w.registry.Rehearse(t.Context(), pool, w.maria, []record.Write{gone, taken}); err == nil {
		t.Error("a second part 2")
	}
	seen(want, gone)
	for _, end := range []error{nil, context.Canceled} {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := w.registry.Write(t.Context(), tx, w.maria, []record.Write{w.prepare(t, "shop.part", record.Delete, "2", "")})
			return errors.Join(err, end)
		})
		if end == nil != (err == nil) {
			t.Error(err)
		}
		mustExec(t, w.DB, `INSERT INTO shop.parts VALUES (2, 'valve', 5) ON CONFLICT DO NOTHING; INSERT INTO shop.bins VALUES (12, 2) ON CONFLICT DO NOTHING`)
		seen(want, gone)
	}
	seen(nil, w.prepare(t, "shop.part", record.Update, "3", `{"name":"tube"}`))
}

func TestRehearsalCountsAmongManyTables(t *testing.T) {
	w := workshop(t, depot+`CREATE SCHEMA many; DO $$ BEGIN FOR i IN 1..100 LOOP EXECUTE format('CREATE TABLE many.t%s ()', i); END LOOP; END $$;
		CREATE TABLE many.log (part int) PARTITION BY LIST (part); CREATE TABLE many.log_1 PARTITION OF many.log FOR VALUES IN (1);
		CREATE FUNCTION shop.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO many.log VALUES (OLD.id), (OLD.id); RETURN OLD; END $$;
		CREATE TRIGGER note BEFORE DELETE ON shop.parts FOR EACH ROW EXECUTE FUNCTION shop.note();`, parts)
	for range 2 {
		got, err := w.rehearse(t, w.prepare(t, "shop.part", record.Delete, "1", ""))
		want := []record.Effect{{Table: "many.log", Operation: "INSERT", Rows: 2}, {Table: "shop.bins", Operation: "DELETE", Rows: 2}, {Table: "shop.labels", Operation: "DELETE", Rows: 7}}
		if err != nil || !slices.Equal(got.Effects, want) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestRehearsalCountsBehindAPoolerToo(t *testing.T) {
	w := workshop(t, depot, parts)
	pool := w.gate(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec })
	for range 3 {
		got, err := w.registry.Rehearse(t.Context(), pool, w.maria, []record.Write{w.prepare(t, "shop.part", record.Delete, "2", "")})
		if err != nil || !slices.Equal(got.Effects, []record.Effect{{Table: "shop.bins", Operation: "DELETE", Rows: 1}}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestEffectsOfPartitionsViewsAndTheTableItself(t *testing.T) {
	w := workshop(t, `
		CREATE TABLE shop.moves (id int, part int, day int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
		CREATE TABLE shop.moves_1 PARTITION OF shop.moves FOR VALUES FROM (0) TO (10);
		CREATE TABLE shop.moves_2 PARTITION OF shop.moves FOR VALUES FROM (10) TO (20);
		CREATE VIEW shop.slots AS SELECT * FROM shop.moves;
		CREATE TABLE shop.stock (id int PRIMARY KEY, name text, seen int NOT NULL DEFAULT 0);
		CREATE VIEW shop.inner AS SELECT * FROM shop.stock; CREATE VIEW shop.shelf AS SELECT id, name, seen FROM shop.inner;
		INSERT INTO shop.stock VALUES (1, 'tap'), (2, 'valve'), (3, 'pipe');
		INSERT INTO shop.moves VALUES (1, 1, 5), (2, 1, 15), (3, 2, 15);
		CREATE FUNCTION shop.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			UPDATE shop.moves SET part = part WHERE part = NEW.id;
			IF pg_trigger_depth() = 1 THEN UPDATE shop.stock SET seen = seen + 1 WHERE id <> NEW.id; END IF; RETURN NULL; END $$;
		CREATE TRIGGER follow AFTER UPDATE ON shop.stock FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION shop.follow();`, `
  shop.move: {table: shop.moves, key: [id, day], operations: [get, update], fields: {part: {writable: true}}}
  shop.slot: {table: shop.slots, key: id, operations: [get, update], fields: {day: {writable: true}}}
  shop.shelf: {table: shop.shelf, key: id, operations: [get, update], fields: {name: {writable: true}}}
`)
	got, err := w.rehearse(t, w.prepare(t, "shop.shelf", record.Update, "1", `{"name":"cock"}`))
	want := []record.Effect{{Table: "shop.moves", Operation: "UPDATE", Rows: 2}, {Table: "shop.stock", Operation: "UPDATE", Rows: 2}}
	if err != nil || !slices.Equal(got.Effects, want) {
		t.Errorf("%v, %v", got, err)
	}
	got, err = w.rehearse(t, w.prepare(t, "shop.move", record.Update, `["1","5"]`, `{"part":2}`))
	if err != nil || len(got.Effects) != 0 {
		t.Errorf("a record in a partition: %v, %v", got, err)
	}
	got, err = w.rehearse(t, w.prepare(t, "shop.slot", record.Update, "1", `{"day":11}`))
	if err != nil || len(got.Effects) != 0 {
		t.Errorf("a record that moves to another partition: %v, %v", got, err)
	}
}

func TestRehearsalDoesNotWaitForALock(t *testing.T) {
	w := workshop(t, depot, parts)
	write := w.prepare(t, "shop.part", record.Update, "1", `{"name":"cock"}`)
	tx, err := w.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `SELECT FROM shop.parts WHERE id = 1 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	var refused *pgconn.PgError
	if _, err := w.rehearse(t, write); !errors.Is(err, record.ErrNoLock) || !errors.As(err, &refused) || refused.Code != "55P03" {
		t.Errorf("%v", err)
	}
	if _, err := w.rehearse(t, w.prepare(t, "shop.part", record.Update, "2", `{"name":"gate"}`)); err != nil {
		t.Errorf("another record: %v", err)
	}
}

func TestRehearsalEndsATriggerThatTakesLong(t *testing.T) {
	w := workshop(t, depot+`
		CREATE FUNCTION shop.linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
		CREATE TRIGGER linger BEFORE UPDATE ON shop.parts FOR EACH ROW EXECUTE FUNCTION shop.linger();`, parts)
	var refused *pgconn.PgError
	_, err := w.rehearse(t, w.prepare(t, "shop.part", record.Update, "1", `{"name":"cock"}`))
	if !errors.Is(err, record.ErrNoLock) || !errors.As(err, &refused) || refused.Code != "57014" {
		t.Errorf("%v", err)
	}
}

func TestRehearsalGivesUpWhereThereIsNoConnection(t *testing.T) {
	w := workshop(t, depot, parts)
	pool := w.gate(t, func(*pgxpool.Config) {})
	held, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	_, err = w.registry.Rehearse(t.Context(), pool, w.maria, []record.Write{w.prepare(t, "shop.part", record.Update, "1", `{"name":"cock"}`)})
	if !errors.Is(err, record.ErrNoLock) {
		t.Errorf("%v", err)
	}
}

// A caller that goes away in the middle leaves no transaction and no lock behind.
func TestCancelledRehearsalLeavesNothing(t *testing.T) {
	w := workshop(t, depot+`
		CREATE FUNCTION shop.linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$;
		CREATE TRIGGER linger BEFORE UPDATE ON shop.parts FOR EACH ROW EXECUTE FUNCTION shop.linger();`, parts)
	write := w.prepare(t, "shop.part", record.Update, "1", `{"name":"cock"}`)
	ctx, cancel := context.WithCancel(t.Context())
	err := pgx.BeginFunc(t.Context(), w.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock(7)`); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() {
			_, err := w.registry.Rehearse(ctx, w.Pools.Gate, w.maria, []record.Write{write})
			done <- err
		}()
		pgtest.WaitBlocked(t, w.DB, 1)
		cancel()
		if err := <-done; errors.Is(err, record.ErrNoLock) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.rehearse(t, write); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestWhatATriggerSaysInARehearsalNobodyHears(t *testing.T) {
	w := workshop(t, depot+`
		CREATE FUNCTION shop.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('shop', NEW.name); RETURN NEW; END $$;
		CREATE TRIGGER tell BEFORE UPDATE ON shop.parts FOR EACH ROW EXECUTE FUNCTION shop.tell();`, parts)
	listener, err := w.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Release()
	if _, err := listener.Exec(t.Context(), `LISTEN shop`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.rehearse(t, w.prepare(t, "shop.part", record.Update, "1", `{"name":"rehearsed"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.write(t, "shop.part", record.Update, "1", `{"name":"written"}`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if heard, err := listener.Conn().WaitForNotification(ctx); err != nil || heard.Payload != "written" {
		t.Errorf("heard %v, %v", heard, err)
	}
}

func TestRehearsalMissesARecordThatChanged(t *testing.T) {
	w := workshop(t, depot, parts)
	first, second := w.prepare(t, "shop.part", record.Delete, "1", ""), w.prepare(t, "shop.part", record.Delete, "2", "")
	mustExec(t, w.DB, `UPDATE shop.parts SET stock = 4 WHERE id = 2`)
	_, err := w.rehearse(t, first, second)
	var missed *record.NoRow
	if !errors.As(err, &missed) || missed.Indexes[0] != 1 {
		t.Errorf("%v", err)
	}
}

func TestAnAgentsRehearsalRunsAsItsUserAndNobodysDoesNot(t *testing.T) {
	w := harbor(t)
	agent := w.Agent(t, "maria@harbor.example", "read", "propose")
	write := w.prepare(t, "core.role", record.Update, "4", `{"name":"reviewer"}`)
	if _, err := w.registry.Rehearse(t.Context(), w.Pools.Gate, agent, []record.Write{write}); err != nil {
		t.Error(err)
	}
	for _, nobody := range []identity.Actor{identity.Person{}, identity.Agent{}} {
		if _, err := w.registry.Rehearse(t.Context(), w.Pools.Gate, nobody, []record.Write{write}); err == nil {
			t.Errorf("%T rehearses", nobody)
		}
	}
	mustExec(t, w.DB, `REVOKE UPDATE ON core.roles FROM harbor_write`)
	var refused *pgconn.PgError
	if _, err := w.registry.Rehearse(t.Context(), w.Pools.Gate, agent, []record.Write{write}); !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("without the right: %v", err)
	}
}

func TestRehearsalIsOneRoundTripForAnyNumber(t *testing.T) {
	w := workshop(t, depot+`INSERT INTO shop.parts SELECT n, 'part', 1 FROM generate_series(100, 299) AS n`, parts)
	counted := &counting{}
	pool := w.gate(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = counted })
	writes := []record.Write{}
	for n := range 200 {
		writes = append(writes, w.prepare(t, "shop.part", record.Update, strconv.Itoa(100+n), `{"name":"pipe"}`))
	}
	for _, n := range []int{1, 1, 200} {
		*counted = counting{}
		got, err := w.registry.Rehearse(t.Context(), pool, w.maria, writes[:n])
		if err != nil || counted.trips != 1 || counted.statements != 7 || len(got.Records) != n || len(got.Effects) > 0 {
			t.Errorf("%d round trips with %d statements for %d, %v", counted.trips, counted.statements, n, err)
		}
	}
}
