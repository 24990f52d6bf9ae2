package server_test

import (
	"encoding/json"
	"testing"
)

const (
	revise = `mutation($in: ReviseProposalInput!) { reviseProposal(input: $in) { result { __typename ... on Proposal { ` + card + ` revisionOf { id status assistantNote supersededBy { id } summary { changes { field to { json } } } } assistantNote conversation { id } }
		... on ProposalRefused { code message field } } } }`
	inItsPlace = `query($id: ID!) { proposal(id: $id) { status supersededBy { id } decisions { kind by { name } fingerprint } viewerActions } }`
)

func (c *client) revise(id, fingerprint string, changes vars) *answer {
	c.w.t.Helper()
	return c.gql(revise, vars{"in": vars{"id": id, "fingerprint": fingerprint, "changes": changes}})
}

// revised revises, and gives the new proposal's id and fingerprint.
func (c *client) revised(id, fingerprint string, changes vars) (string, string) {
	c.w.t.Helper()
	a := c.revise(id, fingerprint, changes)
	a.want(vars{"reviseProposal.result.__typename": "Proposal", "reviseProposal.result.status": "PENDING"})
	return a.text("reviseProposal.result.id"), a.text("reviseProposal.result.fingerprint")
}

func (a *answer) wantRefusal(code string, field any) {
	a.t.Helper()
	if len(a.Errors) > 0 || a.at("reviseProposal.result.__typename") != "ProposalRefused" || a.at("reviseProposal.result.code") != code || a.at("reviseProposal.result.field") != field {
		a.t.Errorf("want %s of %v, got %s", code, field, a.raw)
	}
}

func TestRevise(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	said := maria.say("Rename role 4 to reviewer")
	first, seen := said.text("sendMessage.message.writes.0.id"), said.text("sendMessage.message.writes.0.fingerprint")

	a := maria.revise(first, seen, vars{"name": "proof reader", "description": nil})
	a.want(vars{
		"reviseProposal.result.status": "PENDING", "reviseProposal.result.channel": "API", "reviseProposal.result.tool": "core_role_update", "reviseProposal.result.actionKind": "record_update",
		"reviseProposal.result.headline":                    `Change name and description of role "editor"`,
		"reviseProposal.result.summary.changes.0.from.json": "editor", "reviseProposal.result.summary.changes.0.to.json": "proof reader",
		"reviseProposal.result.summary.changes.1.to": vars{"json": nil, "text": "(null)", "isNull": true},
		"reviseProposal.result.actingUser.name":      "Maria Rossi", "reviseProposal.result.assistantNote": nil,
		"reviseProposal.result.revisionOf.id": first, "reviseProposal.result.revisionOf.status": "SUPERSEDED",
		"reviseProposal.result.revisionOf.supersededBy.id": a.text("reviseProposal.result.id"),
		"reviseProposal.result.revisionOf.summary.changes": []any{vars{"field": "name", "to": vars{"json": "reviewer"}}},
		"reviseProposal.result.viewerActions":              []string{"CONFIRM", "REJECT", "WITHDRAW", "EXTEND", "REVISE"},
	})
	second, fingerprint := a.text("reviseProposal.result.id"), a.text("reviseProposal.result.fingerprint")
	if fingerprint == seen {
		t.Error("two cards have one fingerprint")
	}
	if a.text("reviseProposal.result.conversation.id") == "" {
		t.Error("the new one is in no conversation")
	}
	maria.gql(inItsPlace, vars{"id": first}).want(vars{"proposal.status": "SUPERSEDED", "proposal.supersededBy.id": second, "proposal.viewerActions": []string{},
		"proposal.decisions": []any{vars{"kind": "SUPERSEDE", "by": vars{"name": "Maria Rossi"}, "fingerprint": seen}}})

	maria.confirm(first, seen).want(vars{"confirmProposal.result.__typename": "AlreadyDecided", "confirmProposal.result.proposal.status": "SUPERSEDED"})
	maria.confirm(second, seen).want(vars{"confirmProposal.result.__typename": "CardOutdated"})
	maria.revise(first, seen, vars{"name": "another"}).wantRefusal("ALREADY_DECIDED", nil)
	if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
		t.Fatalf("nothing was confirmed, and the role is called %s", got)
	}
	maria.confirm(second, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	if got := w.sql(`SELECT name || coalesce(description, ' (null)') FROM core.roles WHERE id = 4`); got != "proof reader (null)" {
		t.Errorf("the role is now: %s", got)
	}
	for what, want := range map[string][2]string{
		"events": {`SELECT string_agg(type::text, ' ' ORDER BY at, type) FROM countersign.events`, "proposed superseded proposed applied"},
		"calls":  {`SELECT string_agg(tool || ' ' || status, ', ' ORDER BY started_at, tool) FROM countersign.tool_calls WHERE tool IN ('supersede', 'revise_proposal')`, "supersede succeeded, revise_proposal succeeded"},
		"audit":  {`SELECT string_agg(verb || ' ' || outcome, ', ' ORDER BY at, verb) FROM countersign.audit_events`, "propose pending, supersede superseded, propose pending, confirm applied"},
	} {
		if got := w.sql(want[0]); got != want[1] {
			t.Errorf("%s: %s, want %s", what, got, want[1])
		}
	}
	w.invariants()
}

