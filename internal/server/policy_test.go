package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/server"
)

// save stores a policy as the command line does.
func (w *world) save(p record.Policy) error {
	w.t.Helper()
	registry, harbor := w.db.Registry(w.t), w.harbor()
	return pgx.BeginFunc(w.t.Context(), w.db.Owner, func(tx pgx.Tx) error { return policy.Save(w.t.Context(), tx, registry, harbor, p) })
}

func (w *world) saved(p record.Policy) {
	w.t.Helper()
	if err := w.save(p); err != nil {
		w.t.Fatalf("%+v: %v", p, err)
	}
}

func (w *world) harbor() id.Workspace {
	w.t.Helper()
	var harbor id.Workspace
	if err := w.db.Owner.QueryRow(w.t.Context(), `SELECT id FROM countersign.workspaces WHERE slug = 'harbor-mill'`).Scan(&harbor); err != nil {
		w.t.Fatal(err)
	}
	return harbor
}

// row stores a policy past all that looks at it.
func (w *world) row(p record.Policy) {
	w.t.Helper()
	w.exec(`INSERT INTO countersign.policies (id, workspace_id, entity, operation, tool, switched_off, preview_only, approvals, approver, fields, bulk_cap, lifetime, roles)
		SELECT gen_random_uuid(), id, nullif($1, ''), nullif($2, ''), nullif($3, ''), $4, $5, nullif($6, 0), nullif($7, ''), $8, nullif($9, 0), nullif($10, interval '0'), $11 FROM countersign.workspaces WHERE slug = 'harbor-mill'`,
		p.Entity, string(p.Operation), p.Tool, p.SwitchedOff, p.PreviewOnly, p.Approvals, p.Approver, p.Fields, p.BulkCap, time.Duration(p.Lifetime)*time.Second, p.Roles)
}

func (w *world) cleared() { w.exec(`DELETE FROM countersign.policies`) }

const made = "proposeChange.result."

// refusedAs wants a proposal to be refused.
func (a *answer) refusedAs(code string, field any) {
	a.t.Helper()
	if len(a.Errors) > 0 || a.at(made+"__typename") != "ProposalRefused" || a.at(made+"code") != code || a.at(made+"field") != field {
		a.t.Errorf("want %s of %v, got %s", code, field, a.raw)
	}
}

// wish are changes that nobody has proposed yet.
type wish struct {
	*client
	n int
}

func (c *wish) other() string { c.n++; return fmt.Sprintf("name %d", c.n) }

func (c *wish) update() *answer {
	return c.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": c.other()}}})
}

func (c *wish) create() *answer {
	return c.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": c.other()}}})
}

func (c *wish) many() *answer {
	return c.gql(propose, vars{"in": vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"notes": c.other()}}})
}

func (c *wish) act() *answer {
	c.n++
	return c.client.act("mrp.production_order", "mrp.adjust_order", vars{"order": "PO-1042", "quantity": 100 + c.n})
}

