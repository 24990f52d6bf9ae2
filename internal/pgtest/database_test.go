package pgtest_test

import (
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
