package server_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

const (
	planned = `query($id: ID!) { proposal(id: $id) { notices warnings { code message } summary { changes { field } records { edges { node { operation record { id label } changes { field from { json } to { json } } } } } } } }`
	millOf  = `SELECT string_agg(concat_ws(' ', order_number, trim_scale(quantity), planned_start, planned_finish), '; ' ORDER BY id) FROM mrp.production_orders WHERE site = 'harbor-mill' AND item = 'FG-PALE-20L' AND status = 'planned'`
)

// act proposes a custom action.
func (c *client) act(entity, action string, input vars) *answer {
	c.w.t.Helper()
	return c.gql(propose, vars{"in": vars{"entity": entity, "operation": "ACTION", "action": action, "input": input}})
}

func (c *client) adjust(input vars) (id, fingerprint string) {
	c.w.t.Helper()
	a := c.act("mrp.production_order", "mrp.adjust_order", input)
	a.want(vars{"proposeChange.result.__typename": "Proposal", "proposeChange.result.status": "PENDING", "proposeChange.result.tool": "mrp_adjust_order",
		"proposeChange.result.actionKind": "mrp.adjust_order", "proposeChange.result.operation": "ACTION", "proposeChange.result.entity": "mrp.production_order", "proposeChange.result.module": "mrp"})
	return a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")
}

func TestAnOrderIsMovedWithItsFinish(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.adjust(vars{"order": "PO-1042", "start": "2026-06-02"})
	overloaded := "WC-BREW is then loaded 1020 of 864 minutes on 2 June 2026; now it is 360."
	maria.gql(planned, vars{"id": id}).want(vars{"proposal.summary.changes": []any{}, "proposal.notices": []string{overloaded},
		"proposal.warnings": []any{vars{"code": "OVERLOAD", "message": overloaded}},
		"proposal.summary.records.edges": []any{vars{"node": vars{"operation": "UPDATE", "record": vars{"id": "3", "label": "PO-1042"}, "changes": []any{
			vars{"field": "planned_start", "from": vars{"json": "2026-05-31"}, "to": vars{"json": "2026-06-02"}},
			vars{"field": "planned_finish", "from": vars{"json": "2026-06-02"}, "to": vars{"json": "2026-06-04"}}}}}}})
	if _, page := maria.get("/proposals/" + id); !strings.Contains(page, overloaded) || !strings.Contains(page, "Planned finish") {
		t.Errorf("the console's card does not say it: %s", page)
	}
	if got := w.sql(millOf); got != "PO-1042 480 2026-05-31 2026-06-02" {
		t.Errorf("nothing was confirmed, and the mill is %s", got)
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.appliedPreviewOnly": false,
		"confirmProposal.result.outcome.affectedRecords": 1, "confirmProposal.result.outcome.recordId": "3"})
	if got := w.sql(millOf); got != "PO-1042 480 2026-06-02 2026-06-04" {
		t.Errorf("the mill is %s", got)
	}
	w.invariants()
}

func TestASplitIsAppliedAsOne(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.adjust(vars{"order": "PO-1042", "split": vars{"quantity": 180, "start": "2026-06-08"}})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.headline": `Set quantity of PO-1042 to 300; Create production order "PO-1042-2"`, "proposal.summary.matchedRecords": 2, "proposal.summary.sampleIds": []string{"3"}})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.affectedRecords": 2})
	if got := w.sql(millOf); got != "PO-1042 300 2026-05-31 2026-06-02; PO-1042-2 180 2026-06-08 2026-06-10" {
		t.Errorf("the mill is %s", got)
	}
	if n := w.sql(`SELECT string_agg(type::text, ' ' ORDER BY at) FROM countersign.events`); n != "proposed applied" {
		t.Errorf("the events are %s", n)
	}
	w.invariants()
}

