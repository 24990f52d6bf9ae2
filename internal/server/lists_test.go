package server_test

import (
	"strings"
	"testing"
)

// everyList is every way to ask for proposals, each with a query of its own behind it.
var everyList = map[string]string{
	"the newest":              `proposals(first: 5) { edges { node { headline } } }`,
	"the oldest":              `proposals(last: 5) { edges { node { headline } } }`,
	"the soonest":             `proposals(first: 5, orderBy: EXPIRES_SOONEST) { edges { node { headline } } }`,
	"the last to expire":      `proposals(last: 5, orderBy: EXPIRES_SOONEST) { edges { node { headline } } }`,
	"of the acting user":      `proposals(first: 5, filter: {actingUserId: $u}) { edges { node { headline } } }`,
	"by its id":               `proposal(id: $id) { headline }`,
	"as a node":               `node(id: $id) { ... on Proposal { headline } }`,
	"what is open":            `proposals(first: 5, filter: {status: [PENDING]}) { edges { node { headline } } }`,
	"what is for me":          `proposals(first: 5, filter: {actionable: true}) { edges { node { headline } } }`,
	"what is for me, oldest":  `proposals(last: 5, filter: {actionable: true}) { edges { node { headline } } }`,
	"what is for me, soonest": `proposals(first: 5, filter: {actionable: true}, orderBy: EXPIRES_SOONEST) { edges { node { headline } } }`,
}

// What an entity leaves to its owner is in no list of another member's, and in all of the owner's.
func TestNoListShowsAStrangersProposal(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	id, _ := maria.rename("4", "reviewer")
	of := vars{"u": maria.gql(`{ viewer { user { id } } }`, nil).text("viewer.user.id"), "id": id}
	for name, list := range everyList {
		params := ""
		for _, param := range []string{"$u", "$id"} {
			if strings.Contains(list, param+")") || strings.Contains(list, param+"}") {
				params += param + ": ID! "
			}
		}
		query := `query { ` + list + ` }`
		if params != "" {
			query = `query(` + params + `) { ` + list + ` }`
		}
		if a := maria.gql(query, of); !strings.Contains(a.raw, "reviewer") {
			t.Errorf("%s does not show the owner theirs: %s", name, a.raw)
		}
		if a := paolo.gql(query, of); strings.Contains(a.raw, "reviewer") {
			t.Errorf("%s shows a stranger's: %s", name, a.raw)
		}
	}
	if n := paolo.gql(`{ actionableCount }`, nil).raw; !strings.Contains(n, `"actionableCount":0`) {
		t.Errorf("they are counted: %s", n)
	}
}
