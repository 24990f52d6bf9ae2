package server_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	card = `id number status fingerprint headline entity operation actionKind module tool appliedPreviewOnly requiresApproval channel
		actingUser { name email } expiresAt resolvedAt viewerActions
		summary { record { id label entity } changes { field type from { json text isNull } to { json text isNull } } matchedRecords sampleIds records { edges { node { operation } } } }
		outcome { recordId record affectedRecords } failure { code message field } decisions { kind by { name } fingerprint reason }
		warnings { code } approval { needed } rehearsal { status } supersededBy { id } revertOf { id }`
	propose  = `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { __typename ... on Proposal { ` + card + ` } ... on ProposalRefused { code message field } } } }`
	decide   = `result { __typename ... on Proposal { ` + card + ` } ... on AlreadyDecided { message proposal { status } } ... on CardOutdated { message proposal { fingerprint } } }`
	confirm  = `mutation($in: DecideProposalInput!) { confirmProposal(input: $in) { ` + decide + ` } }`
	reject   = `mutation($in: RejectProposalInput!) { rejectProposal(input: $in) { ` + decide + ` } }`
	withdraw = `mutation($in: WithdrawProposalInput!) { withdrawProposal(input: $in) { ` + decide + ` } }`
	extend   = `mutation($in: ExtendProposalInput!) { extendProposal(input: $in) { ` + decide + ` } }`
	show     = `query($id: ID!) { proposal(id: $id) { ` + card + ` } }`
	ask      = `mutation($c: ID!, $m: String!, $k: String) { sendMessage(input: {conversationId: $c, content: $m, idempotencyKey: $k}) { failure { code message }
		message { id content role status citations { entity recordId label } writes { ` + card + ` } } userMessage { content } } }`
)

// say sends a message in a new conversation.
func (c *client) say(message string) *answer {
	c.w.t.Helper()
	a := c.gql(`mutation { createConversation(input: {}) { conversation { id title } } }`, nil)
	return c.gql(ask, vars{"c": a.text("createConversation.conversation.id"), "m": message})
}

// rename proposes another name for a role and gives the proposal's id and fingerprint.
func (c *client) rename(role, name string) (id, fingerprint string) {
	c.w.t.Helper()
	return c.propose(vars{"entity": "core.role", "operation": "UPDATE", "recordId": role, "changes": vars{"name": name}})
}

func (c *client) propose(in vars) (id, fingerprint string) {
	c.w.t.Helper()
	a := c.gql(propose, vars{"in": in})
	a.want(vars{"proposeChange.result.__typename": "Proposal", "proposeChange.result.status": "PENDING"})
	return a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint")
}

func (c *client) confirm(id, fingerprint string) *answer {
	c.w.t.Helper()
	return c.gql(confirm, vars{"in": vars{"id": id, "fingerprint": fingerprint}})
}

func TestTheMainJob(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")

	said := maria.say("Rename role 4 to reviewer")
	said.want(vars{
		"sendMessage.failure": nil, "sendMessage.message.role": "ASSISTANT", "sendMessage.message.status": "COMPLETE",
		"sendMessage.message.writes.0.status": "PENDING", "sendMessage.message.writes.0.summary.record.id": "4",
		"sendMessage.message.writes.0.summary.changes": []any{vars{"field": "name", "type": "TEXT",
			"from": vars{"json": "editor", "text": "editor", "isNull": false}, "to": vars{"json": "reviewer", "text": "reviewer", "isNull": false}}},
		"sendMessage.message.writes.0.channel": "CHAT", "sendMessage.message.writes.0.actionKind": "record_update",
		"sendMessage.message.writes.0.headline":      `Rename role "editor" to "reviewer"`,
		"sendMessage.message.writes.0.viewerActions": []string{"CONFIRM", "REJECT", "WITHDRAW", "EXTEND", "REVISE"},
		"sendMessage.message.writes.0.outcome":       nil, "sendMessage.message.writes.0.resolvedAt": nil,
	})
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Fatalf("nothing was confirmed, and the role is called %s", name)
	}
	id, fingerprint := said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")

	maria.confirm(id, strings.Repeat("0", 64)).want(vars{"confirmProposal.result.__typename": "CardOutdated", "confirmProposal.result.proposal.fingerprint": fingerprint})
	first := maria.confirm(id, fingerprint)
	first.want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.recordId": "4",
		"confirmProposal.result.outcome.record.name": "reviewer", "confirmProposal.result.outcome.affectedRecords": 1,
		"confirmProposal.result.decisions.0.kind": "CONFIRM", "confirmProposal.result.decisions.0.by.name": "Maria Rossi",
		"confirmProposal.result.decisions.0.fingerprint": fingerprint, "confirmProposal.result.viewerActions": []string{"REVERT"}})
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "reviewer" {
		t.Fatalf("confirmed, and the role is called %s", name)
	}

	w.exec(`UPDATE core.roles SET name = 'somebody else''s' WHERE id = 4`)
	if again := maria.confirm(id, fingerprint); again.raw != first.raw {
		t.Errorf("confirmed again, the answer is another:\n%s\n%s", first.raw, again.raw)
	}
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "somebody else's" {
		t.Errorf("a second confirm wrote %s", name)
	}
	maria.gql(reject, vars{"in": vars{"id": id}}).want(vars{"rejectProposal.result.__typename": "AlreadyDecided", "rejectProposal.result.proposal.status": "APPLIED"})
	if n := w.sql(`SELECT count(*) FROM countersign.audit_events WHERE outcome = 'applied'`); n != "1" {
		t.Errorf("%s audit entries say applied", n)
	}
	w.invariants()
}

func TestARecordThatChangedIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	said := maria.say("Can we push PO-1042 by two days?")
	said.want(vars{"sendMessage.message.writes.0.actionKind": "mrp.adjust_order", "sendMessage.message.writes.0.warnings": []any{vars{"code": "OVERLOAD"}}})
	maria.gql(planned, vars{"id": said.text("sendMessage.message.writes.0.id")}).want(vars{
		"proposal.notices.0": "WC-BREW is then loaded 1020 of 864 minutes on 2 June 2026; now it is 360.",
		"proposal.summary.records.edges.0.node.changes": []any{
			vars{"field": "planned_start", "from": vars{"json": "2026-05-31"}, "to": vars{"json": "2026-06-02"}},
			vars{"field": "planned_finish", "from": vars{"json": "2026-06-02"}, "to": vars{"json": "2026-06-04"}}}})
	w.exec(`UPDATE mrp.production_orders SET notes = 'edited meanwhile' WHERE order_number = 'PO-1042' AND site = 'harbor-mill'`)
	maria.confirm(said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")).want(vars{
		"confirmProposal.result.__typename": "Proposal", "confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "RECORD_CHANGED"})
	if got := w.sql(`SELECT planned_start || ' ' || notes FROM mrp.production_orders WHERE order_number = 'PO-1042' AND site = 'harbor-mill'`); got != "2026-05-31 edited meanwhile" {
		t.Errorf("the order is now: %s", got)
	}
	w.invariants()
}

func TestARecordThatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("7", "helper")
	w.exec(`DELETE FROM core.roles WHERE id = 7`)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "RECORD_GONE"})
	w.exec(`INSERT INTO core.roles (id, site, name) VALUES (901, 'harbor-mill', 'guest')`)
	again, fingerprint := maria.rename("901", "onlooker")
	w.exec(`DELETE FROM core.roles WHERE id = 901`)
	w.exec(`INSERT INTO core.roles (id, site, name) VALUES (901, 'harbor-mill', 'guest')`)
	maria.confirm(again, fingerprint).want(vars{"confirmProposal.result.failure.code": "RECORD_CHANGED"})
	w.invariants()
}

func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, sam := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("sam@harbor.example")
	rosa, olu := w.signIn("rosa@harbor.example"), w.signIn("olu@othersite.example")
	id, fingerprint := maria.rename("4", "reviewer")

	attempts := func(c *client, code string) {
		t.Helper()
		c.gql(show, vars{"id": id}).refused(code)
		c.gql(`query($id: ID!) { node(id: $id) { id } }`, vars{"id": id}).refused(code)
		c.confirm(id, fingerprint).refused(code)
		c.gql(reject, vars{"in": vars{"id": id}}).refused(code)
		c.gql(withdraw, vars{"in": vars{"id": id}}).refused(code)
		c.gql(extend, vars{"in": vars{"id": id}}).refused(code)
		c.gql(`{ proposals { edges { node { id } } } actionableCount }`, nil).want(vars{"proposals.edges": []any{}, "actionableCount": 0})
	}
	attempts(paolo, "FORBIDDEN")
	attempts(olu, "NOT_FOUND")

	sam.gql(show, vars{"id": id}).want(vars{"proposal.status": "PENDING", "proposal.viewerActions": []any{}, "proposal.actingUser.email": nil})
	sam.gql(`{ proposals { edges { node { id } } } }`, nil).want(vars{"proposals.edges.0.node.id": id})
	sam.confirm(id, fingerprint).refused("FORBIDDEN")
	sam.gql(reject, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	sam.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "x"}}}).
		want(vars{"proposeChange.result.code": "NOT_OFFERED"})

	rosa.confirm(id, fingerprint).refused("FORBIDDEN")
	rosa.gql(show, vars{"id": id}).want(vars{"proposal.viewerActions": []string{"REJECT"}, "proposal.actingUser.email": "maria@harbor.example"})
	if n := w.sql(`SELECT count(*) FROM countersign.proposal_decisions`); n != "0" {
		t.Errorf("%s decisions were claimed", n)
	}
	rosa.gql(reject, vars{"in": vars{"id": id, "reason": "not now"}}).want(vars{"rejectProposal.result.status": "REJECTED", "rejectProposal.result.decisions.0.reason": "not now"})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "REJECTED"})
	w.invariants()
}

func TestATokenProposesAndDecidesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	id, fingerprint := token.rename("4", "reviewer")
	token.gql(show, vars{"id": id}).want(vars{"proposal.channel": "API", "proposal.viewerActions": []string{"WITHDRAW"}})
	token.gql(`{ viewer { credential canDecide user { email } } actionableCount }`, nil).want(vars{"viewer.credential": "API_TOKEN", "viewer.canDecide": false, "actionableCount": 0})
	token.confirm(id, fingerprint).refused("FORBIDDEN")
	token.gql(reject, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	token.gql(extend, vars{"in": vars{"id": id}}).refused("FORBIDDEN")
	token.gql(`{ __type(name: "Mutation") { fields { name } } }`, nil).want(vars{"__type.fields": []any{
		vars{"name": "createConversation"}, vars{"name": "sendMessage"}, vars{"name": "proposeChange"}, vars{"name": "withdrawProposal"}, vars{"name": "proposeRevert"}}})

	maria := w.signIn("maria@harbor.example")
	of, _ := maria.rename("5", "onlooker")
	token.gql(withdraw, vars{"in": vars{"id": of}}).refused("FORBIDDEN")
	token.gql(withdraw, vars{"in": vars{"id": id}}).want(vars{"withdrawProposal.result.status": "WITHDRAWN"})
	token.gql(withdraw, vars{"in": vars{"id": id}}).want(vars{"withdrawProposal.result.status": "WITHDRAWN"})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.__typename": "AlreadyDecided"})

	reader := w.as(w.db.APIToken(t, "maria@harbor.example", "read"))
	reader.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "x"}}}).refused("FORBIDDEN")
	if name := w.sql(`SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Errorf("the role is called %s", name)
	}
	w.invariants()
}

func TestNobodyIsAnswered(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, c := range map[string]*client{"nobody": w.as(""), "a made-up token": w.as("csa_x"), "another": w.as("css_" + strings.Repeat("a", 40))} {
		status, body := c.post("/graphql", map[string]any{"query": "{ viewer { role } }"})
		if status != http.StatusUnauthorized || !strings.Contains(string(body), "UNAUTHENTICATED") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestEachProposalIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	update := func(entity, id string, changes vars) vars {
		return vars{"entity": entity, "operation": "UPDATE", "recordId": id, "changes": changes}
	}
	order := func(number string) string {
		return w.sql(`SELECT id FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number = $1`, number)
	}
	for _, c := range []struct {
		name, code, field string
		in                vars
	}{
		{"the current value", "NOTHING_TO_CHANGE", "", update("core.role", "4", vars{"name": "editor"})},
		{"another writing of the same number", "NOTHING_TO_CHANGE", "", update("mrp.production_order", order("PO-1042"), vars{"quantity": "480.000"})},
		{"no field", "NOTHING_TO_CHANGE", "changes", update("core.role", "4", vars{})},
		{"no such record", "RECORD_GONE", "", update("core.role", "4711", vars{"name": "x"})},
		{"no key", "RECORD_GONE", "", update("core.role", "four", vars{"name": "x"})},
		{"another site's record", "RECORD_GONE", "", update("mrp.production_order", w.sql(`SELECT id FROM mrp.production_orders WHERE site = 'other-site' AND order_number = 'PO-1042'`), vars{"priority": 1})},
		{"an unknown field", "INVALID_INPUT", "nome", update("core.role", "4", vars{"nome": "x"})},
		{"a hidden field", "INVALID_INPUT", "unit_cost", update("mrp.production_order", order("PO-1042"), vars{"unit_cost": "1"})},
		{"a field that is not writable", "FIELD_NOT_WRITABLE", "status", update("mrp.production_order", order("PO-1042"), vars{"status": "planned"})},
		{"a wrong type", "INVALID_INPUT", "priority", update("mrp.production_order", order("PO-1042"), vars{"priority": "high"})},
		{"too large", "INVALID_INPUT", "priority", update("mrp.production_order", order("PO-1042"), vars{"priority": 2147483648})},
		{"no date", "INVALID_INPUT", "planned_start", update("mrp.production_order", order("PO-1042"), vars{"planned_start": "2026-02-30"})},
		{"null where there must be a value", "INVALID_INPUT", "name", update("core.role", "4", vars{"name": nil})},
		{"completed", "LOCKED", "", update("mrp.production_order", order("PO-1044"), vars{"quantity": "90"})},
		{"no id", "INVALID_INPUT", "id", vars{"entity": "core.role", "operation": "UPDATE", "changes": vars{"name": "x"}}},
		{"bulk without a filter", "INVALID_INPUT", "where", vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "changes": vars{"priority": 2}}},
		{"a custom action without its input", "INVALID_INPUT", "order", vars{"entity": "mrp.production_order", "operation": "ACTION", "action": "mrp.adjust_order", "input": vars{}}},
		{"read only", "NOT_OFFERED", "", update("core.user", "1", vars{"name": "x"})},
		{"no such entity", "NOT_OFFERED", "", update("core.nothing", "1", vars{"name": "x"})},
	} {
		a := maria.gql(propose, vars{"in": c.in})
		var field any
		if c.field != "" {
			field = c.field
		}
		if a.Data == nil || a.at("proposeChange.result.code") != c.code || a.at("proposeChange.result.field") != field {
			t.Errorf("%s: want %s %s, got %s", c.name, c.code, c.field, a.raw)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.proposals`); n != "0" {
		t.Errorf("%s cards were made", n)
	}
	if n := w.sql(`SELECT count(*) FROM countersign.tool_calls WHERE status = 'refused'`); n != "19" {
		t.Errorf("%s refused calls have a row, want 19", n)
	}
	w.invariants()
}

