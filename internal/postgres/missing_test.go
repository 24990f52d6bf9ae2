package postgres_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

func TestMissingRightsNameTheirGrant(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables := []string{`"core"."roles"`, `"core"."roles"`, `"core"."roles"`}
	roles, privileges := []string{"harbor_read", "harbor_write", "harbor_write"}, []string{"SELECT", "SELECT", "UPDATE"}
	ask := func() []string {
		list, err := postgres.MissingRights(t.Context(), db.Owner, roles, tables, privileges)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := ask(); len(list) != 0 {
		t.Errorf("nothing is missing, and yet: %v", list)
	}
	for _, statement := range []string{`REVOKE UPDATE ON core.roles FROM harbor_write`, `REVOKE USAGE ON SCHEMA core FROM harbor_read`} {
		if _, err := db.Owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"harbor_read has no USAGE on the schema of core.roles: GRANT USAGE ON SCHEMA core TO harbor_read",
		"harbor_write has no UPDATE on core.roles: GRANT UPDATE ON core.roles TO harbor_write"}
	if list := ask(); !slices.Equal(list, want) {
		t.Errorf("got %q", list)
	}
}