// Null, empty, 1 and "1" stay what they are, and what is not given stays as it was proposed.
func TestARevisionKeepsTypes(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`ALTER TABLE core.roles ADD COLUMN extra jsonb DEFAULT 'null', ADD COLUMN level bigint DEFAULT 1, ADD COLUMN flag boolean DEFAULT false`)
	w.url = w.serve(registryWith(t, "      description: { writable: true }\n", "      description: { writable: true }\n      extra: { writable: true }\n      level: { writable: true }\n      flag: { writable: true }\n"))
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4",
		"changes": vars{"description": "", "extra": vars{"a": nil, "b": json.Number("1"), "c": "1", "d": ""}, "level": "9007199254740993", "flag": true}})
	for _, c := range []struct {
		changes vars
		want    string
	}{
		{vars{"name": "one"}, `{"flag": true, "name": "one", "extra": {"a": null, "b": 1, "c": "1", "d": ""}, "level": "9007199254740993", "description": ""}`},
		{vars{"extra": json.Number("1")}, `{"flag": true, "name": "one", "extra": 1, "level": "9007199254740993", "description": ""}`},
		{vars{"extra": "1"}, `{"flag": true, "name": "one", "extra": "1", "level": "9007199254740993", "description": ""}`},
		{vars{"extra": "", "description": " "}, `{"flag": true, "name": "one", "extra": "", "level": "9007199254740993", "description": " "}`},
		{vars{"extra": []any{nil, 1, "1", ""}}, `{"flag": true, "name": "one", "extra": [null, 1, "1", ""], "level": "9007199254740993", "description": " "}`},
		{vars{"description": nil, "extra": nil, "level": json.Number("2")}, `{"flag": true, "name": "one", "extra": "SQL NULL", "level": "2", "description": "SQL NULL"}`},
		{vars{"flag": false, "level": "3"}, `{"name": "one", "extra": "SQL NULL", "level": "3", "description": "SQL NULL"}`}, // false it is now
		{vars{"name": "one"}, `{"name": "one", "extra": "SQL NULL", "level": "3", "description": "SQL NULL"}`},
	} {
		id, fingerprint = maria.revised(id, fingerprint, c.changes)
		if got := w.sql(`SELECT jsonb_object_agg(c ->> 'field', coalesce(c -> 'to' -> 'json', '"SQL NULL"')) FROM countersign.proposal_records r, jsonb_array_elements(r.changes) c
			WHERE r.proposal_id = (SELECT id FROM countersign.proposals WHERE status = 'pending')`); got != c.want {
			t.Errorf("after %v: %s, want %s", c.changes, got, c.want)
		}
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	if got := w.sql(`SELECT name || ' ' || (extra IS NULL) || ' ' || level || ' ' || (description IS NULL) || ' ' || flag FROM core.roles WHERE id = 4`); got != "one true 3 true false" {
		t.Errorf("the role is now %s", got)
	}
	w.invariants()
}

