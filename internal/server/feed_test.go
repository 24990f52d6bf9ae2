package server_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/server"
)

const follow = `query($after: String, $first: Int, $filter: ProposalFilter) { proposalEvents(after: $after, first: $first, filter: $filter) {
	cursor pageInfo { hasNextPage endCursor } edges { cursor node { cursor type status at proposalId actor { name } proposal { id status } } } } }`

// page is a page of the feed.
type page struct {
	Cursor   string
	PageInfo struct{ HasNextPage bool }
	Edges    []struct {
		Cursor string
		Node   struct {
			Cursor, Type, Status, ProposalID string
			Actor                            *struct{ Name string }
			Proposal                         *struct{ ID, Status string }
		}
	}
}

func (p page) types() []string {
	types := []string{}
	for _, e := range p.Edges {
		types = append(types, e.Node.Type)
	}
	return types
}

func (c *client) events(v vars) page {
	c.w.t.Helper()
	a := c.gql(follow, v)
	if len(a.Errors) > 0 {
		c.w.t.Fatal(a.raw)
	}
	var p page
	b, _ := json.Marshal(a.at("proposalEvents"))
	if err := json.Unmarshal(b, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p
}

func (c *client) feedCursor() string {
	c.w.t.Helper()
	return c.gql(`{ feedCursor }`, nil).text("feedCursor")
}

// sequenced returns when every event has its position.
func (w *world) sequenced() {
	w.t.Helper()
	for late := time.Now().Add(patience); w.sql(`SELECT count(*) FROM feed_queue`) != "0"; {
		if time.Now().After(late) {
			w.t.Fatal("events wait for their positions")
		}
	}
}

func timersOff(c *server.Config) { c.TimersOff = true }

func TestTheFeedIsRead(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria, paolo, sam := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("sam@harbor.example")
	before := maria.feedCursor()
	first, fingerprint := maria.rename("4", "reviewer")
	maria.confirm(first, fingerprint)
	second, _ := maria.rename("5", "watcher")
	maria.gql(reject, vars{"in": vars{"id": second}})
	w.sequenced()

	all := maria.events(vars{"after": before})
	if !slices.Equal(all.types(), []string{"PROPOSED", "APPLIED", "PROPOSED", "REJECTED"}) || all.PageInfo.HasNextPage || all.Cursor != all.Edges[3].Cursor {
		t.Fatalf("Maria reads %+v", all)
	}
	if e := all.Edges[1].Node; e.Status != "APPLIED" || e.ProposalID != first || e.Actor == nil || e.Actor.Name != "Maria Rossi" || e.Proposal == nil || e.Proposal.Status != "APPLIED" || e.Cursor != all.Edges[1].Cursor {
		t.Errorf("the second event is %+v", e)
	}
	if auditor := sam.events(vars{"after": before}); len(auditor.Edges) != 4 {
		t.Errorf("the auditor reads %v", auditor.types())
	}
	// Another's cursor moves on where nothing visible happened.
	if others := paolo.events(vars{"after": before}); len(others.Edges) != 0 || others.Cursor != all.Cursor {
		t.Errorf("Paolo reads %v, to %q", others.types(), others.Cursor)
	}
	if olu := w.signIn("olu@othersite.example").events(nil); len(olu.Edges) != 0 || olu.Cursor == "" {
		t.Errorf("another workspace reads %+v", olu)
	}
}

func TestTheFeedIsReadPageByPage(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	for _, name := range []string{"one", "two", "three"} {
		which, _ := maria.rename("4", name)
		maria.gql(reject, vars{"in": vars{"id": which}})
	}
	w.sequenced()
	var types []string
	after := any(nil)
	for more := true; more; {
		p := maria.events(vars{"after": after, "first": 4})
		types, more, after = append(types, p.types()...), p.PageInfo.HasNextPage, p.Cursor
	}
	if !slices.Equal(types, []string{"PROPOSED", "REJECTED", "PROPOSED", "REJECTED", "PROPOSED", "REJECTED"}) {
		t.Errorf("the pages hold %v", types)
	}
	if exact := maria.events(vars{"first": 6}); exact.PageInfo.HasNextPage || len(exact.Edges) != 6 {
		t.Errorf("a page of all six says that there are more: %+v", exact.PageInfo)
	}
	if end := maria.events(vars{"after": after}); len(end.Edges) != 0 || end.Cursor != after || end.Cursor != maria.feedCursor() {
		t.Errorf("at the end: %+v", end)
	}
}

func TestTheFeedIsFiltered(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria, sam := w.signIn("maria@harbor.example"), w.signIn("sam@harbor.example")
	decided, fingerprint := maria.rename("4", "reviewer")
	maria.confirm(decided, fingerprint)
	maria.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": w.sql(`SELECT id FROM mrp.production_orders WHERE order_number = 'PO-1042' AND site = 'harbor-mill'`), "changes": vars{"priority": 1}})
	w.sequenced()
	me := maria.gql(`{ viewer { user { id } } }`, nil).text("viewer.user.id")
	for name, c := range map[string]struct {
		who    *client
		filter vars
		want   []string
	}{
		"none":           {maria, vars{}, []string{"PROPOSED", "APPLIED", "PROPOSED"}},
		"status":         {maria, vars{"status": []string{"APPLIED"}}, []string{"APPLIED"}},
		"no status":      {maria, vars{"status": []string{}}, []string{}},
		"entity":         {maria, vars{"entity": []string{"mrp.production_order"}}, []string{"PROPOSED"}},
		"operation":      {maria, vars{"operation": []string{"DELETE"}}, []string{}},
		"acting user":    {sam, vars{"actingUserId": me}, []string{"PROPOSED", "APPLIED", "PROPOSED"}},
		"actionable":     {maria, vars{"actionable": true}, []string{"PROPOSED"}},
		"not actionable": {maria, vars{"actionable": false}, []string{"PROPOSED", "APPLIED"}},
		"by an auditor":  {sam, vars{"actionable": true}, []string{}},
	} {
		if got := c.who.events(vars{"filter": c.filter}).types(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTheFeedRefuses(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	maria.gql(follow, vars{"after": "nonsense"}).refused("CURSOR_INVALID")
	for _, first := range []int{0, -1, 1001} {
		maria.gql(follow, vars{"first": first}).refused("INVALID_INPUT")
	}
	before := maria.feedCursor()
	which, _ := maria.rename("4", "reviewer")
	w.sequenced()
	gone := maria.events(vars{"after": before})
	w.exec(`DELETE FROM proposals WHERE number = (SELECT max(number) FROM proposals)`)
	maria.gql(follow, vars{"after": before}).refused("CURSOR_EXPIRED")
	if now := maria.events(vars{"after": gone.Cursor}); len(now.Edges) != 0 {
		t.Errorf("%s was deleted, and its events are %+v", which, now)
	}
	if oldest := maria.events(nil); len(oldest.Edges) != 0 || oldest.Cursor != gone.Cursor {
		t.Errorf("from the oldest on: %+v", oldest)
	}
}