// A part that cannot be made undoes the other: here another order has taken the number since.
func TestASplitThatFailsLeavesBothAlone(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.adjust(vars{"order": "PO-1042", "split": vars{"quantity": 180}})
	w.exec(`UPDATE mrp.production_orders SET order_number = 'PO-1042-2' WHERE order_number = 'PO-1040'`)
	before := w.sql(`SELECT string_agg(xmin::text || quantity::text, ' ' ORDER BY id) FROM mrp.production_orders`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "CONSTRAINT_VIOLATION"})
	if after := w.sql(`SELECT string_agg(xmin::text || quantity::text, ' ' ORDER BY id) FROM mrp.production_orders`); after != before {
		t.Errorf("the rows were %s and are %s", before, after)
	}
	w.invariants()
}

func TestAPreviewIsConfirmedAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	paolo := w.signIn("paolo@harbor.example")
	a := paolo.act("crp.operation", "crp.adjust_schedule", vars{"operation": "PO-1042/10", "day": "2026-06-02"})
	a.want(vars{"proposeChange.result.status": "PENDING", "proposeChange.result.module": "crp", "proposeChange.result.actionKind": "crp.adjust_schedule", "proposeChange.result.appliedPreviewOnly": false,
		"proposeChange.result.warnings": []any{vars{"code": "PREVIEW_ONLY"}, vars{"code": "OVERLOAD"}}})
	id, fingerprint := a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")
	paolo.gql(planned, vars{"id": id}).want(vars{"proposal.notices": []string{
		"WC-BREW is then loaded 0 of 0 minutes on 31 May 2026; now it is 660.", "WC-BREW is then loaded 1020 of 864 minutes on 2 June 2026; now it is 360."}})
	if _, page := paolo.get("/proposals/" + id); !strings.Contains(page, "now it is 660") || !strings.Contains(page, "A preview") {
		t.Errorf("the console's card does not say it: %s", page)
	}
	row := `SELECT concat_ws(' ', xmin, day, work_center_id) FROM crp.operations WHERE id = 7`
	before := w.sql(row)
	paolo.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.appliedPreviewOnly": true,
		"confirmProposal.result.outcome.affectedRecords": 0, "confirmProposal.result.outcome.recordId": nil, "confirmProposal.result.outcome.record": nil,
		"confirmProposal.result.decisions.0.kind": "CONFIRM", "confirmProposal.result.decisions.0.by.name": "Paolo Conti"})
	if after := w.sql(row); after != before {
		t.Errorf("the operation was %s and is %s", before, after)
	}
	w.invariants()
}

// What a preview showed has to hold when it is confirmed, as for any change.
func TestAPreviewOfWhatChangedIsNotConfirmed(t *testing.T) {
	t.Parallel()
	w := start(t)
	paolo := w.signIn("paolo@harbor.example")
	a := paolo.act("crp.operation", "crp.adjust_schedule", vars{"operation": "7", "work_center": "WC-FILL"})
	w.exec(`UPDATE crp.operations SET minutes = 1 WHERE id = 7`)
	paolo.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")).want(vars{
		"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "RECORD_CHANGED", "confirmProposal.result.appliedPreviewOnly": false})
	w.invariants()
}

func TestAnEntityThatIsPreviewOnly(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "  core.role:\n", "  core.role:\n    preview_only: true\n"))
	w.exec(`REVOKE INSERT, UPDATE, DELETE ON core.roles FROM harbor_write`)
	maria := w.signIn("maria@harbor.example")
	row := `SELECT xmin || name FROM core.roles WHERE id = 4`
	before := w.sql(row)
	id, fingerprint := maria.rename("4", "reviewer")
	maria.gql(show, vars{"id": id}).want(vars{"proposal.warnings": []any{vars{"code": "PREVIEW_ONLY"}}, "proposal.appliedPreviewOnly": false})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.appliedPreviewOnly": true, "confirmProposal.result.outcome.affectedRecords": 0})
	if after := w.sql(row); after != before {
		t.Errorf("the role was %s and is %s", before, after)
	}
	created, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	maria.confirm(created, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.appliedPreviewOnly": true})
	if n := w.sql(`SELECT count(*) FROM core.roles WHERE name = 'night shift'`); n != "0" {
		t.Errorf("%s roles were created", n)
	}
	w.invariants()
}

