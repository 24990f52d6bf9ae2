package server_test

import (
	"strings"
	"testing"
)

// matrix is who may do what, as the design has it, for every verb, role, whose it is, confirm policy and
// status. Letters before the slash are verbs that do something: c confirm, r reject, v revise, a approve,
// d disapprove, w withdraw, e extend. Those after it come too late. All others are FORBIDDEN and claim nothing.
// A dot: it is seen, and that is all. x: it is not.
//
// needs: pending, and approval has to follow. waits: confirmed, and it awaits that. lapsed, and timed out: time
// ran out on what was pending, and on what awaited approval.
const matrix = `
role     whose      policy    pending needs  waits    applied disapproved lapsed  timed-out
member   own        owner     crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
approver own        owner     crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
operator own        owner     crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
auditor  own        owner     .       .      .        .       .           .       .
member   other      owner     x       x      x        x       x           x       x
approver other      owner     x       .      ad       x       /ad         x       /ad
operator other      owner     r       r      /r       /r      /r          /r      /r
auditor  other      owner     .       .      .        .       .           .       .

member   own        workspace crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
approver own        workspace crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
operator own        workspace crvwe   crvwe  w/crve   /crvwe  /crvwe      /crvwe  /crvwe
auditor  own        workspace .       .      .        .       .           .       .
member   other      workspace crv     crv    /crv     /crv    /crv        /crv    /crv
approver other      workspace crv     crv    ad/crv   /crv    /crvad      /crv    /crvad
operator other      workspace crv     crv    /crv     /crv    /crv        /crv    /crv
auditor  other      workspace .       .      .        .       .           .       .
member   confirmed  workspace crv     crv    /crv     /crv    /crv        /crv    /crv
approver confirmed  workspace crv     crv    /crv     /crv    /crv        /crv    /crv
operator confirmed  workspace crv     crv    /crv     /crv    /crv        /crv    /crv

member   other      no-right  .       .      .        .       .           .       .
approver other      no-right  .       .      ad       .       /ad         .       /ad
operator other      no-right  r       r      /r       /r      /r          /r      /r
auditor  other      no-right  .       .      .        .       .           .       .
member   other      unread    x       x      x        x       x           x       x
approver other      unread    x       .      ad       x       /ad         x       /ad

stranger other      owner     x       x      x        x       x           x       x
stranger other      workspace x       x      x        x       x           x       x
`

// tokens is the same for API tokens, each of somebody of the role: it sees what they see.
const tokens = `
role     whose      policy    pending needs  waits    applied disapproved lapsed  timed-out
member   own        owner     .       .      .        .       .           .       .
member   other      owner     x       x      x        x       x           x       x
approver other      owner     x       .      .        x       .           x       .
operator other      owner     .       .      .        .       .           .       .
auditor  other      owner     .       .      .        .       .           .       .
member   other      workspace .       .      .        .       .           .       .
member   other      unread    x       x      x        x       x           x       x
`

const allVerbs = "crvadwe"

// situation is a cell of the matrix.
type situation struct{ role, whose, policy, status, may string }

// situations are the cells of a matrix.
func situations(t testing.TB, table string) []situation {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	columns := strings.Fields(lines[0])
	var list []situation
	for _, line := range lines[1:] {
		row := strings.Fields(line)
		if len(row) == 0 {
			continue
		}
		if len(row) != len(columns) {
			t.Fatalf("the matrix: %s", line)
		}
		for i := 3; i < len(row); i++ {
			list = append(list, situation{row[0], row[1], row[2], columns[i], row[i]})
		}
	}
	return list
}

func (s situation) String() string {
	return s.role + ", " + s.whose + ", " + s.policy + ", " + s.status
}

func (s situation) sees() bool { return s.may != "x" }

// acts are the verbs that do something, in the order of allVerbs.
func (s situation) acts() string {
	acts, _, _ := strings.Cut(strings.Trim(s.may, "x."), "/")
	return acts
}

// waits tells whether the proposal is one of those that wait for this person.
func (s situation) waits() bool { return strings.ContainsAny(s.acts(), "ca") }

// begins is the status that the proposal has.
func (s situation) begins() string {
	return map[string]string{"pending": "PENDING", "needs": "PENDING", "waits": "AWAITING_APPROVAL", "applied": "APPLIED", "disapproved": "DISAPPROVED",
		"lapsed": "EXPIRED", "timed-out": "EXPIRED"}[s.status]
}

// expect is how a verb is answered, and the status the proposal has then.
func (s situation) expect(verb rune) (answer, becomes string) {
	acts, late, _ := strings.Cut(strings.Trim(s.may, "x."), "/")
	switch {
	case strings.ContainsRune(acts, verb):
		becomes = map[rune]string{'c': "APPLIED", 'r': "REJECTED", 'v': "SUPERSEDED", 'a': "APPLIED", 'd': "DISAPPROVED", 'w': "WITHDRAWN", 'e': "PENDING"}[verb]
		if verb == 'c' && s.status == "needs" {
			becomes = "AWAITING_APPROVAL"
		}
		return "stands", becomes
	case strings.ContainsRune(late, verb) && verb == 'c' && s.decided():
		return "stands", s.begins() // they confirmed it themselves
	case strings.ContainsRune(late, verb):
		return "too late", s.begins()
	case s.role == "stranger":
		return "NOT_FOUND", s.begins()
	}
	return "FORBIDDEN", s.begins()
}

// decided tells whether this person confirmed it.
func (s situation) decided() bool {
	return (s.whose == "own" || s.whose == "confirmed") && s.status != "pending" && s.status != "needs" && s.status != "lapsed"
}

// walk tries every verb in every situation through a door. What a decision leaves is looked at each time; a
// proposal that one of them moved is made anew for the next.
func walk(t *testing.T, s *stage, through door, table, verbs string) {
	t.Helper()
	for _, at := range situations(t, table) {
		id, fingerprint := s.set(at)
		offered, waits, sees := through.look(s.actor(at), id)
		if sees != at.sees() || offered != inOrder(at.acts()) || waits != at.waits() {
			t.Errorf("%s: seen %v, offered %q, waits %v; want %v, %q, %v", at, sees, offered, waits, at.sees(), inOrder(at.acts()), at.waits())
		}
		for _, verb := range verbs {
			if id == "" {
				id, fingerprint = s.set(at)
			}
			before := s.state(id)
			want, becomes := at.expect(verb)
			got, after := through.do(s.actor(at), verb, id, fingerprint), s.state(id)
			if got != want || !strings.HasPrefix(after, becomes+" ") {
				t.Errorf("%s: %c is answered %q and leaves %s; want %q, %s", at, verb, got, after, want, becomes)
			}
			moves := strings.ContainsRune(at.acts(), verb)
			if !moves && after != before {
				t.Errorf("%s: %c claimed something: %s, then %s", at, verb, before, after)
			}
			if moves {
				id = ""
			}
		}
	}
	s.invariants()
}

func TestTheMatrixThroughGraphQL(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	walk(t, s, throughGraphQL{s}, matrix, allVerbs)
}

func TestTheMatrixThroughTheGate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	walk(t, s, newGateDoor(t, s), matrix, allVerbs)
}

func TestTheMatrixOfTokens(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	door := &stage{world: s.world, clients: map[string]*client{}}
	for _, email := range people {
		name, _, _ := strings.Cut(email, "@")
		door.clients[name] = s.as(s.db.APIToken(t, email, "read", "propose"))
	}
	walk(t, s, throughGraphQL{door}, tokens, allVerbs)
}