func TestAPolicyHoldsForTheVeryNextCallOnEveryServer(t *testing.T) {
	t.Parallel()
	stands := func(a *answer) {
		a.t.Helper()
		a.want(vars{made + "status": "PENDING", made + "requiresApproval": false})
		a.lacks("PREVIEW_ONLY")
	}
	refusal := func(code string, field any) func(*answer) {
		return func(a *answer) { a.t.Helper(); a.refusedAs(code, field) }
	}
	shows := func(path string, value any) func(*answer) {
		return func(a *answer) { a.t.Helper(); a.want(vars{made + path: value}) }
	}
	for how, flip := range map[string]func(*world, record.Policy){"by a row": (*world).row, "saved": (*world).saved} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := &wish{client: w.signIn("maria@harbor.example")}
			urls := []string{w.url, w.serve()}
			calls := 0
			call := func(do func(*wish) *answer) *answer { // every call on the other server
				maria.url = urls[calls%2]
				calls++
				return do(maria)
			}
			for _, c := range []struct {
				name   string
				policy record.Policy
				do     func(*wish) *answer
				then   func(*answer)
			}{
				{"an operation off", record.Policy{Entity: "core.role", Operation: record.Update, SwitchedOff: true}, (*wish).update, refusal("SWITCHED_OFF", nil)},
				{"a tool off", record.Policy{Tool: "core_role_update", SwitchedOff: true}, (*wish).update, refusal("SWITCHED_OFF", nil)},
				{"an entity off", record.Policy{Entity: "core.role", SwitchedOff: true}, (*wish).create, refusal("SWITCHED_OFF", nil)},
				{"an action off", record.Policy{Tool: "mrp.adjust_order", SwitchedOff: true}, (*wish).act, refusal("SWITCHED_OFF", nil)},
				{"a change of one off, of many", record.Policy{Entity: "mrp.production_order", Operation: record.Update, SwitchedOff: true}, (*wish).many, refusal("SWITCHED_OFF", nil)},
				{"the tool of a change of one off, of many", record.Policy{Tool: "mrp_production_order_update", SwitchedOff: true}, (*wish).many, refusal("SWITCHED_OFF", nil)},
				{"reading off", record.Policy{Entity: "core.role", Operation: record.Get, SwitchedOff: true}, (*wish).update, refusal("SWITCHED_OFF", nil)},
				{"reading off, of an action", record.Policy{Entity: "mrp.production_order", Operation: record.Get, SwitchedOff: true}, (*wish).act, refusal("SWITCHED_OFF", nil)},
				{"reading for fewer", record.Policy{Entity: "core.role", Operation: record.Get, Roles: []string{"operator"}}, (*wish).update, refusal("NOT_OFFERED", nil)},
				{"for fewer", record.Policy{Entity: "core.role", Operation: record.Update, Roles: []string{"operator"}}, (*wish).update, refusal("NOT_OFFERED", nil)},
				{"fewer fields", record.Policy{Entity: "core.role", Operation: record.Update, Fields: []string{"description"}}, (*wish).update, refusal("FIELD_NOT_WRITABLE", "name")},
				{"fewer fields, of what is made", record.Policy{Entity: "core.role", Fields: []string{"description"}}, (*wish).create, refusal("FIELD_NOT_WRITABLE", "name")},
				{"fewer at once", record.Policy{Entity: "mrp.production_order", Operation: record.BulkUpdate, BulkCap: 1}, (*wish).many, refusal("TOO_MANY_RECORDS", nil)},
				{"a preview", record.Policy{Entity: "core.role", PreviewOnly: true}, (*wish).update, shows("warnings.0.code", "PREVIEW_ONLY")},
				{"a preview of many", record.Policy{Entity: "mrp.production_order", Operation: record.BulkUpdate, PreviewOnly: true}, (*wish).many, shows("warnings.0.code", "PREVIEW_ONLY")},
				{"a preview of an action", record.Policy{Tool: "mrp_adjust_order", PreviewOnly: true}, (*wish).act, shows("warnings.0.code", "PREVIEW_ONLY")},
				{"approval", record.Policy{Entity: "core.role", Operation: record.Update, Approvals: 2}, (*wish).update, shows("approval.needed", 2)},
				{"approval of what an action writes", record.Policy{Entity: "mrp.production_order", Operation: record.Update, Approvals: 1}, (*wish).act, shows("requiresApproval", true)},
			} {
				stands(call(c.do))
				flip(w, c.policy)
				t.Log(c.name) // for what fails next
				for range 2 {
					c.then(call(c.do))
				}
				w.cleared()
				stands(call(c.do))
			}
			flip(w, record.Policy{Entity: "core.role", Lifetime: 60})
			call((*wish).update)
			if got := w.sql(`SELECT lifetime || ' ' || (expires_at - created_at) FROM countersign.proposals ORDER BY number DESC LIMIT 1`); got != "00:01:00 00:01:00" {
				t.Errorf("it lives %s", got)
			}
			if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
				t.Errorf("the role is called %s", got)
			}
			w.invariants()
		})
	}
}

