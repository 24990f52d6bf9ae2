package server_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/internal/server"
)

// pattern saves a pattern of Harbor Mill's, as the command line does.
func (w *world) pattern(name, expression string, samples ...string) {
	w.t.Helper()
	if err := policy.AddPattern(w.t.Context(), w.db.Owner, policy.Pattern{Workspace: "harbor-mill", Name: name, Expression: expression, Matches: samples}); err != nil {
		w.t.Fatal(err)
	}
}

// lastInput is what the newest row of a tool call holds of its input.
func (w *world) lastInput() string {
	w.t.Helper()
	return w.sql(`SELECT input FROM countersign.tool_calls WHERE input <> '{}' ORDER BY id DESC LIMIT 1`)
}

func noting(text string) vars {
	return vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"description": text}}
}

// A pattern holds from the next call on, on every server, and is ended the same way; what is read for it is
// read with what the call sends anyway.
func TestAPatternHoldsForTheNextCallOnEveryServer(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	w := start(t, func(c *server.Config) { c.Tracer, c.TimersOff = sent, true })
	other := w.serve(func(c *server.Config) { c.TimersOff = true })
	here := w.signIn("maria@harbor.example")
	there := *here
	there.url = other
	tell := func(c *client, n string) string {
		c.gql(propose, vars{"in": noting("see PO-1042 " + n)}).want(vars{"proposeChange.result.__typename": "Proposal"})
		return w.lastInput()
	}
	for i, who := range []*client{here, &there} {
		if got := tell(who, "before"+string(rune('0'+i))); !strings.Contains(got, "PO-1042") {
			t.Fatalf("no pattern holds, and the row is %s", got)
		}
	}
	before := sent.Load()
	tell(here, "counted")
	usual := sent.Load() - before
	w.pattern("order numbers", `PO-[0-9]+`, "see PO-1042")
	for i, who := range []*client{here, &there, here} {
		if got := tell(who, "after"+string(rune('0'+i))); strings.Contains(got, "PO-1042") || !strings.Contains(got, "see (redacted: order numbers) after") {
			t.Errorf("server %d writes %s", i, got)
		}
	}
	before = sent.Load()
	if tell(here, "again"); sent.Load()-before != usual {
		t.Errorf("a call sends %d statements with a pattern, %d without", sent.Load()-before, usual)
	}
	if n := w.sql(`SELECT count(*) FROM countersign.tool_calls`); n != w.sql(`SELECT count(*) FROM countersign.proposals`) {
		t.Errorf("%s calls have a row", n)
	}
	olu := w.signIn("olu@othersite.example")
	olu.gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "10", "changes": vars{"description": "see PO-1042"}}})
	if got := w.lastInput(); !strings.Contains(got, "PO-1042") {
		t.Errorf("another workspace's pattern redacted %s", got)
	}
	if err := policy.RemovePattern(t.Context(), w.db.Owner, "harbor-mill", "order numbers"); err != nil {
		t.Fatal(err)
	}
	for i, who := range []*client{here, &there} {
		if got := tell(who, "ended"+string(rune('0'+i))); !strings.Contains(got, "PO-1042") {
			t.Errorf("the pattern was ended, and server %d writes %s", i, got)
		}
	}
}

// A copy is for reading: what is proposed, sealed and written is the value itself.
func TestARedactedCopyIsNoIdentity(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pattern("order numbers", `PO-[0-9]+`, "PO-1")
	maria := w.signIn("maria@harbor.example")
	fingerprints, rows := map[string]bool{}, map[string]bool{}
	var last, seal string
	for _, text := range []string{"pay by 4111 1111 1111 1111", "pay by 5500 0000 0000 0004", "see PO-1", "see PO-2"} {
		last, seal = maria.propose(noting(text))
		fingerprints[seal], rows[w.lastInput()] = true, true
		if got := w.sql(`SELECT changes -> 0 -> 'to' ->> 'json' FROM countersign.proposal_records ORDER BY proposal_id DESC LIMIT 1`); got != text {
			t.Errorf("sealed is %s, not %q", got, text)
		}
	}
	if len(fingerprints) != 4 || len(rows) != 2 {
		t.Errorf("%d fingerprints, %d rows that look different: %v", len(fingerprints), len(rows), rows)
	}
	done := maria.confirm(last, seal)
	done.want(vars{"confirmProposal.result.status": "APPLIED", "confirmProposal.result.summary.changes.0.to.text": "see PO-2"}) // people see it
	if got := w.sql(`SELECT description FROM core.roles WHERE id = 4`); got != "see PO-2" {
		t.Errorf("written is %q", got)
	}
	in := noting("the other")
	in["idempotencyKey"] = "pay 4111 1111 1111 1111"
	maria.propose(in)
	in["changes"] = vars{"description": "another"}
	maria.gql(propose, vars{"in": in}).refused("IDEMPOTENCY_MISMATCH")
	in["idempotencyKey"] = "pay 5500 0000 0000 0004"
	maria.propose(in)
}

