package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// sharedMachine drives the gate against a model of what several people do: one record, which is two entities. Of core.role a proposal is its
// owner's; of core.position it is the workspace's, and two approvers have to approve it.
type sharedMachine struct {
	sharedModel
	t       *testing.T
	db      *pgtest.DB
	gate    *gate.Gate
	tools   *toolcall.Service
	persons map[string]identity.Person
}

const position = `
  core.position:
    table: core.roles
    label: name
    confirm: WORKSPACE
    rows: workspace
    operations: { get: , update: { approval: 2 } }
    fields:
      id:
      name: { writable: true }
`

var (
	names     = []string{"maria", "paolo", "jonas", "aiko", "rosa"}
	approvers = []string{"paolo", "jonas", "aiko"}
)

func TestTheGateIsTheModelOfSeveralPeople(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	registry, err := record.Parse(t.Context(), db.Pools.Reader, "countersign.yaml", []byte(strings.Replace(string(yaml), "\nentities:\n", "\nentities:"+position, 1)))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Pools{Gate: db.Pools.Gate, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, slog.New(slog.DiscardHandler))
	tools := toolcall.New(g, registry, actions.All(), db.Pools.Agent, slog.New(slog.DiscardHandler))
	persons := map[string]identity.Person{}
	for _, name := range names {
		persons[name] = db.Person(t, name+"@harbor.example")
	}
	rapid.Check(t, func(r *rapid.T) {
		m := &sharedMachine{t: t, db: db, gate: g, tools: tools, persons: persons, sharedModel: newSharedModel()}
		m.sql(`UPDATE core.roles SET name = 'editor' WHERE id = 4`)
		m.sql(`DELETE FROM countersign.proposals`)
		m.sql(`UPDATE countersign.memberships m SET role = 'approver' FROM countersign.users u WHERE u.id = m.user_id AND u.email IN ('jonas@harbor.example', 'aiko@harbor.example', 'paolo@harbor.example')`)
		r.Repeat(map[string]func(*rapid.T){
			"propose": m.propose, "propose again": m.propose, "confirm": m.confirm, "confirm another": m.confirm, "approve": m.approve, "approve more": m.approve,
			"disapprove": m.disapprove, "reject": m.reject, "withdraw": m.withdraw, "extend": m.extend, "revise": m.revise, "demote": m.demote,
			"expire": m.expire, "sweep": m.sweep, "edit": m.edit, "": m.agree,
		})
	})
}

func (m *sharedMachine) sql(statement string, args ...any) {
	m.t.Helper()
	if _, err := m.db.Owner.Exec(m.t.Context(), statement, args...); err != nil {
		m.t.Fatal(err)
	}
}

func (m *sharedMachine) propose(r *rapid.T) {
	m.counted++
	to, entity := fmt.Sprintf("name %d", m.counted), rapid.SampledFrom([]string{"core.role", "core.position"}).Draw(r, "entity")
	who := rapid.SampledFrom([]string{"maria", "maria", "jonas"}).Draw(r, "who")
	changes, _ := json.Marshal(map[string]string{"name": to})
	result, err := m.tools.Propose(m.t.Context(), m.persons[who], toolcall.Origin{Channel: sqlc.ChannelApi}, toolcall.Change{Entity: entity, Operation: "update", RecordID: new("4"), Changes: changes})
	if err != nil {
		r.Fatalf("propose: %v", err)
	}
	if enough := m.couldApprove(who); entity == "core.position" && enough < 2 {
		if result.Code != string(gate.NoEligibleApprover) {
			r.Fatalf("proposed, and %d could approve it: %+v", enough, result)
		}
		return
	}
	if !result.OK {
		r.Fatalf("propose: %+v", result)
	}
	m.add(result.Proposal, to, who, entity == "core.position")
}

func (m *sharedMachine) add(p *sqlc.Proposal, to, owner string, shared bool) {
	m.ids = append(m.ids, p.ID)
	m.cards[p.ID] = &sharedCard{to: to, fingerprint: p.Fingerprint, shared: shared, owner: owner, seen: m.edits, status: sqlc.ProposalStatusPending, decided: map[string]sqlc.DecisionKind{}}
}

// pick chooses somebody and one of the last proposals, for several to meet on it; the step is skipped where there
// is none.
func (m *sharedMachine) pick(r *rapid.T) (string, id.Proposal, *sharedCard) {
	if len(m.ids) == 0 {
		r.Skip("no proposal yet")
	}
	which := rapid.SampledFrom(m.ids[max(0, len(m.ids)-3):]).Draw(r, "proposal")
	return rapid.SampledFrom(names).Draw(r, "who"), which, m.cards[which]
}

// decide holds the gate's answer against the model's, and then has the model do it.
func (m *sharedMachine) decide(r *rapid.T, kind sqlc.DecisionKind, do func(identity.Person, id.Proposal, string) (*gate.Answer, error)) {
	who, which, c := m.pick(r)
	seen := rapid.SampledFrom([]string{c.fingerprint, c.fingerprint, c.fingerprint, fmt.Sprintf("%064d", 0)}).Draw(r, "card")
	want, acts := m.expect(c, kind, who)
	if acts && seen != c.fingerprint && (kind == sqlc.DecisionKindConfirm || kind == sqlc.DecisionKindApprove) {
		want, acts = cardOutdated, false
	} else if acts && kind == sqlc.DecisionKindConfirm && m.takesTheLast(c, who) {
		want, acts = forbidden, false
	}
	answer, err := do(m.persons[who], which, seen)
	if got := said(answer, err); got != want {
		r.Fatalf("%s by %s of %+v: %s, want %s: %v", kind, who, c, got, want, err)
	}
	if acts {
		m.act(c, kind, who)
	}
}