func TestCreateAndTheRestOfALife(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift", "description": nil}, "note": "asked for by the shift lead"})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.headline": `Create role "night shift"`, "proposal.summary.record": nil,
		"proposal.summary.changes.0.from": nil, "proposal.summary.changes.1.to": vars{"json": nil, "isNull": true, "text": "(null)"}})
	before := maria.gql(show, vars{"id": id}).text("proposal.expiresAt")
	maria.gql(extend, vars{"in": vars{"id": id}}).want(vars{"extendProposal.result.fingerprint": fingerprint})
	once := maria.gql(show, vars{"id": id}).text("proposal.expiresAt")
	maria.gql(extend, vars{"in": vars{"id": id}}).want(vars{"extendProposal.result.expiresAt": once})
	if once <= before {
		t.Errorf("extended from %s to %s", before, once)
	}
	a := maria.confirm(id, fingerprint)
	a.want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.record.name": "night shift"})
	if got := w.sql(`SELECT name || ' at ' || site FROM core.roles WHERE id = $1::text::bigint`, a.text("confirmProposal.result.outcome.recordId")); got != "night shift at harbor-mill" {
		t.Errorf("created: %s", got)
	}
	taken, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "late shift"}})
	w.exec(`INSERT INTO core.roles (site, name) VALUES ('harbor-mill', 'late shift')`)
	maria.confirm(taken, fingerprint).want(vars{"confirmProposal.result.status": "FAILED", "confirmProposal.result.failure.code": "CONSTRAINT_VIOLATION"})
	w.invariants()
}

func TestTheSameKeyAnswersTheSame(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	in := vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "reviewer"}, "idempotencyKey": "once"}
	id, _ := maria.propose(in)
	if again, _ := maria.propose(in); again != id {
		t.Errorf("the same key made %s and %s", id, again)
	}
	in["changes"] = vars{"name": "another"}
	maria.gql(propose, vars{"in": in}).refused("IDEMPOTENCY_MISMATCH")
	c := maria.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, nil).text("createConversation.conversation.id")
	first := maria.gql(ask, vars{"c": c, "m": "Rename role 5 to onlooker", "k": "k"})
	if again := maria.gql(ask, vars{"c": c, "m": "Rename role 5 to onlooker", "k": "k"}); again.text("sendMessage.message.id") != first.text("sendMessage.message.id") {
		t.Error("the same key made another message")
	}
	maria.gql(ask, vars{"c": c, "m": "Rename role 5 to something", "k": "k"}).refused("IDEMPOTENCY_MISMATCH")
	w.invariants()
}
