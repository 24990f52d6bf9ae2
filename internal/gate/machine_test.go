package gate_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// model is what the machine should be: ten lines of what happens to one record and its proposals.
type model struct {
	name    string // of the record
	edits   int    // how often it changed
	ids     []id.Proposal
	cards   map[id.Proposal]*modelCard
	counted int
}

type modelCard struct {
	to, fingerprint string
	seen            int // edits when the card was made
	status          sqlc.ProposalStatus
	decided         sqlc.DecisionKind
	extended        bool
	was             string // the record's name before it was applied
	undoes          *modelCard
}

// machine drives the gate against the model.
type machine struct {
	model
	t     *testing.T
	db    *pgtest.DB
	gate  *gate.Gate
	tools *toolcall.Service
	maria identity.Person
}

func TestTheGateIsTheModel(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	registry := db.Registry(t)
	g := gate.New(gate.Pools{Gate: db.Pools.Gate, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.DefaultLimits, func() {}, slog.New(slog.DiscardHandler))
	tools := toolcall.New(g, registry, actions.All(), db.Pools.Agent, slog.New(slog.DiscardHandler))
	maria := db.Person(t, "maria@harbor.example")
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{t: t, db: db, gate: g, tools: tools, maria: maria, model: model{name: "editor", cards: map[id.Proposal]*modelCard{}}}
		m.sql(`UPDATE core.roles SET name = 'editor' WHERE id = 4`)
		m.sql(`DELETE FROM countersign.proposals`)
		r.Repeat(map[string]func(*rapid.T){
			"propose": m.propose, "confirm": m.confirm, "reject": m.reject, "withdraw": m.withdraw, "extend": m.extend,
			"expire": m.expire, "sweep": m.sweep, "edit": m.edit, "revise": m.revise, "revert": m.revert, "": m.agree,
		})
	})
}

func (m *machine) sql(statement string, args ...any) {
	m.t.Helper()
	if _, err := m.db.Owner.Exec(m.t.Context(), statement, args...); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) propose(r *rapid.T) {
	m.counted++
	to := fmt.Sprintf("name %d", m.counted)
	changes, _ := json.Marshal(map[string]string{"name": to})
	result, err := m.tools.Propose(m.t.Context(), m.maria, toolcall.Origin{Channel: sqlc.ChannelApi}, toolcall.Change{Entity: "core.role", Operation: "update", RecordID: new("4"), Changes: changes})
	if err != nil || !result.OK {
		r.Fatalf("propose: %+v %v", result, err)
	}
	m.ids = append(m.ids, result.Proposal.ID)
	m.cards[result.Proposal.ID] = &modelCard{to: to, fingerprint: result.Proposal.Fingerprint, seen: m.edits, status: sqlc.ProposalStatusPending}
}

// pick chooses one of the proposals; the step is skipped where there is none.
func (m *machine) pick(r *rapid.T) (id.Proposal, *modelCard) {
	if len(m.ids) == 0 {
		r.Skip("no proposal yet")
	}
	which := rapid.SampledFrom(m.ids).Draw(r, "proposal")
	return which, m.cards[which]
}

// expect is what the model says of a decision: what it is answered, and whether it does something.
func (c *modelCard) expect(kind sqlc.DecisionKind) (verdict gate.Verdict, acts bool) {
	switch {
	case c.decided == kind && c.status != sqlc.ProposalStatusExpired:
		return gate.Stands, false
	case c.status != sqlc.ProposalStatusPending:
		return gate.AlreadyDecided, false
	}
	return gate.Stands, true
}

