package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

// objects counts what is in a schema.
const objects = `SELECT count(*) FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('countersign') AND relkind IN ('r', 'v')`

func TestFourMigrateAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	if err := postgres.SchemaIsCurrent(t.Context(), db.Owner); err == nil || !strings.Contains(err.Error(), "countersign migrate") {
		t.Errorf("an empty database: %v", err)
	}
	var together sync.WaitGroup
	failures := make([]error, 4)
	for i := range failures {
		together.Go(func() { failures[i] = postgres.Migrate(t.Context(), db.OwnerURL) })
	}
	together.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	if err := postgres.SchemaIsCurrent(t.Context(), db.Owner); err != nil {
		t.Error(err)
	}
	if err := postgres.Migrate(t.Context(), db.OwnerURL); err != nil {
		t.Errorf("once more: %v", err)
	}
	var elsewhere int
	if err := db.Owner.QueryRow(t.Context(), `SELECT count(*) FROM pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace`).Scan(&elsewhere); err != nil || elsewhere > 0 {
		t.Errorf("%d things were made in public, %v", elsewhere, err)
	}
}

func TestMigrationsGoDownToNothingAndUpAgain(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	if err := postgres.Migrate(t.Context(), db.OwnerURL); err != nil {
		t.Fatal(err)
	}
	var full, none, again int
	read := func(into *int) {
		t.Helper()
		if err := db.Owner.QueryRow(t.Context(), objects).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	read(&full)
	if err := postgres.MigrateDown(t.Context(), db.OwnerURL); err != nil {
		t.Fatal(err)
	}
	if read(&none); none != 1 {
		t.Errorf("%d tables and views are left, not goose's alone", none)
	}
	if err := postgres.SchemaIsCurrent(t.Context(), db.Owner); err == nil || !strings.Contains(err.Error(), "version 0") {
		t.Errorf("at nothing: %v", err)
	}
	if err := postgres.Migrate(t.Context(), db.OwnerURL); err != nil {
		t.Fatal(err)
	}
	if read(&again); again != full {
		t.Errorf("%d tables and views, before %d", again, full)
	}
}

func TestMigrateSaysWhichRolesAreMissing(t *testing.T) {
	t.Parallel()
	cluster := start(t, postgres.ClusterOptions{Data: t.TempDir(), Fast: true})
	conn, err := pgx.Connect(t.Context(), cluster.URL("postgres", "countersign"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `DROP ROLE countersign_worker, countersign_agent`); err != nil {
		t.Fatal(err)
	}
	err = postgres.Migrate(t.Context(), cluster.URL("countersign_owner", "countersign"))
	if err == nil || !strings.Contains(err.Error(), "countersign_agent, countersign_worker") || !strings.Contains(err.Error(), "--grants") {
		t.Fatalf("got %v", err)
	}
	// What --grants prints is what is missing.
	if _, err := conn.Exec(t.Context(), postgres.Grants(nil)); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), cluster.URL("countersign_owner", "countersign")); err != nil {
		t.Error(err)
	}
}

// On a server of someone's own, the owner has nothing but what --grants gives.
func TestGrantsAreEnoughOnAServerOfSomeonesOwn(t *testing.T) {
	t.Parallel()
	cluster := start(t, postgres.ClusterOptions{Data: t.TempDir(), Fast: true})
	for _, step := range []struct{ database, sql string }{
		{"postgres", `CREATE DATABASE erp`},
		{"erp", `CREATE ROLE erp_read; CREATE ROLE "ERP writes"`},
		{"erp", postgres.Grants([]postgres.Source{{Name: "erp\nDROP TABLE x", ReadAs: "erp_read", WriteAs: "ERP writes"}})},
		{"erp", postgres.Grants(nil)},
	} {
		conn, err := pgx.Connect(t.Context(), cluster.URL("postgres", step.database))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), step.sql); err != nil {
			t.Fatalf("%s: %v", step.sql, err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := postgres.Migrate(t.Context(), cluster.URL("countersign_owner", "erp")); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), cluster.URL("countersign_owner", "erp"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := postgres.CheckRoles(t.Context(), conn, []postgres.Source{{Name: "erp", ReadAs: "erp_read", WriteAs: "ERP writes"}}, nil); err != nil {
		t.Error(err)
	}
}

func TestASchemaBehindIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var newest int
	if err := db.Owner.QueryRow(t.Context(), `SELECT max(version_id) FROM goose_db_version`).Scan(&newest); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id = $1`, newest); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("the schema is at version %d and this program needs version %d: run `countersign migrate`", newest-1, newest)
	if err := postgres.SchemaIsCurrent(t.Context(), db.Owner); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := db.Owner.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	if err := postgres.SchemaIsCurrent(t.Context(), db.Owner); err != nil {
		t.Errorf("a schema ahead of the program: %v", err)
	}
}
