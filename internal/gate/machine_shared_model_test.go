package gate_test

import (
	"slices"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// sharedModel is what the gate should be: what happens to one record and its proposals, in a few lines.
type sharedModel struct {
	name    string // of the record
	edits   int    // how often it changed
	ids     []id.Proposal
	cards   map[id.Proposal]*sharedCard
	lost    map[string]bool // who was an approver, and is a member now
	counted int
}

type sharedCard struct {
	to, fingerprint, owner string
	shared                 bool // and needs two approvals
	seen                   int  // edits when the card was made
	status                 sqlc.ProposalStatus
	decided                map[string]sqlc.DecisionKind // who did what
	confirmer              string
	extended               bool
}

func newSharedModel() sharedModel {
	return sharedModel{name: "editor", cards: map[id.Proposal]*sharedCard{}, lost: map[string]bool{}}
}

// answered is how a decision was answered.
type answered string

const (
	stands, tooLate, cardOutdated answered = "stands", "too late", "card outdated"
	forbidden                              = answered(gate.Forbidden)
)

func (c *sharedCard) open() bool {
	return c.status == sqlc.ProposalStatusPending || c.status == sqlc.ProposalStatusAwaitingApproval
}

func (c *sharedCard) count(kind sqlc.DecisionKind) int {
	n := 0
	for _, k := range c.decided {
		if k == kind {
			n++
		}
	}
	return n
}

func (m *sharedModel) approver(who string) bool {
	return slices.Contains(approvers, who) && !m.lost[who]
}

func (m *sharedModel) couldApprove(owner string) int {
	n := 0
	for _, who := range approvers {
		if m.approver(who) && who != owner {
			n++
		}
	}
	return n
}

// takesTheLast: an approver who confirms another's leaves too few to approve it.
func (m *sharedModel) takesTheLast(c *sharedCard, who string) bool {
	return c.shared && who != c.owner && m.approver(who) && m.couldApprove(c.owner)-1 < 2
}

// may is who may do what.
func (m *sharedModel) may(c *sharedCard, kind sqlc.DecisionKind, who string) bool {
	switch kind {
	case sqlc.DecisionKindConfirm, sqlc.DecisionKindSupersede:
		return who == c.owner || c.shared
	case sqlc.DecisionKindReject:
		return who == c.owner || c.shared || who == "rosa"
	case sqlc.DecisionKindApprove, sqlc.DecisionKindDisapprove:
		return c.shared && m.approver(who) && who != c.owner && who != c.confirmer && c.status != sqlc.ProposalStatusPending
	}
	return who == c.owner
}

// expect is what the model says of a decision: what it is answered, and whether it does something.
func (m *sharedModel) expect(c *sharedCard, kind sqlc.DecisionKind, who string) (answer answered, acts bool) {
	awaits := c.status == sqlc.ProposalStatusAwaitingApproval
	vote := kind == sqlc.DecisionKindApprove || kind == sqlc.DecisionKindDisapprove
	before, did := c.decided[who]
	switch {
	case !m.may(c, kind, who):
		return forbidden, false
	case did && before == kind && kind == sqlc.DecisionKindSupersede:
		return tooLate, false // it made another proposal, which is not made again
	case did && before == kind, kind == sqlc.DecisionKindConfirm && who == c.confirmer: // also withdrawn since
		return stands, false
	case !c.open(), vote && did, awaits && !vote && kind != sqlc.DecisionKindWithdraw:
		return tooLate, false
	case kind == "" && c.extended:
		return stands, false
	}
	return stands, true
}

// act does it.
func (m *sharedModel) act(c *sharedCard, kind sqlc.DecisionKind, who string) {
	if kind == "" {
		c.extended = true
		return
	}
	c.decided[who] = kind
	switch kind {
	case sqlc.DecisionKindReject:
		c.status = sqlc.ProposalStatusRejected
	case sqlc.DecisionKindDisapprove:
		c.status = sqlc.ProposalStatusDisapproved
	case sqlc.DecisionKindWithdraw:
		c.status = sqlc.ProposalStatusWithdrawn
	case sqlc.DecisionKindSupersede:
		c.status = sqlc.ProposalStatusSuperseded
	case sqlc.DecisionKindConfirm:
		if c.confirmer = who; c.shared {
			c.status = sqlc.ProposalStatusAwaitingApproval
			return
		}
		m.write(c)
	case sqlc.DecisionKindApprove:
		if counts := m.counting(c); counts >= 2 {
			m.write(c)
		}
	}
}

// counting is how many approvals count now.
func (m *sharedModel) counting(c *sharedCard) int {
	n := 0
	for who, kind := range c.decided {
		if kind == sqlc.DecisionKindApprove && m.approver(who) {
			n++
		}
	}
	return n
}

func (m *sharedModel) write(c *sharedCard) {
	c.status = sqlc.ProposalStatusFailed
	if c.seen == m.edits {
		c.status = sqlc.ProposalStatusApplied
		m.name, m.edits = c.to, m.edits+1
	}
}