// A server that has come to offer less refuses what was proposed while more was offered.
func TestWhatIsNoLongerOpenForAnActionIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, code string }{
		{"the action is gone", theAction(t), "", "SWITCHED_OFF"},
		{"one of its writes is closed", "[update, create, delete]", "[update]", "SWITCHED_OFF"},
		{"it is for others", "# roles: [MEMBER, APPROVER, OPERATOR]", "roles: [OPERATOR]", "FORBIDDEN"}, // the workspace's: whoever has the right
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria := w.signIn("maria@harbor.example")
			id, fingerprint := maria.adjust(vars{"order": "PO-1042", "split": vars{"quantity": 180}})
			maria.url = w.serve(registryWith(t, c.from, c.to))
			if a := maria.confirm(id, fingerprint); c.code == "FORBIDDEN" {
				a.refused(c.code)
			} else {
				a.want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": c.code})
			}
			if got := w.sql(millOf); got != "PO-1042 480 2026-05-31 2026-06-02" {
				t.Errorf("the mill is %s", got)
			}
			w.invariants()
		})
	}
}

// theAction is what countersign.yaml says of mrp.adjust_order.
func theAction(t *testing.T) string {
	t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, from, _ := strings.Cut(string(yaml), "  mrp.adjust_order:")
	section, _, found := strings.Cut(from, "  crp.adjust_schedule:")
	if !found {
		t.Fatal("the actions of countersign.yaml stand in another order")
	}
	return "  mrp.adjust_order:" + section
}

func TestActionsAreOfferedAsTheRegistrySays(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "# roles: [MEMBER, APPROVER, OPERATOR]", "roles: [APPROVER]"))
	actions := func(email string) string {
		var list []string
		for _, a := range w.signIn(email).gql(`{ capabilities { actions { entity operation kind tool label } } }`, nil).at("capabilities.actions").([]any) {
			if one := a.(vars); one["operation"] == "ACTION" {
				list = append(list, fmt.Sprint(one["entity"], " ", one["kind"], " ", one["tool"], " ", one["label"]))
			}
		}
		return strings.Join(list, "\n")
	}
	move, adjust := "crp.operation WRITE crp_adjust_schedule Propose to move an operation", "mrp.production_order WRITE mrp_adjust_order Propose to adjust a production order"
	for email, want := range map[string]string{"maria@harbor.example": move, "jonas@harbor.example": adjust + "\n" + move, "sam@harbor.example": ""} {
		if got := actions(email); got != want {
			t.Errorf("%s is offered\n%s\nwant\n%s", email, got, want)
		}
	}
	maria := w.signIn("maria@harbor.example")
	maria.act("mrp.production_order", "mrp.adjust_order", vars{"order": "PO-1042", "start": "2026-06-02"}).want(vars{"proposeChange.result.code": "NOT_OFFERED"})
	w.invariants()
}

func TestAnActionIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	action := func(more vars) vars {
		in := vars{"entity": "mrp.production_order", "operation": "ACTION", "action": "mrp.adjust_order", "input": vars{"order": "PO-1042", "start": "2026-06-02"}}
		maps.Copy(in, more)
		return in
	}
	refused := []struct {
		name, code string
		field      any
		in         vars
	}{
		{"no such action", "NOT_OFFERED", nil, action(vars{"action": "mrp.adjust_ordre"})},
		{"no action", "NOT_OFFERED", nil, action(vars{"action": nil})},
		{"another entity", "NOT_OFFERED", nil, action(vars{"entity": "core.role"})},
		{"no input", "INVALID_INPUT", "order", action(vars{"input": nil})},
		{"an input that is no object", "INVALID_INPUT", "input", action(vars{"input": []any{"PO-1042"}})},
		{"an unknown input", "INVALID_INPUT", "confirm", action(vars{"input": vars{"order": "PO-1042", "confirm": true}})},
		{"a bad date", "INVALID_INPUT", "start", action(vars{"input": vars{"order": "PO-1042", "start": "2026-02-30"}})},
		{"a quantity of nothing", "INVALID_INPUT", "quantity", action(vars{"input": vars{"order": "PO-1042", "quantity": 0}})},
		{"a negative quantity", "INVALID_INPUT", "quantity", action(vars{"input": vars{"order": "PO-1042", "quantity": "-1"}})},
		{"an unknown order", "INVALID_INPUT", "order", action(vars{"input": vars{"order": "PO-9999", "start": "2026-06-02"}})},
		{"a completed order", "LOCKED", nil, action(vars{"input": vars{"order": "PO-1044", "quantity": 90}})},
		{"nothing to change", "NOTHING_TO_CHANGE", nil, action(vars{"input": vars{"order": "PO-1042", "start": "2026-05-31"}})},
		{"a record beside it", "INVALID_INPUT", "id", action(vars{"recordId": "3"})},
		{"changes beside it", "INVALID_INPUT", "changes", action(vars{"changes": vars{"priority": 1}})},
		{"an action's input for an update", "INVALID_INPUT", "input", vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "x"}, "input": vars{"order": "PO-1042"}}},
	}
	for _, c := range refused {
		a := maria.gql(propose, vars{"in": c.in})
		if a.Data == nil || a.at("proposeChange.result.code") != c.code || a.at("proposeChange.result.field") != c.field {
			t.Errorf("%s: want %s %v, got %s", c.name, c.code, c.field, a.raw)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s cards were made", n)
	}
	if n := w.sql(`SELECT count(*) FROM countersign.tool_calls WHERE status = 'refused'`); n != strconv.Itoa(len(refused)) {
		t.Errorf("%s refused calls have a row", n)
	}
	w.invariants()
}

