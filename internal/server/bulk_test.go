package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/server"
)

// A bulk change: which records, what they get, what they have, and which of them refused it.
const (
	bulkCard    = `id number status fingerprint headline operation actionKind summary { matchedRecords sampleIds where record { id } changes { field otherRecords from { text } to { json text } current { records value { text } } } records(first: 3) { edges { cursor node { operation record { id label } changes { field from { json } to { json } } } } pageInfo { hasNextPage endCursor } } } failure { code message records { edges { node { record { id label } } } } } outcome { affectedRecords recordId record }`
	proposeBulk = `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { __typename ... on Proposal { ` + bulkCard + ` } ... on ProposalRefused { code message field } } } }`
	confirmBulk = `mutation($in: DecideProposalInput!) { confirmProposal(input: $in) { result { __typename ... on Proposal { ` + bulkCard + ` } } } }`
)

func (c *client) bulk(where, changes vars) *answer {
	c.w.t.Helper()
	return c.gql(proposeBulk, vars{"in": vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": where, "changes": changes}})
}

func (c *client) confirmBulk(made *answer) *answer {
	c.w.t.Helper()
	return c.gql(confirmBulk, vars{"in": vars{"id": made.text("proposeChange.result.id"), "fingerprint": made.text("proposeChange.result.fingerprint")}})
}

// orders adds released orders, each with the priority given and a number from 2001 on.
func (w *world) orders(n int, priority string) {
	w.t.Helper()
	w.exec(`INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date)
		SELECT 'harbor-mill', 'PO-' || 2000 + i, 'FG-LAGER-20L', 10, 'keg', 'released', `+priority+`, '2026-06-08', '2026-06-09', '2026-06-12' FROM generate_series(1, $1) i`, n)
}

func TestAChangeOfManyRecords(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	made := maria.bulk(vars{"status": "released"}, vars{"priority": 2})
	made.want(vars{
		"proposeChange.result.headline": "Set priority of 2 production orders to 2", "proposeChange.result.operation": "BULK_UPDATE", "proposeChange.result.actionKind": "record_bulk_update",
		"proposeChange.result.summary.matchedRecords": 2, "proposeChange.result.summary.sampleIds": []string{"1", "2"}, "proposeChange.result.summary.record": nil,
		"proposeChange.result.summary.where": vars{"status": "released"},
		"proposeChange.result.summary.changes": []any{vars{"field": "priority", "otherRecords": 0, "from": nil, "to": vars{"json": 2, "text": "2"},
			"current": []any{vars{"records": 1, "value": vars{"text": "3"}}, vars{"records": 1, "value": vars{"text": "5"}}}}},
		"proposeChange.result.summary.records.edges.0.node": vars{"operation": "UPDATE", "record": vars{"id": "1", "label": "PO-1039"},
			"changes": []any{vars{"field": "priority", "from": vars{"json": 3}, "to": vars{"json": 2}}}},
	})
	w.exec(`UPDATE mrp.production_orders SET status = 'released' WHERE order_number = 'PO-1042'`) // it matches now, and is not among them
	maria.confirmBulk(made).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome": vars{"affectedRecords": 2, "recordId": nil, "record": nil}})
	if got := w.sql(`SELECT string_agg(order_number || ' ' || priority, ', ' ORDER BY id) FROM mrp.production_orders WHERE site = 'harbor-mill'`); got != "PO-1039 2, PO-1040 2, PO-1042 3, PO-1044 3" {
		t.Errorf("the orders are %s", got)
	}
	w.invariants()
}

func TestOneThatChangedRefusesTheWholeSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ edit, code, message, names string }{
		"changed":           {`UPDATE mrp.production_orders SET notes = 'x' WHERE id = 2`, "RECORD_CHANGED", "1 of the 2 records are changed after the card was made", `"PO-1040"`},
		"no longer a match": {`UPDATE mrp.production_orders SET status = 'planned' WHERE id = 1`, "RECORD_CHANGED", "1 of the 2", `"PO-1039"`},
		"gone":              {`DELETE FROM mrp.production_orders WHERE id = 1`, "RECORD_GONE", "1 of the 2 records are no longer there", `"PO-1039"`},
		"out of sight":      {`UPDATE mrp.production_orders SET site = 'other-site' WHERE id = 1`, "RECORD_GONE", "1 of the 2", `"PO-1039"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			made := maria.bulk(vars{"status": "released"}, vars{"priority": 2})
			w.exec(c.edit)
			before := w.sql(`SELECT string_agg(xmin::text || ctid::text || o::text, '') FROM mrp.production_orders o`)
			a := maria.confirmBulk(made)
			a.want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": c.code})
			if !strings.Contains(a.text("confirmProposal.result.failure.message"), c.message) {
				t.Errorf("it says %s", a.raw)
			}
			named, _ := json.Marshal(a.at("confirmProposal.result.failure.records.edges"))
			if !strings.Contains(string(named), c.names) || strings.Count(string(named), `"label"`) != 1 {
				t.Errorf("it names %s", named)
			}
			if after := w.sql(`SELECT string_agg(xmin::text || ctid::text || o::text, '') FROM mrp.production_orders o`); after != before {
				t.Error("records were touched")
			}
			w.invariants()
		})
	}
}

// One of the set is being changed by somebody who commits while confirm waits for it.
func TestAnEditThatCommitsWhileASetWaitsIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ edit, status string }{
		"another column": {`UPDATE mrp.production_orders SET notes = 'edited' WHERE id = 2`, "FAILED"},
		"nothing":        {`SELECT FROM mrp.production_orders WHERE id = 2 FOR UPDATE`, "APPLIED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			made := maria.bulk(vars{"status": "released"}, vars{"priority": 2})
			_, release := w.hold(c.edit)
			w.together(1, 1, release, func(int) *answer { return maria.confirmBulk(made) })[0].want(vars{"confirmProposal.result.status": c.status})
			want := map[string]string{"FAILED": "3 5", "APPLIED": "2 2"}[c.status]
			if got := w.sql(`SELECT string_agg(priority::text, ' ' ORDER BY id) FROM mrp.production_orders WHERE id IN (1, 2)`); got != want {
				t.Errorf("the priorities are %s, want %s", got, want)
			}
			w.invariants()
		})
	}
}

func TestSetsThatAreNotProposed(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "bulk_cap: 100", "bulk_cap: 5"))
	maria := w.signIn("maria@harbor.example")
	w.orders(6, "1")
	for name, c := range map[string]struct {
		where, changes vars
		code, field    string
	}{
		"no filter":            {nil, vars{"priority": 2}, "INVALID_INPUT", "where"},
		"an empty filter":      {vars{}, vars{"priority": 2}, "INVALID_INPUT", "where"},
		"nothing matches":      {vars{"order_number": "PO-1"}, vars{"priority": 2}, "NOTHING_TO_CHANGE", ""},
		"they have it already": {vars{"order_number": "PO-2001"}, vars{"priority": 1}, "NOTHING_TO_CHANGE", ""},
		"no values":            {vars{"status": "released"}, vars{}, "NOTHING_TO_CHANGE", "changes"},
		"more than the cap":    {vars{"item": "FG-LAGER-20L"}, vars{"priority": 2}, "TOO_MANY_RECORDS", ""},
		"a completed one":      {vars{"status": "completed"}, vars{"priority": 2}, "LOCKED", ""},
		"a hidden filter":      {vars{"unit_cost": "1"}, vars{"priority": 2}, "INVALID_INPUT", "unit_cost"},
		"an unknown filter":    {vars{"statis": "released"}, vars{"priority": 2}, "INVALID_INPUT", "statis"},
		"a bad value":          {vars{"status": "released"}, vars{"priority": "high"}, "INVALID_INPUT", "priority"},
		"not writable":         {vars{"status": "released"}, vars{"item": "x"}, "FIELD_NOT_WRITABLE", "item"},
	} {
		a := maria.bulk(c.where, c.changes)
		a.want(vars{"proposeChange.result.__typename": "ProposalRefused", "proposeChange.result.code": c.code})
		if got, _ := a.at("proposeChange.result.field").(string); got != c.field {
			t.Errorf("%s: the field is %q: %s", name, got, a.raw)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s proposals were made", n)
	}
	maria.bulk(vars{"item": "FG-LAGER-20L", "order_number": "PO-2003"}, vars{"priority": 2}).want(vars{"proposeChange.result.summary.matchedRecords": 1})
	w.invariants()
}

// A set of ten and one of ten thousand take as many statements, to propose, to read and to confirm.
func TestASetTakesAsManyStatementsAtAnySize(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	// what a rehearsal adds is the same for any number, and as many more where it is cut short
	w := start(t, registryWith(t, "bulk_cap: 100", "rehearse: false\n    bulk_cap: 10000"), func(c *server.Config) { c.Tracer, c.TimersOff = sent, true })
	maria := w.signIn("maria@harbor.example")
	w.orders(10_000, "i % 3 + 4")
	counted := func(do func() *answer) (int64, *answer) {
		before := sent.Load()
		a := do()
		return sent.Load() - before, a
	}
	var before []int64
	for _, set := range []struct {
		where   vars
		records int
	}{{vars{"item": "FG-ALE-20L"}, 10}, {vars{"item": "FG-LAGER-20L"}, 9_990}} {
		if before == nil {
			w.exec(`UPDATE mrp.production_orders SET item = 'FG-ALE-20L' WHERE order_number IN (SELECT 'PO-' || 2000 + i FROM generate_series(1, 10) i)`)
		}
		proposing, made := counted(func() *answer { return maria.bulk(set.where, vars{"priority": 2}) })
		made.want(vars{"proposeChange.result.summary.matchedRecords": set.records})
		reading, _ := counted(func() *answer {
			return maria.gql(`query($id: ID!) { proposal(id: $id) { `+bulkCard+` } }`, vars{"id": made.text("proposeChange.result.id")})
		})
		confirming, a := counted(func() *answer { return maria.confirmBulk(made) })
		a.want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.affectedRecords": set.records})
		now := []int64{proposing, reading, confirming}
		if before != nil && fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("statements to propose, read and confirm: %v for ten, %v for many", before, now)
		}
		before = now
	}
	if n := w.sql(`SELECT count(*) FROM mrp.production_orders WHERE priority = 2 AND site = 'harbor-mill'`); n != "10000" {
		t.Errorf("%s orders have the priority", n)
	}
}

// Every record of a set can be read, page by page, each once.
func TestTheRecordsOfASetInPages(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	w.orders(25, "i % 2 + 5")
	made := maria.bulk(vars{"item": "FG-LAGER-20L"}, vars{"priority": 2})
	seen, after := map[string]bool{}, any(nil)
	for range 20 {
		a := maria.gql(`query($id: ID!, $after: String) { proposal(id: $id) { summary { records(first: 4, after: $after) { edges { node { record { id } } } pageInfo { hasNextPage endCursor } } } } }`,
			vars{"id": made.text("proposeChange.result.id"), "after": after})
		for _, edge := range a.at("proposal.summary.records.edges").([]any) {
			key, _ := json.Marshal(edge)
			seen[string(key)] = true
		}
		if more, _ := a.at("proposal.summary.records.pageInfo.hasNextPage").(bool); !more {
			break
		}
		after = a.text("proposal.summary.records.pageInfo.endCursor")
	}
	if len(seen) != 25 {
		t.Errorf("%d records of 25", len(seen))
	}
	status, page := maria.get("/proposals/" + made.text("proposeChange.result.id") + "/records?after=20")
	if status != 200 || !strings.Contains(page, "Records 21 to 25 of 25") || !strings.Contains(page, "PO-2025") {
		t.Errorf("%d %.3000s", status, page)
	}
}
