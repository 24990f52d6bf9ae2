package pgtest_test

import (
	"testing"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
)

func TestPeopleAndTokensAreReal(t *testing.T) {
	db := pgtest.New(t)
	person := db.Person(t, "maria@harbor.example")
	if !person.Live() || person.Workspace().Slug != "harbor-mill" {
		t.Fatalf("signed in as %+v", person)
	}
	agent := db.Agent(t, "olu@othersite.example", "read")
	if agent.Token().IsZero() || !agent.May(identity.ScopeRead) || agent.May(identity.ScopePropose) || agent.Workspace().Slug != "other-site" {
		t.Fatalf("acts as %+v", agent)
	}
	var signIns int
	if err := db.Owner.QueryRow(t.Context(), `SELECT count(*) FROM sign_ins WHERE id = $1 AND ended_at IS NULL`, person.SignIn()).Scan(&signIns); err != nil || signIns != 1 {
		t.Fatalf("%d sign-ins, %v", signIns, err)
	}
}