func said(a *gate.Answer, err error) answered {
	switch {
	case err != nil:
		return answered(gate.CodeOf(err))
	case a.Verdict == gate.AlreadyDecided:
		return tooLate
	case a.Verdict == gate.CardOutdated:
		return cardOutdated
	}
	return stands
}

func (m *sharedMachine) confirm(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindConfirm, func(by identity.Person, p id.Proposal, seen string) (*gate.Answer, error) {
		return m.gate.Confirm(m.t.Context(), by, p, seen)
	})
}

func (m *sharedMachine) approve(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindApprove, func(by identity.Person, p id.Proposal, seen string) (*gate.Answer, error) {
		return m.gate.Approve(m.t.Context(), by, p, seen)
	})
}

func (m *sharedMachine) disapprove(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindDisapprove, func(by identity.Person, p id.Proposal, _ string) (*gate.Answer, error) {
		return m.gate.Disapprove(m.t.Context(), by, p, "no")
	})
}

func (m *sharedMachine) reject(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindReject, func(by identity.Person, p id.Proposal, _ string) (*gate.Answer, error) {
		return m.gate.Reject(m.t.Context(), by, p, "no")
	})
}

func (m *sharedMachine) withdraw(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindWithdraw, func(by identity.Person, p id.Proposal, _ string) (*gate.Answer, error) {
		return m.gate.Withdraw(m.t.Context(), by, p)
	})
}

func (m *sharedMachine) extend(r *rapid.T) {
	m.decide(r, "", func(by identity.Person, p id.Proposal, _ string) (*gate.Answer, error) {
		return m.gate.Extend(m.t.Context(), by, p)
	})
}

// revise asks for another name: whoever may confirm may, and it is theirs then.
func (m *sharedMachine) revise(r *rapid.T) {
	who, which, c := m.pick(r)
	m.counted++
	to := fmt.Sprintf("name %d", m.counted)
	value, _ := json.Marshal(to)
	want, acts := m.expect(c, sqlc.DecisionKindSupersede, who)
	if acts && c.shared && m.couldApprove(who) < 2 {
		want, acts = answered(gate.NoEligibleApprover), false
	}
	made, err := m.gate.Revise(m.t.Context(), m.persons[who], gate.Revision{Of: which, Seen: c.fingerprint, Values: map[string]json.RawMessage{"name": value}, Channel: sqlc.ChannelApi})
	got := said(&gate.Answer{}, err)
	if refusal := (*gate.Refusal)(nil); errors.As(err, &refusal) {
		if got = answered(refusal.Code); refusal.Code == gate.DecidedBefore {
			got = tooLate
		}
	}
	if got != want {
		r.Fatalf("revise by %s of %+v: %s, want %s: %v", who, c, got, want, err)
	}
	if acts {
		m.act(c, sqlc.DecisionKindSupersede, who)
		m.add(made, to, who, c.shared)
	}
}

// demote takes an approver's role, or gives it back.
func (m *sharedMachine) demote(r *rapid.T) {
	who := rapid.SampledFrom(approvers).Draw(r, "who")
	m.lost[who] = !m.lost[who]
	m.sql(`UPDATE countersign.memberships m SET role = CASE WHEN $2 THEN 'member' ELSE 'approver' END::countersign.role FROM countersign.users u WHERE u.id = m.user_id AND u.email = $1 || '@harbor.example'`, who, m.lost[who])
}

// expire lets a proposal's time pass, without anybody storing it.
func (m *sharedMachine) expire(r *rapid.T) {
	_, which, c := m.pick(r)
	if !c.open() || rapid.IntRange(0, 3).Draw(r, "rarely") > 0 {
		r.Skip("decided, or not now")
	}
	m.sql(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE id = $1`, which)
	c.status = sqlc.ProposalStatusExpired
}

func (m *sharedMachine) sweep(r *rapid.T) {
	if err := m.gate.Expire(m.t.Context()); err != nil {
		r.Fatal(err)
	}
}

// edit is somebody else's, of a column that no card shows.
func (m *sharedMachine) edit(*rapid.T) {
	m.counted++
	m.sql(`UPDATE core.roles SET description = $1 WHERE id = 4`, fmt.Sprint(m.counted))
	m.edits++
}

// agree holds the database against the model after every step.
func (m *sharedMachine) agree(r *rapid.T) {
	var name string
	if err := m.db.Owner.QueryRow(m.t.Context(), `SELECT name FROM core.roles WHERE id = 4`).Scan(&name); err != nil || name != m.name {
		r.Fatalf("the record is called %q, in the model %q: %v", name, m.name, err)
	}
	for which, c := range m.cards {
		var status string
		var finals, events, approvals int
		err := m.db.Owner.QueryRow(m.t.Context(), `SELECT status, (SELECT count(*) FROM countersign.proposal_decisions WHERE proposal_id = p.id AND final),
			(SELECT count(*) FROM countersign.events WHERE proposal_id = p.id AND type = 'extended'), (SELECT count(*) FROM countersign.proposal_decisions WHERE proposal_id = p.id AND kind = 'approve')
			FROM countersign.proposals_read p WHERE id = $1`, which).Scan(&status, &finals, &events, &approvals)
		if err != nil || status != string(c.status) || finals > 1 || (events == 1) != c.extended || approvals != c.count(sqlc.DecisionKindApprove) {
			r.Fatalf("%s is %s, in the model %+v; %d final decisions, %d extensions, %d approvals: %v", which, status, c, finals, events, approvals, err)
		}
	}
}