func (m *machine) confirm(r *rapid.T) {
	which, c := m.pick(r)
	seen := rapid.SampledFrom([]string{c.fingerprint, c.fingerprint, fmt.Sprintf("%064d", 0)}).Draw(r, "card")
	want, acts := c.expect(sqlc.DecisionKindConfirm)
	if acts && seen != c.fingerprint {
		want, acts = gate.CardOutdated, false
	}
	answer, err := m.gate.Confirm(m.t.Context(), m.maria, which, seen)
	if err != nil || answer.Verdict != want {
		r.Fatalf("confirm: verdict %v, want %v: %v", answer, want, err)
	}
	if !acts {
		return
	}
	c.decided, c.status = sqlc.DecisionKindConfirm, sqlc.ProposalStatusFailed
	if c.seen == m.edits {
		c.status = sqlc.ProposalStatusApplied
		c.was, m.name, m.edits = m.name, c.to, m.edits+1
	}
}

func (m *machine) decide(r *rapid.T, kind sqlc.DecisionKind, becomes sqlc.ProposalStatus, do func(id.Proposal) (*gate.Answer, error)) {
	which, c := m.pick(r)
	want, acts := c.expect(kind)
	answer, err := do(which)
	if err != nil || answer.Verdict != want {
		r.Fatalf("%s: verdict %v, want %v: %v", kind, answer, want, err)
	}
	if acts {
		c.decided, c.status = kind, becomes
	}
}

func (m *machine) reject(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindReject, sqlc.ProposalStatusRejected, func(p id.Proposal) (*gate.Answer, error) {
		return m.gate.Reject(m.t.Context(), m.maria, p, "no")
	})
}

func (m *machine) withdraw(r *rapid.T) {
	m.decide(r, sqlc.DecisionKindWithdraw, sqlc.ProposalStatusWithdrawn, func(p id.Proposal) (*gate.Answer, error) {
		return m.gate.Withdraw(m.t.Context(), m.maria, p)
	})
}

func (m *machine) extend(r *rapid.T) {
	which, c := m.pick(r)
	answer, err := m.gate.Extend(m.t.Context(), m.maria, which)
	if err != nil || (answer.Verdict == gate.Stands) != (c.status == sqlc.ProposalStatusPending) {
		r.Fatalf("extend of what is %s: %v %v", c.status, answer, err)
	}
	c.extended = c.extended || c.status == sqlc.ProposalStatusPending
}

// expire lets a proposal's time pass, without anybody storing it.
func (m *machine) expire(r *rapid.T) {
	which, c := m.pick(r)
	if c.status != sqlc.ProposalStatusPending {
		r.Skip("decided")
	}
	m.sql(`UPDATE countersign.proposals SET expires_at = clock_timestamp() WHERE id = $1`, which)
	c.status = sqlc.ProposalStatusExpired
}

func (m *machine) sweep(r *rapid.T) {
	if err := m.gate.Expire(m.t.Context()); err != nil {
		r.Fatal(err)
	}
}

// edit is somebody else's, of a column that no card shows.
func (m *machine) edit(*rapid.T) {
	m.counted++
	m.sql(`UPDATE core.roles SET description = $1 WHERE id = 4`, fmt.Sprint(m.counted))
	m.edits++
}

// agree holds the database against the model after every step.
func (m *machine) agree(r *rapid.T) {
	var name string
	if err := m.db.Owner.QueryRow(m.t.Context(), `SELECT name FROM core.roles WHERE id = 4`).Scan(&name); err != nil || name != m.name {
		r.Fatalf("the record is called %q, in the model %q: %v", name, m.name, err)
	}
	for which, c := range m.cards {
		var status string
		var finals, events int
		err := m.db.Owner.QueryRow(m.t.Context(), `SELECT status, (SELECT count(*) FROM countersign.proposal_decisions WHERE proposal_id = p.id AND final),
			(SELECT count(*) FROM countersign.events WHERE proposal_id = p.id AND type = 'extended') FROM countersign.proposals_read p WHERE id = $1`, which).Scan(&status, &finals, &events)
		if err != nil || status != string(c.status) || finals > 1 || (events == 1) != c.extended {
			r.Fatalf("%s is %s, in the model %s; %d final decisions, %d extensions: %v", which, status, c.status, finals, events, err)
		}
	}
}
