package bench_test

import (
	"strings"
	"testing"
)

// What one propose and one confirm that applies send, a round trip a line. Where this differs from what is
// sent, the new list is what they cost from now on: see that it is meant.
var (
	proposeSends = `identity: PersonByToken
agent: SELECT set_config('countersign.workspace', $1, t…; PoliciesNow
agent: SELECT set_config('countersign.workspace', $1, t…; RecordToolCallRedactedBy
agent: begin; SELECT set_config('countersign.workspace', $1, t…
agent: SELECT pg_catalog.set_config('countersign.search…; SELECT t."id"::text, coalesce(t."name"::text, ''…; SELECT pg_catalog.set_config('role', 'none', tru…
agent: Propose; FulfilToolCall; GetProposal; COMMIT`
	confirmSends = `identity: PersonByToken
gate: begin; BeginDecision; LockProposal; LockPolicies; Facts
gate: InsertDecision; SAVEPOINT mark; RecordsOfProposal
gate: SELECT pg_catalog.set_config('countersign.search…; UPDATE "core"."roles" AS t SET "name" = CAST($1:…; SET CONSTRAINTS ALL IMMEDIATE; SELECT pg_catalog.set_config('role', 'none', tru…
gate: MoveProposal; GetProposal; COMMIT`
)

func TestWhatAProposeAndAConfirmSend(t *testing.T) {
	m := newMill(t, 1)
	proposes, confirms := m.record()
	for verb, c := range map[string]struct {
		script *script
		want   string
	}{"propose": {proposes, proposeSends}, "confirm": {confirms, confirmSends}} {
		if got := strings.Join(c.script.lines(), "\n"); got != c.want {
			t.Errorf("a %s sends\n%s\nand not\n%s", verb, got, c.want)
		}
	}
}

// What the bare loop sends is what the server sends, and does what it does.
func TestTheBareLoopDoesTheSame(t *testing.T) {
	m := newMill(t, 2)
	proposes, confirms := m.record()
	l := newLoop(t, m.db.OwnerURL)
	for _, s := range m.toPropose(bareRoles, 2, 2) {
		if err := l.send(t.Context(), proposes.onBehalf(s)); err != nil {
			t.Fatal(err)
		}
	}
	made := m.toConfirm(bareRoles, 2)
	for _, s := range made {
		if err := l.send(t.Context(), confirms.onBehalf(s)); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.applied(); n != 2 {
		t.Errorf("%d of 2 were applied, %d made", n, len(made))
	}
}

// lines are a script's round trips, each with the login and the names of its statements.
func (s *script) lines() []string {
	var lines []string
	for _, t := range s.trips {
		names := []string{}
		for _, one := range t.sent {
			names = append(names, one.name())
		}
		lines = append(lines, t.login+": "+strings.Join(names, "; "))
	}
	return lines
}
