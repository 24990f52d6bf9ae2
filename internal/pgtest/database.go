// Package pgtest gives tests real databases: each a copy of a migrated one with Harbor Mill in it.
package pgtest

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/postgres"
)

// DB is a database of one test's own.
type DB struct {
	SuperuserURL string
	OwnerURL     string
	Owner        *pgxpool.Pool // sees all workspaces' rows
	Pools        *postgres.Pools
	name         string
}

var copies atomic.Int64

// New gives the test a database that nobody else uses: migrated, with Harbor Mill's records and accounts.
// It is dropped when the test ends.
func New(t testing.TB) *DB {
	t.Helper()
	s := need(t)
	db := create(t, s, func(ctx context.Context, name string) error {
		_, err := s.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+s.template+" OWNER countersign_owner STRATEGY file_copy")
		return err
	})
	db.Pools = db.OpenPools(t)
	return db
}

// Empty gives the test a database of the owner's in which nothing was migrated; it has no pools.
func Empty(t testing.TB) *DB {
	t.Helper()
	s := need(t)
	return create(t, s, func(ctx context.Context, name string) error {
		return s.admin.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
			return postgres.CreateDatabase(ctx, conn.Conn(), s.url("", name), name)
		})
	})
}

func create(t testing.TB, s *server, fill func(ctx context.Context, name string) error) *DB {
	t.Helper()
	name := shortName(int64(os.Getpid()), copies.Add(1))
	if err := fill(t.Context(), name); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if _, err := s.admin.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	db := &DB{SuperuserURL: s.url("", name), OwnerURL: s.url("countersign_owner", name), name: name}
	db.Owner = db.owner(t)
	return db
}

// OpenPools gives pools as a further server on the same database has them. They are closed when the test ends.
func (d *DB) OpenPools(t testing.TB) *postgres.Pools {
	t.Helper()
	// A limit in the URL keeps the pools from connecting ahead of use, which most tests never need.
	pools, err := postgres.OpenPools(t.Context(), with(d.OwnerURL, "pool_max_conns=10"), func(string) string { return "" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, pools)
	return pools
}

func (d *DB) owner(t testing.TB) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig(d.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["search_path"] = "countersign, pg_catalog, pg_temp"
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, pool)
	return pool
}

// closing closes what a test used. A connection that the test still holds is a failure, and does not keep
// the tests from ending.
func closing(t testing.TB, pool interface{ Close() }) {
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() {
			pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(30 * time.Second):
			t.Error("the test holds a connection and did not give it back")
		}
	})
}

func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}
