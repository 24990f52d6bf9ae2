package pgtest_test

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestTwoDatabasesHaveHarborMillAndAreApart(t *testing.T) {
	one, other := pgtest.New(t), pgtest.New(t)
	if _, err := one.Owner.Exec(t.Context(), `UPDATE core.roles SET name = 'reviewer' WHERE id = 4`); err != nil {
		t.Fatal(err)
	}
	var name string
	if err := other.Owner.QueryRow(t.Context(), `SELECT name FROM core.roles WHERE id = 4`).Scan(&name); err != nil || name != "editor" {
		t.Fatalf("role 4 of the other database is %q, %v", name, err)
	}
}

func TestTheRegistryAndThePeopleOfHarborMill(t *testing.T) {
	db := pgtest.New(t)
	if _, ok := db.Registry(t).Entity("core.role"); !ok {
		t.Error("the registry has no core.role")
	}
	if maria := db.Person(t, "maria@harbor.example"); !maria.Live() || maria.Workspace().Slug != "harbor-mill" {
		t.Errorf("Maria is %+v", maria)
	}
	if agent := db.Agent(t, "olu@othersite.example", "read"); agent.Workspace().Slug != "other-site" || agent.May("propose") {
		t.Errorf("Olu's agent is %+v", agent)
	}
}

func TestAParkedContenderIsSeen(t *testing.T) {
	db := pgtest.New(t)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM core.roles WHERE id = 4 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := db.Pools.Gate.Exec(t.Context(), `SET app.site = 'harbor-mill'; SET ROLE harbor_write; UPDATE core.roles SET name = 'x' WHERE id = 4; RESET ROLE`)
			ended <- err
		}()
	}
	pgtest.WaitBlocked(t, db, 2)
	if err := errors.Join(tx.Rollback(t.Context()), <-ended, <-ended); err != nil {
		t.Error(err)
	}
}