// A model that read a marker cannot have it written over what it stands for; a person may write what they like.
func TestAMarkerIsNotWrittenBack(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`UPDATE core.roles SET description = 'pays by 4111 1111 1111 1111' WHERE id = 4`)
	maria, token := w.signIn("maria@harbor.example"), w.as(w.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	marked := "pays by (redacted: card number) on Monday"
	token.gql(propose, vars{"in": noting(marked)}).want(vars{"proposeChange.result.code": "INVALID_INPUT"})
	a := maria.say(`Set the description of role 4 to "` + marked + `"`)
	if a.want(vars{"sendMessage.message.writes": []any{}}); !strings.Contains(a.text("sendMessage.message.content"), "stands for what was left out") {
		t.Errorf("the assistant says %s", a.raw)
	}
	maria.propose(noting(marked))
}

// What a model reads of a record is redacted; what people are shown of it is not.
func TestAModelReadsNoSecret(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pattern("order numbers", `PO-[0-9]+`, "PO-1")
	w.exec(`UPDATE mrp.production_orders SET notes = 'paid by 4111 1111 1111 1111, see PO-77' WHERE order_number = 'PO-1042'`)
	maria := w.signIn("maria@harbor.example")
	a := maria.say("Which orders are released?")
	said := a.text("sendMessage.message.content")
	for _, secret := range []string{"4111 1111", "PO-"} {
		if strings.Contains(a.raw, secret) {
			t.Errorf("%s is in the answer: %s", secret, a.raw)
		}
	}
	if !strings.Contains(said, "(redacted: order numbers)") {
		t.Errorf("the answer: %s", said)
	}
	key := w.sql(order)
	id, _ := maria.propose(vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": key, "changes": vars{"priority": 7}})
	maria.gql(show, vars{"id": id}).want(vars{"proposal.summary.record.label": "PO-1042"})
}

// What a socket cannot take it does not repeat either.
func TestASocketRepeatsNoSecret(t *testing.T) {
	t.Parallel()
	log := &logged{}
	w := start(t, keeps(log))
	const secret = "cst_5up3r53cr3t"
	token := w.db.Bearer(t, "maria@harbor.example")
	for name, payload := range map[string]string{
		"a field": `{"query": "{ viewer { ` + secret + ` } }"}`, "a value": `{"query": "{ proposals(first: \"` + secret + `\") { edges { cursor } } }"}`, "a variable": `{"query": "query($n: Int!) { proposals(first: $n) { edges { cursor } } }", "variables": {"n": "` + secret + `"}}`,
		"a cursor": `{"query": "subscription { proposalEvents(after: \"` + secret + `\") { cursor } }"}`, "no query": `"` + secret + `"`, "variables": `{"query": "{ viewer { role } }", "variables": "` + secret + `"}`,
	} {
		s := w.upgrade("Authorization: Bearer " + token)
		s.say(`{"type": "connection_init"}`)
		s.hears(`{"type":"connection_ack"}`)
		s.say(`{"id": "1", "type": "subscribe", "payload": ` + payload + `}`)
		if got := s.heard(patience); strings.Contains(got, secret) || strings.Contains(s.why, secret) {
			t.Errorf("%s: %s %s", name, got, s.why)
		}
	}
	for _, message := range []string{secret, `{"type": "` + secret + `"}`, `{"type": "connection_init", "payload": {"authorization": "Bearer ` + secret + `"}}`, `{"type": "connection_init", "payload": "` + secret + `"}`} {
		s := w.upgrade()
		s.say(message)
		if got := s.heard(patience); strings.Contains(got, secret) || strings.Contains(s.why, secret) {
			t.Errorf("%s: %s %s", message, got, s.why)
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log: %s", log)
	}
}