// What a card says and what policies say later: the stricter holds.
func TestWhatWasProposedBeforeIsDecidedUnderThePoliciesOfNow(t *testing.T) {
	t.Parallel()
	w := start(t)
	urls := []string{w.url, w.serve()}
	maria, jonas := &wish{client: w.signIn("maria@harbor.example")}, w.signIn("jonas@harbor.example")
	const decided = "confirmProposal.result."
	failed := func(code string) vars { return vars{decided + "status": "FAILED", decided + "failure.code": code} }
	for i, c := range []struct {
		name        string
		before, now *record.Policy
		do          func(*wish) *answer
		want        vars // nil: FORBIDDEN, and nothing is claimed
	}{
		{"switched off", nil, &record.Policy{Entity: "core.role", Operation: record.Update, SwitchedOff: true}, (*wish).update, failed("SWITCHED_OFF")},
		{"the tool switched off", nil, &record.Policy{Tool: "core_role_update", SwitchedOff: true}, (*wish).update, failed("SWITCHED_OFF")},
		{"the action switched off", nil, &record.Policy{Tool: "mrp_adjust_order", SwitchedOff: true}, (*wish).act, failed("SWITCHED_OFF")},
		{"what the action writes switched off", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.Update, SwitchedOff: true}, (*wish).act, failed("SWITCHED_OFF")},
		{"a field closed that the action writes", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.Update, Fields: []string{"priority"}}, (*wish).act, failed("SWITCHED_OFF")},
		{"what the action writes only previewed", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.Update, PreviewOnly: true}, (*wish).act, failed("SWITCHED_OFF")},
		{"a field closed", nil, &record.Policy{Entity: "core.role", Operation: record.Update, Fields: []string{"description"}}, (*wish).update, failed("SWITCHED_OFF")},
		{"a field closed of what is made", nil, &record.Policy{Entity: "core.role", Operation: record.Create, Fields: []string{"description"}}, (*wish).create, failed("SWITCHED_OFF")},
		{"another field closed", nil, &record.Policy{Entity: "core.role", Operation: record.Update, Fields: []string{"name"}}, (*wish).update, vars{decided + "status": "APPLIED"}},
		{"only previewed", nil, &record.Policy{Entity: "core.role", Operation: record.Update, PreviewOnly: true}, (*wish).update, failed("SWITCHED_OFF")},
		{"only previewed, of many", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.BulkUpdate, PreviewOnly: true}, (*wish).many, failed("SWITCHED_OFF")},
		{"no longer only previewed", &record.Policy{Entity: "core.role", PreviewOnly: true}, nil, (*wish).update, vars{decided + "status": "APPLIED", decided + "appliedPreviewOnly": true}},
		{"a lower cap", nil, &record.Policy{Entity: "mrp.production_order", BulkCap: 1}, (*wish).many, failed("SWITCHED_OFF")},
		{"reading switched off", nil, &record.Policy{Entity: "core.role", Operation: record.Get, SwitchedOff: true}, (*wish).update, failed("RECORD_UNREADABLE")},
		{"approval required", nil, &record.Policy{Entity: "core.role", Operation: record.Update, Approvals: 1}, (*wish).update, vars{decided + "status": "AWAITING_APPROVAL", decided + "approval.needed": 1}},
		{"approval of what the action writes", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.Update, Approvals: 1}, (*wish).act, vars{decided + "status": "AWAITING_APPROVAL"}},
		{"no longer required", &record.Policy{Entity: "core.role", Operation: record.Update, Approvals: 1}, nil, (*wish).update, vars{decided + "status": "AWAITING_APPROVAL", decided + "approval.needed": 1}},
		{"for fewer, who own it", nil, &record.Policy{Entity: "core.role", Operation: record.Update, Roles: []string{"operator"}}, (*wish).update, failed("NOT_PERMITTED")},
		{"for fewer, who share it", nil, &record.Policy{Entity: "mrp.production_order", Operation: record.BulkUpdate, Roles: []string{"operator"}}, (*wish).many, nil},
	} {
		t.Log(c.name)
		if c.before != nil {
			w.saved(*c.before)
		}
		maria.url = urls[i%2]
		a := c.do(maria)
		a.want(vars{made + "status": "PENDING"})
		which, fingerprint := a.text(made+"id"), a.text(made+"fingerprint")
		records := `SELECT (SELECT string_agg(r::text, ' ' ORDER BY id) FROM core.roles r) || (SELECT string_agg(o::text, ' ' ORDER BY id) FROM mrp.production_orders o)`
		before := w.sql(records)
		w.cleared()
		if c.now != nil {
			w.row(*c.now)
		}
		maria.url = urls[(i+1)%2]
		confirmed := maria.confirm(which, fingerprint)
		if c.want == nil {
			confirmed.refused("FORBIDDEN")
			maria.gql(show, vars{"id": which}).want(vars{"proposal.status": "PENDING", "proposal.decisions": []any{}})
			maria.gql(withdraw, vars{"in": vars{"id": which}})
		} else {
			confirmed.want(c.want)
		}
		if after := w.sql(records); (after != before) != (c.want != nil && c.want[decided+"status"] == "APPLIED" && c.want[decided+"appliedPreviewOnly"] == nil) {
			t.Errorf("the records were %s and are %s", before, after)
		}
		if c.want != nil && c.want[decided+"status"] == "AWAITING_APPROVAL" {
			jonas.approve(which, fingerprint).want(vars{"approveProposal.result.status": "APPLIED"})
		}
		w.cleared()
	}
	w.invariants()
}

