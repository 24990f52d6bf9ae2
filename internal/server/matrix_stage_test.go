package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/server"
)

// stage makes the situations of the matrix real: with a registry that has an entity for each policy, whose
// updates need no approval and whose updates of many need one.
type stage struct {
	*world
	clients map[string]*client // by first name
	made    int
}

// the entities of the policies; those of no-right and unread are the operators' or the members' alone.
var subjects = map[string]struct{ entity, field string }{
	"owner": {"core.role", "description"}, "workspace": {"mrp.production_order", "notes"},
	"no-right operator": {"crp.calendar_day", "available_minutes"}, "no-right": {"mrp.work_center", "name"}, "unread": {"crp.operation", "minutes"},
}

var people = map[string]string{"member": "paolo@harbor.example", "approver": "aiko@harbor.example", "operator": "rosa@harbor.example",
	"auditor": "sam@harbor.example", "stranger": "olu@othersite.example"}

func matrixRegistry(t testing.TB) func(*server.Config) {
	return func(c *server.Config) {
		registryWith(t, "      update:\n", "      update:\n      bulk_update: { approval: 1 }\n")(c)
		yaml := string(c.Registry)
		for _, r := range [][2]string{
			{"    operations: [list, get, update, bulk_update]\n    bulk_cap", "    operations: { list: , get: , update: , bulk_update: { approval: 1 } }\n    bulk_cap"},
			{"    title: Work centre\n    operations: [list, get]", "    title: Work centre\n    operations: { list: , get: , update: { roles: [OPERATOR] }, bulk_update: { roles: [OPERATOR], approval: 1 } }"},
			{"      name:\n      kind:", "      name: { writable: true }\n      kind:"},
			{"    label: \"operation {sequence} of {day}\"\n    operations: [list, get]", "    label: \"operation {sequence} of {day}\"\n    operations: { list: { roles: [OPERATOR, AUDITOR] }, get: { roles: [OPERATOR, AUDITOR] }, update: { roles: [OPERATOR] }, bulk_update: { roles: [OPERATOR], approval: 1 } }"},
			{"      minutes:\n", "      minutes: { writable: true }\n"},
			{"    label: day\n    operations: [list, get]", "    label: day\n    operations: { list: , get: , update: { roles: [MEMBER] }, bulk_update: { roles: [MEMBER], approval: 1 } }"},
			{"      available_minutes:\n", "      available_minutes: { writable: true }\n"},
		} {
			yaml = replaced(t, yaml, r[0], r[1])
		}
		c.Registry, c.TimersOff = []byte(yaml), true
	}
}

func newStage(t testing.TB) *stage {
	w := start(t, matrixRegistry(t))
	s := &stage{world: w, clients: map[string]*client{}}
	for _, email := range []string{"maria@harbor.example", "jonas@harbor.example", "paolo@harbor.example", "aiko@harbor.example", "rosa@harbor.example", "sam@harbor.example", "olu@othersite.example"} {
		name, _, _ := strings.Cut(email, "@")
		s.clients[name] = w.signIn(email)
	}
	return s
}

// actor is who does something in a situation, by first name.
func (s *stage) actor(at situation) string {
	name, _, _ := strings.Cut(people[at.role], "@")
	return name
}

// owner is whose the proposal is.
func (s *stage) owner(at situation) string {
	switch {
	case at.whose == "own":
		return s.actor(at)
	case (at.policy == "no-right" || at.policy == "unread") && at.role != "operator":
		return "rosa"
	}
	return "maria"
}

// set makes a proposal as the situation has it.
func (s *stage) set(at situation) (id, fingerprint string) {
	s.t.Helper()
	owner := s.owner(at)
	confirmer := owner
	if at.whose == "confirmed" {
		confirmer = s.actor(at)
	}
	if at.whose == "own" && at.role == "auditor" { // who is no auditor yet
		s.role("sam", "member")
		defer s.role("sam", "auditor")
	}
	id, fingerprint = s.wish(at, s.clients[owner])
	switch at.status {
	case "waits", "disapproved", "timed-out":
		s.clients[confirmer].confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "AWAITING_APPROVAL"})
	case "applied":
		s.clients[confirmer].confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	}
	switch at.status {
	case "disapproved":
		s.clients["jonas"].disapprove(id, "no").want(vars{"disapproveProposal.result.status": "DISAPPROVED"})
	case "lapsed", "timed-out":
		s.exec(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE number = (SELECT max(number) FROM countersign.proposals)`)
	}
	return id, fingerprint
}

// wish proposes something that nobody has proposed yet.
func (s *stage) wish(at situation, owner *client) (id, fingerprint string) {
	s.t.Helper()
	s.made++
	subject := subjects[at.policy]
	if at.policy == "no-right" && at.role == "operator" {
		subject = subjects["no-right operator"]
	}
	table := map[string]string{"core.role": "core.roles", "mrp.production_order": "mrp.production_orders", "mrp.work_center": "mrp.work_centers", "crp.operation": "crp.operations", "crp.calendar_day": "crp.calendar_days"}[subject.entity]
	record := s.sql(`SELECT min(id) FROM ` + table + ` WHERE site = 'harbor-mill' AND to_jsonb(` + strings.Split(table, ".")[1] + `) ->> 'status' IS DISTINCT FROM 'completed'`)
	var value any = fmt.Sprintf("value %d", s.made)
	if subject.field == "minutes" || subject.field == "available_minutes" {
		value = 1000 + s.made
	}
	in := vars{"entity": subject.entity, "operation": "UPDATE", "recordId": record, "changes": vars{subject.field: value}}
	if at.status != "pending" && at.status != "applied" && at.status != "lapsed" {
		var key any = record
		in = vars{"entity": subject.entity, "operation": "BULK_UPDATE", "where": vars{"id": key}, "changes": vars{subject.field: value}}
	}
	return owner.propose(in)
}

func uuidOf(t testing.TB, proposal string) uuid.UUID {
	t.Helper()
	which, err := id.ParseProposal(proposal)
	if err != nil {
		t.Fatal(err)
	}
	return which.UUID()
}

func (s *stage) role(name, becomes string) {
	s.t.Helper()
	s.exec(`UPDATE countersign.memberships m SET role = $2::text::countersign.role FROM countersign.users u WHERE u.id = m.user_id AND u.email LIKE $1 || '@%'`, name, becomes)
}

// state is what a refused decision has to leave as it was: the status as it is read, and how many decisions.
func (s *stage) state(id string) string {
	s.t.Helper()
	return s.sql(`SELECT upper(p.status::text) || ' ' || (SELECT count(*) FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id AND d.kind <> 'expire')
		FROM countersign.proposals_read p WHERE p.id = $1`, uuidOf(s.t, id))
}