func TestARevisionOfACreateAndOfManyRecords(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.propose(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	id, fingerprint = maria.revised(id, fingerprint, vars{"description": "Works at night"})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.headline": `Create role "night shift"`, "proposal.summary.changes.1.to.json": "Works at night"})
	id, fingerprint = maria.revised(id, fingerprint, vars{"name": "late shift"})
	done := maria.confirm(id, fingerprint)
	done.want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.record.name": "late shift", "confirmProposal.result.outcome.record.description": "Works at night"})

	id, fingerprint = maria.propose(vars{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": vars{"status": "released"}, "changes": vars{"priority": 2, "notes": "hurry"}})
	w.exec(`UPDATE mrp.production_orders SET status = 'released' WHERE order_number = 'PO-1042'`) // it would match now, and is not among them
	id, fingerprint = maria.revised(id, fingerprint, vars{"priority": 4})
	maria.gql(`query($id: ID!) { proposal(id: $id) { headline summary { matchedRecords where changes { field to { json } } } } }`, vars{"id": id}).want(vars{
		"proposal.headline": "Change priority and notes of 2 production orders", "proposal.summary.matchedRecords": 2, "proposal.summary.where": vars{"status": "released"},
		"proposal.summary.changes": []any{vars{"field": "priority", "to": vars{"json": 4}}, vars{"field": "notes", "to": vars{"json": "hurry"}}}})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.outcome.affectedRecords": 2})
	if got := w.sql(`SELECT string_agg(order_number || ' ' || priority || coalesce(' ' || notes, ''), ', ' ORDER BY id) FROM mrp.production_orders WHERE site = 'harbor-mill' AND status = 'released'`); got != "PO-1039 4 hurry, PO-1040 4 hurry, PO-1042 3 Planned to start on a Sunday: check the crew" {
		t.Errorf("the orders are now: %s", got)
	}
	w.invariants()
}

func TestWhatCannotBeRevised(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo, rosa, sam := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("rosa@harbor.example"), w.signIn("sam@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	other := vars{"name": "another"}
	for _, stranger := range []*client{paolo, rosa, sam, w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))} {
		stranger.revise(id, fingerprint, other).refused("FORBIDDEN")
		stranger.revise(id, fingerprint, vars{"nome": 1}).refused("FORBIDDEN") // and not what the values would be answered
	}
	w.signIn("olu@othersite.example").revise(id, fingerprint, other).refused("NOT_FOUND")
	maria.revise(id, "", other).wantRefusal("CARD_OUTDATED", nil)
	maria.revise(id, fingerprint, vars{}).wantRefusal("NOTHING_TO_CHANGE", "changes")
	maria.revise(id, fingerprint, vars{"name": "editor"}).wantRefusal("NOTHING_TO_CHANGE", nil)
	maria.revise(id, fingerprint, vars{"nome": "x"}).wantRefusal("INVALID_INPUT", "nome")
	maria.revise(id, fingerprint, vars{"id": "5"}).wantRefusal("FIELD_NOT_WRITABLE", "id")
	maria.revise(id, fingerprint, vars{"name": nil}).wantRefusal("INVALID_INPUT", "name")
	maria.gql(revise, vars{"in": vars{"id": id, "fingerprint": fingerprint, "changes": []any{"name"}}}).wantRefusal("INVALID_INPUT", "changes")

	twin, _ := maria.rename("4", "another")
	maria.revise(id, fingerprint, other).wantRefusal("NOTHING_TO_CHANGE", nil)
	maria.gql(withdraw, vars{"in": vars{"id": twin}})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "PENDING", "proposal.fingerprint": fingerprint})

	w.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE id = (SELECT id FROM countersign.proposals WHERE status = 'pending')`)
	maria.revise(id, fingerprint, other).wantRefusal("ALREADY_DECIDED", nil)
	maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "EXPIRED"})
	gone, fingerprint := maria.rename("7", "helper")
	w.exec(`DELETE FROM core.roles WHERE id = 7`)
	maria.revise(gone, fingerprint, other).wantRefusal("RECORD_GONE", nil)
	maria.gql(show, vars{"id": gone}).want(vars{"proposal.status": "PENDING"})
	if n := w.sql(`SELECT count(*) FROM countersign.proposals WHERE superseded_by_id IS NOT NULL OR revision_of_id IS NOT NULL`); n != "0" {
		t.Errorf("%s proposals were revised", n)
	}
	w.invariants()
}

// A record that changed since is shown as it is now, and the versions are the new card's own.
func TestARevisionIsOfTheRecordAsItIsNow(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	w.exec(`UPDATE core.roles SET name = 'redactor' WHERE id = 4`)
	id, fingerprint = maria.revised(id, fingerprint, vars{"description": "Reads proofs"})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.summary.changes.0.from.json": "redactor", "proposal.summary.changes.0.to.json": "reviewer"})
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	w.invariants()
}

func TestReviseAgainstConfirm(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.logWrites()
	urls := []string{w.url, w.serve()}
	maria := w.signIn("maria@harbor.example")
	for round := range 6 {
		was := w.sql(`SELECT name FROM core.roles WHERE id = 4`)
		name := "round " + string(rune('a'+round))
		id, fingerprint := maria.rename("4", name)
		_, release := w.hold(`SELECT FROM countersign.proposals WHERE status = 'pending' FOR UPDATE`)
		answers := w.together(8, 8, release, func(i int) *answer {
			c := &client{w: w, url: urls[i%2], token: maria.token}
			if i%4 < 2 {
				return c.confirm(id, fingerprint)
			}
			return c.revise(id, fingerprint, vars{"name": name + " revised"})
		})
		made := 0
		for i, a := range answers {
			if i%4 >= 2 && a.at("reviseProposal.result.__typename") == "Proposal" {
				made++
			}
		}
		status := maria.gql(show, vars{"id": id}).text("proposal.status")
		now := w.sql(`SELECT name FROM core.roles WHERE id = 4`)
		switch {
		case status == "APPLIED" && now == name && made == 0:
		case status == "SUPERSEDED" && now == was && made == 1:
		default:
			t.Errorf("%s ended %s, the role is called %q and was %q, and %d were made of it", name, status, now, was, made)
		}
		if n := w.sql(`SELECT count(*) FROM countersign.proposal_decisions d JOIN countersign.proposals p ON p.id = d.proposal_id WHERE d.final AND p.fingerprint = $1`, fingerprint); n != "1" {
			t.Errorf("%s: %s final decisions", name, n)
		}
		w.exec(`DELETE FROM countersign.proposals`)
	}
}

// Of what the workspace shares, whoever may confirm may revise, and becomes the acting user. The conversation
// stays its owner's.
func TestARevisionOfWhatIsShared(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.url = w.serve(registryWith(t, "    operations: [list, get, update, bulk_update]\n", "    operations: { list: , get: , update: { roles: [MEMBER], approval: 1 }, bulk_update: }\n"))
	maria, paolo, jonas := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example"), w.signIn("jonas@harbor.example")
	talk := maria.gql(`mutation { createConversation(input: {}) { conversation { id } } }`, nil).text("createConversation.conversation.id")
	id, fingerprint := maria.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": "3", "changes": vars{"priority": 1}, "conversationId": talk, "note": "The client waits"})
	jonas.revise(id, fingerprint, vars{"priority": 2}).refused("FORBIDDEN") // an approver, without the right to update
	a := paolo.revise(id, fingerprint, vars{"priority": 2})
	a.want(vars{"reviseProposal.result.actingUser.name": "Paolo Conti", "reviseProposal.result.conversation": nil, "reviseProposal.result.requiresApproval": true,
		"reviseProposal.result.assistantNote": nil, "reviseProposal.result.revisionOf.assistantNote": "The client waits",
		"reviseProposal.result.viewerActions": []string{"CONFIRM", "REJECT", "WITHDRAW", "EXTEND", "REVISE"}})
	next, seen := a.text("reviseProposal.result.id"), a.text("reviseProposal.result.fingerprint")
	maria.gql(inItsPlace, vars{"id": id}).want(vars{"proposal.status": "SUPERSEDED", "proposal.supersededBy.id": next, "proposal.decisions.0.by.name": "Paolo Conti"})
	paolo.confirm(next, seen).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL", "confirmProposal.result.viewerActions": []string{"WITHDRAW"}})
	paolo.revise(next, seen, vars{"priority": 4}).wantRefusal("ALREADY_DECIDED", nil)
	w.invariants()
}

// A revision that the database would refuse is not made, and the first stays as it is.
func TestARevisionIsRehearsed(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	id, fingerprint := maria.rename("4", "reviewer")
	maria.revise(id, fingerprint, vars{"name": "viewer"}).wantRefusal("WOULD_FAIL", "name")
	maria.gql(show, vars{"id": id}).want(vars{"proposal.status": "PENDING"})
	maria.revise(id, fingerprint, vars{"name": "proof reader"}).want(vars{"reviseProposal.result.rehearsal.status": "PASSED"})
	w.invariants()
}