func TestAServerDoesNotStartWithAnActionThatIsNotBuilt(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, c := range []struct{ from, to, says string }{
		{"  mrp.adjust_order:", "  mrp.ajust_order:", `there is no action "mrp.ajust_order"; did you mean "mrp.adjust_order"?`},
		{"      item:\n", "", `action mrp.adjust_order needs the field "item" of mrp.production_order, which is not exposed`},
		{"      minutes:\n", "      minutes: { masked: true }\n", `action crp.adjust_schedule needs the field "minutes" of crp.operation, which is not exposed`},
	} {
		config := server.Config{OwnerURL: db.OwnerURL, Logger: slog.New(slog.DiscardHandler)}
		registryWith(t, c.from, c.to)(&config)
		_, err := server.New(t.Context(), config)
		if err == nil || !regexp.MustCompile(`^countersign\.yaml:1[0-9][0-9]: `+regexp.QuoteMeta(c.says)+`$`).MatchString(err.Error()) {
			t.Errorf("%s\n got %v\nwant %s", c.to, err, c.says)
		}
	}
}

// An action can need others' approval too; what awaits it is no preview that was applied.
func TestAnActionCanRequireApproval(t *testing.T) {
	t.Parallel()
	w := start(t, registryWith(t, "    # approval: 1\n", "    approval: 1\n"), func(c *server.Config) {
		c.Registry = bytes.Replace(c.Registry, []byte("  crp.adjust_schedule:"), []byte("  crp.adjust_schedule: { approval: 1 }"), 1)
	})
	maria, jonas := w.signIn("maria@harbor.example"), w.signIn("jonas@harbor.example")
	for _, c := range []struct {
		made    *answer
		preview bool
	}{
		{maria.act("mrp.production_order", "mrp.adjust_order", vars{"order": "PO-1042", "start": "2026-06-02"}), false},
		{maria.act("crp.operation", "crp.adjust_schedule", vars{"operation": "PO-1042/10", "day": "2026-06-02"}), true},
	} {
		c.made.want(vars{"proposeChange.result.requiresApproval": true})
		id, fingerprint := c.made.text("proposeChange.result.id"), c.made.text("proposeChange.result.fingerprint")
		maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL", "confirmProposal.result.appliedPreviewOnly": false})
		jonas.approve(id, fingerprint).want(vars{"approveProposal.result.status": "APPLIED", "approveProposal.result.appliedPreviewOnly": c.preview})
	}
	if got := w.sql(millOf); got != "PO-1042 480 2026-06-02 2026-06-04" {
		t.Errorf("the mill is %s", got)
	}
	if got := w.sql(`SELECT day FROM crp.operations WHERE id = 7`); got != "2026-05-31" {
		t.Errorf("the operation was moved to %s", got)
	}
	w.invariants()
}