// Switched off between a confirm and its approval.
func TestAnApprovalGoesByThePoliciesOfNowToo(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, jonas, aiko := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example"), w.signIn("aiko@harbor.example")
	id, fingerprint := maria.waiting(w.spare())
	w.saved(record.Policy{Entity: "core.role", Operation: record.Delete, Approvals: 2})
	jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "AWAITING_APPROVAL", "approveProposal.result.approval.needed": 2})
	w.saved(record.Policy{Entity: "core.role", Operation: record.Delete, SwitchedOff: true})
	aiko.approve(id, fingerprint).want(vars{"approveProposal.result.status": "FAILED", "approveProposal.result.failure.code": "SWITCHED_OFF"})
	if w.there("906") != "1" {
		t.Error("the role is gone")
	}
	w.invariants()
}

func TestAShorterLifeEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy record.Policy
		do     func(*wish) *answer
		ends   bool
	}{
		"of the entity":             {record.Policy{Entity: "core.role", Lifetime: 60}, (*wish).update, true},
		"of the operation":          {record.Policy{Entity: "core.role", Operation: record.Update, Lifetime: 60}, (*wish).update, true},
		"of another":                {record.Policy{Entity: "core.role", Operation: record.Create, Lifetime: 60}, (*wish).update, false},
		"of the tool":               {record.Policy{Tool: "core_role_update", Lifetime: 60}, (*wish).update, true},
		"of the tool that does one": {record.Policy{Tool: "mrp_production_order_update", Lifetime: 60}, (*wish).many, true},
		"of the action":             {record.Policy{Tool: "mrp_adjust_order", Lifetime: 60}, (*wish).act, true},
		"of what it is about":       {record.Policy{Entity: "mrp.production_order", Lifetime: 60}, (*wish).act, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, func(c *server.Config) { c.TimersOff = true })
			maria := &wish{client: w.signIn("maria@harbor.example")}
			a := c.do(maria)
			id, fingerprint := a.text(made+"id"), a.text(made+"fingerprint")
			w.exec(`UPDATE countersign.proposals SET extended_at = created_at - interval '61 seconds'`) // as if it were older
			w.saved(c.policy)
			status, typename, n := "EXPIRED", "AlreadyDecided", 0
			if !c.ends {
				status, typename, n = "PENDING", "Proposal", 1
			}
			maria.gql(`query($id: ID!) { proposal(id: $id) { status } proposals { edges { node { status } } } actionableCount }`, vars{"id": id}).
				want(vars{"proposal.status": status, "proposals.edges.0.node.status": status, "actionableCount": n})
			maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": typename})
			if !c.ends {
				return
			}
			maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "EXPIRED"})
			if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`) + w.sql(`SELECT quantity FROM mrp.production_orders WHERE order_number = 'PO-1042' AND site = 'harbor-mill'`); got != "editor480" {
				t.Errorf("the records are %s", got)
			}
		})
	}
}

// A row gives nothing, whatever it says, and is not saved where it would.
func TestARowThatWouldWidenGivesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, sam := &wish{client: w.signIn("maria@harbor.example")}, &wish{client: w.signIn("sam@harbor.example")}
	w.orders(101, "3")
	everybody := []string{"member", "approver", "operator", "auditor"}
	for _, c := range []struct {
		policy record.Policy
		part   string
		do     func() *answer
		then   func(*answer)
	}{
		{record.Policy{Entity: "core.user", Operation: record.Update, Roles: everybody, Fields: []string{"name"}}, "operation",
			func() *answer {
				return maria.gql(propose, vars{"in": vars{"entity": "core.user", "operation": "UPDATE", "recordId": "1", "changes": vars{"name": "x"}}})
			}, func(a *answer) { a.refusedAs("NOT_OFFERED", nil) }},
		{record.Policy{Tool: "core_role_approve", Roles: everybody}, "tool",
			func() *answer {
				return maria.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "ACTION", "action": "core.role_approve", "input": vars{}}})
			}, func(a *answer) { a.refusedAs("NOT_OFFERED", nil) }},
		{record.Policy{Entity: "core.role", Operation: record.Update, Roles: everybody}, "roles", sam.update, func(a *answer) { a.refusedAs("NOT_OFFERED", nil) }},
		{record.Policy{Entity: "mrp.production_order", Operation: record.Update, Fields: []string{"status", "notes"}}, "fields",
			func() *answer {
				return maria.gql(propose, vars{"in": vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "3", "changes": vars{"status": "released"}}})
			}, func(a *answer) { a.refusedAs("FIELD_NOT_WRITABLE", "status") }},
		{record.Policy{Entity: "mrp.production_order", BulkCap: 10000}, "bulk_cap", maria.many, func(a *answer) { a.refusedAs("TOO_MANY_RECORDS", nil) }},
		{record.Policy{Entity: "mrp.production_order", Lifetime: 86400}, "lifetime",
			func() *answer { id, _ := maria.order("PO-1040", 1); return maria.gql(show, vars{"id": id}) }, func(*answer) {
				if got := w.sql(`SELECT lifetime || ' ' || (expires_at - created_at) FROM countersign.proposals ORDER BY number DESC LIMIT 1`); got != "00:30:00 00:30:00" {
					t.Errorf("it lives %s", got)
				}
			}},
		{record.Policy{Tool: "mrp.adjust_order", Lifetime: 86400}, "", maria.act, func(*answer) {
			if got := w.sql(`SELECT lifetime || ' ' || (expires_at - created_at) FROM countersign.proposals ORDER BY number DESC LIMIT 1`); got != "00:30:00 00:30:00" {
				t.Errorf("an action's lives %s", got)
			}
		}},
		{record.Policy{Entity: "core.role", Operation: record.Delete, Approvals: 1, Approver: "member"}, "approver",
			func() *answer { id, _ := maria.remove(w.spare()); return maria.gql(show, vars{"id": id}) }, func(a *answer) {
				a.want(vars{"proposal.approval.needed": 1})
				if got := w.sql(`SELECT approver_role FROM countersign.proposals ORDER BY number DESC LIMIT 1`); got != "approver" {
					t.Errorf("it is approved by %ss", got)
				}
			}},
	} {
		refused := (*record.NotNarrower)(nil)
		if err := w.save(c.policy); c.part != "" && (!errors.As(err, &refused) || refused.Part != c.part) {
			t.Errorf("%+v: %v, want it refused for its %s", c.policy, err, c.part)
		}
		w.cleared()
		w.row(c.policy)
		c.then(c.do())
		w.cleared()
	}
	w.invariants()
}

// To undo and to revise are no other doors.
func TestRevertAndReviseAreNarrowedToo(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	first := maria.applied(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}})
	open, fingerprint := maria.rename("5", "onlooker")
	for _, c := range []struct {
		policy          record.Policy
		revert, revises string
		field           any
	}{
		{record.Policy{Entity: "core.role", Operation: record.Update, SwitchedOff: true}, "NOT_OFFERED", "SWITCHED_OFF", nil},
		{record.Policy{Tool: "core_role_update", SwitchedOff: true}, "NOT_OFFERED", "SWITCHED_OFF", nil},
		{record.Policy{Entity: "core.role", Operation: record.Get, SwitchedOff: true}, "NOT_OFFERED", "NOT_OFFERED", nil},
		{record.Policy{Entity: "core.role", Operation: record.Update, Roles: []string{"operator"}}, "NOT_OFFERED", "NOT_OFFERED", nil},
		{record.Policy{Entity: "core.role", Operation: record.Update, Fields: []string{"description"}}, "FIELD_NOT_WRITABLE", "FIELD_NOT_WRITABLE", "name"},
	} {
		w.row(c.policy)
		maria.revert(first).wantNoRevert(c.revert, c.field)
		a := maria.revise(open, fingerprint, vars{"name": "watcher"})
		if len(a.Errors) > 0 || a.at("reviseProposal.result.code") != c.revises || a.at("reviseProposal.result.field") != c.field {
			t.Errorf("revised under %+v: %s", c.policy, a.raw)
		}
		w.cleared()
	}
	w.row(record.Policy{Entity: "core.role", Operation: record.Update, Approvals: 1})
	w.row(record.Policy{Entity: "core.role", PreviewOnly: true})
	again, fingerprint := maria.revised(open, fingerprint, vars{"name": "watcher"})
	maria.gql(show, vars{"id": again}).want(vars{"proposal.requiresApproval": true, "proposal.warnings.0.code": "PREVIEW_ONLY"})
	undo, _ := maria.reverted(first)
	maria.gql(show, vars{"id": undo}).want(vars{"proposal.requiresApproval": true, "proposal.warnings.0.code": "PREVIEW_ONLY"})
	maria.confirm(again, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	if got := w.sql(`SELECT string_agg(name, ' ' ORDER BY id) FROM core.roles WHERE id IN (4, 5)`); !strings.HasPrefix(got, "reviewer ") || strings.Contains(got, "watcher") {
		t.Errorf("the roles are %s", got)
	}
	w.invariants()
}

// A call goes by what held when it began, and the next one by what holds then.
func TestAFlipMidwayDoesNotSplitACall(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := &wish{client: w.signIn("maria@harbor.example")}
	_, release := w.hold(`LOCK TABLE core.roles IN ACCESS EXCLUSIVE MODE`)
	w.together(1, 1, func() {
		w.row(record.Policy{Entity: "core.role", SwitchedOff: true, Approvals: 3, PreviewOnly: true, Fields: []string{}, Roles: []string{}})
		release()
	}, func(int) *answer { return maria.update() })[0].want(vars{made + "status": "PENDING", made + "requiresApproval": false, made + "warnings": []any{}})
	if got := w.sql(`SELECT policy_version FROM countersign.audit_events WHERE verb = 'propose'`); got != "0" {
		t.Errorf("the audit trail says it went by version %s", got)
	}
	maria.update().refusedAs("SWITCHED_OFF", nil)
	w.cleared()

	// A decision that has read the policies keeps to them.
	w.row(record.Policy{Entity: "core.role", Operation: record.Create, SwitchedOff: true})
	id, fingerprint := maria.rename("4", "reviewer")
	version := w.sql(`SELECT policy_version FROM countersign.workspaces WHERE slug = 'harbor-mill'`)
	_, release = w.hold(`SELECT FROM core.roles WHERE id = 4 FOR UPDATE`)
	w.together(1, 1, func() {
		w.row(record.Policy{Entity: "core.role", Operation: record.Update, SwitchedOff: true})
		release()
	}, func(int) *answer { return maria.confirm(id, fingerprint) })[0].want(vars{"confirmProposal.result.status": "APPLIED"})
	if got := w.sql(`SELECT policy_version FROM countersign.audit_events WHERE verb = 'confirm'`); got != version {
		t.Errorf("the audit trail says it went by version %s, not %s", got, version)
	}
	w.invariants()
}

// A policy that is being saved is waited for, and then holds; and the other way round.
func TestADecisionWaitsForAPolicyThatIsBeingSaved(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	w.row(record.Policy{Entity: "core.role", Operation: record.Update, Approvals: 1})
	w.exec(`UPDATE countersign.policies SET approvals = NULL, bulk_cap = 1`)
	id, fingerprint := maria.rename("4", "reviewer")
	_, release := w.hold(`UPDATE countersign.policies SET switched_off = true`)
	w.together(1, 1, release, func(int) *answer { return maria.confirm(id, fingerprint) })[0].
		want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "SWITCHED_OFF"})
	if got := w.sql(`SELECT string_agg(verb || ' ' || policy_version, ', ' ORDER BY at) FROM countersign.audit_events WHERE verb IN ('propose', 'confirm')`); got != "propose 2, confirm 3" {
		t.Errorf("the audit trail says %s", got)
	}
	if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
		t.Errorf("the role is called %s", got)
	}
	w.invariants()
}

// Who saves a shorter life takes proposals before policies, as a decision does: neither waits for the other for ever.
func TestASavedLifeAndADecisionDoNotDeadlock(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "reviewer")
	w.saved(record.Policy{Entity: "core.role", Operation: record.Update, Lifetime: 1800})
	decision, release := w.hold(`SELECT FROM countersign.proposals FOR UPDATE`)
	saved := make(chan error)
	go func() { saved <- w.save(record.Policy{Entity: "core.role", Operation: record.Update, Lifetime: 60}) }()
	pgtest.WaitBlocked(t, w.db, 1)
	if _, err := decision.Exec(t.Context(), `SELECT FROM countersign.policies FOR SHARE`); err != nil {
		t.Error(err)
	}
	release()
	if err := <-saved; err != nil {
		t.Error(err)
	}
}

// What is shown follows at once, too.
func TestCapabilitiesFollowPolicies(t *testing.T) {
	t.Parallel()
	w := start(t)
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	offered := func() string {
		t.Helper()
		var lists [2]string
		for i := range urls {
			maria.url = urls[i]
			var list []string
			for _, one := range maria.gql(`{ capabilities { actions { tool requiresApproval } } }`, nil).at("capabilities.actions").([]any) {
				if of := one.(map[string]any); strings.HasPrefix(of["tool"].(string), "core_role") {
					list = append(list, fmt.Sprint(strings.TrimPrefix(of["tool"].(string), "core_role_"), " ", of["requiresApproval"]))
				}
			}
			lists[i] = strings.Join(list, ", ")
		}
		if lists[0] != lists[1] {
			t.Errorf("one server offers %s, the other %s", lists[0], lists[1])
		}
		_, page := maria.get("/capabilities")
		if _, after := maria.get("/assistant"); strings.Contains(page+after, "core_role_update") && !strings.Contains(lists[0], "update") {
			t.Error("the console shows what is off")
		}
		return lists[0]
	}
	const all = "list false, get false, create false, update false, delete true"
	if got := offered(); got != all {
		t.Fatalf("offered are %s", got)
	}
	for _, c := range []struct {
		policy record.Policy
		want   string
	}{
		{record.Policy{Entity: "core.role", Operation: record.Update, SwitchedOff: true}, "list false, get false, create false, delete true"},
		{record.Policy{Tool: "core_role_list", Roles: []string{"operator"}}, "get false, create false, update false, delete true"},
		{record.Policy{Entity: "core.role", Operation: record.Get, SwitchedOff: true}, "list false, create false"},
		{record.Policy{Entity: "core.role", Operation: record.Create, Approvals: 1}, "list false, get false, create true, update false, delete true"},
		{record.Policy{Entity: "core.role", SwitchedOff: true}, ""},
	} {
		w.row(c.policy)
		if got := offered(); got != c.want {
			t.Errorf("under %+v offered are %s, want %s", c.policy, got, c.want)
		}
		w.cleared()
	}
	if got := offered(); got != all {
		t.Errorf("without policies offered are %s", got)
	}
}

// Another workspace's policies are not this one's.
func TestPoliciesAreOfOneWorkspace(t *testing.T) {
	t.Parallel()
	w := start(t)
	olu, maria := w.signIn("olu@othersite.example"), &wish{client: w.signIn("maria@harbor.example")}
	w.saved(record.Policy{Entity: "core.role", SwitchedOff: true})
	maria.update().refusedAs("SWITCHED_OFF", nil)
	olu.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "x"}}}).want(vars{made + "status": "PENDING"})
}
