package demo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// as runs statements as a role of the host's, at a site, in a transaction that is rolled back.
func as(t *testing.T, pool *pgxpool.Pool, role, site string, do func(tx pgx.Tx)) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `SELECT set_config('app.site', $1, true), set_config('role', $2, true)`, site, role); err != nil {
		t.Fatal(err)
	}
	do(tx)
}

func number(t *testing.T, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, query string, arguments ...any) (n float64) {
	t.Helper()
	if err := db.QueryRow(t.Context(), query, arguments...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

var hostTables = []string{"core.roles", "core.users", "mrp.production_orders", "mrp.work_centers", "crp.operations", "crp.calendar_days"}

func TestHarborMillIsLoadedOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Owner.Exec(t.Context(), `UPDATE core.roles SET name = 'kept' WHERE id = 4`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := demo.Load(t.Context(), db.SuperuserURL); err != nil {
		t.Fatal(err)
	}
	t.Logf("loading again took %v", time.Since(began))
	if n := number(t, db.Owner, `SELECT count(*) FROM core.roles WHERE name = 'kept' OR site = 'other-site'`); n != 4 {
		t.Errorf("%v roles are as they were", n)
	}
	if n := number(t, db.Owner, `SELECT count(*) FROM users`); int(n) != len(demo.Accounts) {
		t.Errorf("there are %v accounts", n)
	}
}

func TestASiteSeesItsOwnRows(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, table := range hostTables {
		all := number(t, db.Owner, "SELECT count(*) FROM "+table)
		seen := 0.0
		for _, site := range demo.Sites {
			as(t, db.Pools.Reader, "harbor_read", site.Slug, func(tx pgx.Tx) {
				n := number(t, tx, "SELECT count(*) FROM "+table+" WHERE site = current_setting('app.site')")
				if n == 0 || n != number(t, tx, "SELECT count(*) FROM "+table) {
					t.Errorf("%s: %s sees %v of its rows, and others", table, site.Slug, n)
				}
				seen += n
			})
		}
		if seen != all {
			t.Errorf("%s: the sites see %v of %v rows", table, seen, all)
		}
		as(t, db.Pools.Reader, "harbor_read", "", func(tx pgx.Tx) {
			if n := number(t, tx, "SELECT count(*) FROM "+table); n != 0 {
				t.Errorf("%s: without a site %v rows are seen", table, n)
			}
		})
		if _, err := db.Pools.Reader.Exec(t.Context(), "SELECT FROM "+table); err == nil {
			t.Errorf("%s: a login reads it as itself", table)
		}
	}
}

func TestTheOrdersAndTheirLoad(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	load := `SELECT coalesce(sum(minutes), 0)::float8 FROM crp.operations o JOIN mrp.work_centers c ON c.id = o.work_center_id WHERE c.site = 'harbor-mill' AND c.code = 'WC-BREW' AND o.day = $1::date`
	available := `SELECT available_minutes::float8 FROM crp.calendar_days d JOIN mrp.work_centers c ON c.id = d.work_center_id WHERE c.site = 'harbor-mill' AND c.code = 'WC-BREW' AND d.day = $1::date`
	for _, day := range []struct {
		date            string
		load, available float64
	}{{"2026-05-26", 210, 864}, {"2026-05-31", 660, 0}, {"2026-06-01", 260, 864}, {"2026-06-02", 360, 864}, {"2026-06-14", 0, 0}} {
		if got := number(t, db.Owner, load, day.date); got != day.load {
			t.Errorf("%s: WC-BREW is loaded %v minutes, not %v", day.date, got, day.load)
		}
		if got := number(t, db.Owner, available, day.date); got != day.available {
			t.Errorf("%s: WC-BREW has %v minutes, not %v", day.date, got, day.available)
		}
	}
	var order string
	err := db.Owner.QueryRow(t.Context(), `SELECT concat_ws(' ', item, quantity, status, priority, planned_start, planned_finish, due_date)
		FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number = 'PO-1042'`).Scan(&order)
	if want := "FG-PALE-20L 480 planned 3 2026-05-31 2026-06-02 2026-06-06"; err != nil || order != want {
		t.Errorf("PO-1042 is %q, %v; want %q", order, err, want)
	}
	if n := number(t, db.Owner, `SELECT count(DISTINCT id) FROM mrp.production_orders WHERE order_number = 'PO-1042'`); n != 2 {
		t.Errorf("there are %v orders PO-1042", n)
	}
}

func TestTheHostsOwnRulesHold(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, refused := range []struct{ statement, code string }{
		{`UPDATE mrp.production_orders SET quantity = 0 WHERE id = 3`, "23514"},
		{`UPDATE mrp.production_orders SET planned_finish = '2026-05-30' WHERE id = 3`, "23514"},
		{`UPDATE mrp.production_orders SET priority = 10 WHERE id = 3`, "23514"},
		{`UPDATE mrp.production_orders SET status = 'lost' WHERE id = 3`, "22P02"},
		{`UPDATE core.roles SET name = 'admin' WHERE id = 4`, "23505"},
		{`UPDATE core.roles SET name = NULL WHERE id = 4`, "23502"},
		{`DELETE FROM core.roles WHERE id = 2`, "23503"},
		{`INSERT INTO core.roles (site, name) VALUES ('other-site', 'smuggler')`, "42501"},
	} {
		as(t, db.Pools.Gate, "harbor_write", "harbor-mill", func(tx pgx.Tx) {
			_, err := tx.Exec(t.Context(), refused.statement)
			var said *pgconn.PgError
			if !errors.As(err, &said) || said.Code != refused.code {
				t.Errorf("%s: %v, want %s", refused.statement, err, refused.code)
			}
		})
	}
	as(t, db.Pools.Gate, "harbor_read", "harbor-mill", func(tx pgx.Tx) {
		if _, err := tx.Exec(t.Context(), `UPDATE core.roles SET name = 'x' WHERE id = 4`); err == nil {
			t.Error("harbor_read writes")
		}
	})
}

func TestARowIsMadeAtItsSiteAndItsChangesAreDated(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	as(t, db.Pools.Gate, "harbor_write", "harbor-mill", func(tx pgx.Tx) {
		var id int64
		var site string
		var made, changed time.Time
		if err := tx.QueryRow(t.Context(), `INSERT INTO core.roles (name) VALUES ('cooper') RETURNING id, site, updated_at`).Scan(&id, &site, &made); err != nil {
			t.Fatal(err)
		}
		if id <= 11 || site != "harbor-mill" {
			t.Errorf("the new role is %d at %s", id, site)
		}
		if err := tx.QueryRow(t.Context(), `UPDATE core.roles SET description = 'Makes barrels' WHERE id = $1 RETURNING updated_at`, id).Scan(&changed); err != nil || !changed.After(made) {
			t.Errorf("made at %v, changed at %v, %v", made, changed, err)
		}
		if tag, err := tx.Exec(t.Context(), `DELETE FROM core.roles WHERE id = 7`); err != nil || tag.RowsAffected() != 1 {
			t.Errorf("role 7 is not to be had: %v", err)
		}
		var inserted []string
		for _, table := range hostTables[1:] {
			if _, err := tx.Exec(t.Context(), fmt.Sprintf("SAVEPOINT s; SELECT nextval(pg_get_serial_sequence('%s', 'id')); RELEASE s", table)); err != nil {
				inserted = append(inserted, table)
			}
		}
		if len(inserted) > 0 {
			t.Errorf("harbor_write cannot number new rows of %s", strings.Join(inserted, ", "))
		}
	})
}

func TestEveryAccountSignsIn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, account := range demo.Accounts {
		if person := db.Person(t, account.Email); person.Role() != account.Role || person.Workspace().Slug != account.Site {
			t.Errorf("%s is %s of %s", account.Email, person.Role(), person.Workspace().Slug)
		}
	}
}
