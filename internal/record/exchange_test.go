package record_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/record"
)

// counting is a tracer that counts what is sent.
type counting struct{ trips, statements int }

func (c *counting) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.trips, c.statements = c.trips+1, c.statements+1
	return ctx
}
func (c *counting) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *counting) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	c.trips, c.statements = c.trips+1, c.statements+data.Batch.Len()
	return ctx
}
func (c *counting) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (c *counting) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// gate opens a pool as the gate's login that works differently.
func (w *world) gate(t *testing.T, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config := w.Pools.Gate.Config()
	config.MinConns, config.MaxConns = 0, 1
	change(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestEachCallIsOneRoundTrip(t *testing.T) {
	w := harbor(t)
	counted := &counting{}
	pool := w.gate(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = counted })
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		ctx, role := t.Context(), w.entity(t, "core.role")
		trips := func(name string, statements int, call func() error) error {
			before := *counted
			err := call()
			if counted.trips-before.trips != 1 || counted.statements-before.statements != statements {
				t.Errorf("%s: %d round trips with %d statements", name, counted.trips-before.trips, counted.statements-before.statements)
			}
			return err
		}
		var d *record.Draft
		return errors.Join(
			trips("get", 3, func() error { _, err := w.registry.Get(ctx, tx, w.maria, role, "4"); return err }),
			trips("list", 3, func() error { _, err := w.registry.List(ctx, tx, w.maria, role, nil, 10, ""); return err }),
			trips("draft", 3, func() (err error) {
				d, err = w.registry.Draft(ctx, tx, w.maria, record.Change{Entity: role, Operation: record.Update, Key: "4", Values: object(t, `{"name":"reviewer"}`)}, salt)
				return err
			}),
			trips("write", 4, func() error {
				_, err := w.registry.Write(ctx, tx, w.maria, []record.Write{{Entity: role, Operation: record.Update, Key: "4", Version: d.Record.Version, Salt: salt, Values: d.To}})
				return err
			}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A statement is planned once for everybody, and what each sees is still theirs.
func TestPeopleOnOneConnectionSeeTheirOwn(t *testing.T) {
	w := harbor(t)
	olu := w.Person(t, "olu@othersite.example")
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		pool := w.gate(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
		for i := range 12 {
			err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
				order := w.entity(t, "mrp.production_order")
				_, hers := w.registry.Get(t.Context(), tx, w.maria, order, "3")
				_, his := w.registry.Get(t.Context(), tx, olu, order, "3")
				page, err := w.registry.List(t.Context(), tx, olu, order, nil, 10, "")
				if hers != nil || !errors.Is(his, record.ErrGone) || err != nil || len(page.Records) != 1 {
					return fmt.Errorf("maria: %w; olu: %w; %w", hers, his, err)
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s, round %d: %v", mode, i, err)
			}
		}
	}
}

// A column more, or another type, does not break connections that know the table from before.
func TestTableThatChangesUnderOpenConnections(t *testing.T) {
	w := harbor(t)
	pool := w.gate(t, func(*pgxpool.Config) {})
	get := func() error {
		return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := w.registry.Draft(t.Context(), tx, w.maria, record.Change{Entity: w.entity(t, "core.role"), Operation: record.Update, Key: "4", Values: object(t, `{"name":"x"}`)}, salt)
			return err
		})
	}
	for _, change := range []string{"SELECT 1", "ALTER TABLE core.roles ADD COLUMN colour text", "ALTER TABLE core.roles ALTER COLUMN name TYPE text", "ALTER TABLE core.roles DROP COLUMN colour"} {
		mustExec(t, w.DB, change)
		for range 6 {
			if err := get(); err != nil {
				t.Fatalf("after %s: %v", change, err)
			}
		}
	}
}

func TestStatementsThatTheServerForgotArePreparedAgain(t *testing.T) {
	w := harbor(t)
	pool := w.gate(t, func(*pgxpool.Config) {})
	get := func() error {
		return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := w.registry.Get(t.Context(), tx, w.maria, w.entity(t, "core.role"), "4")
			return err
		})
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "DEALLOCATE ALL", pgx.QueryExecModeExec); err != nil {
		t.Fatal(err)
	}
	var failed int
	for range 4 {
		if get() != nil {
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d reads failed", failed)
	}
}

func TestCancelledReadEndsAndLeavesNobodysRightsBehind(t *testing.T) {
	w := harbor(t)
	pool := w.gate(t, func(*pgxpool.Config) {})
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.registry.Get(ctx, tx, w.maria, w.entity(t, "core.role"), "4"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_ = tx.Rollback(t.Context())
	var user, site string
	if err := pool.QueryRow(t.Context(), `SELECT current_user, coalesce(current_setting('app.site', true), '')`).Scan(&user, &site); err != nil || user != "countersign_gate" || site != "" {
		t.Errorf("the next borrower is %s with site %q: %v", user, site, err)
	}
}
