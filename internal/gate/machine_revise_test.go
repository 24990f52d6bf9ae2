package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// revise asks for another name, on this card or on another.
func (m *machine) revise(r *rapid.T) {
	which, c := m.pick(r)
	m.counted++
	to := fmt.Sprintf("name %d", m.counted)
	changes, _ := json.Marshal(to)
	seen := rapid.SampledFrom([]string{c.fingerprint, c.fingerprint, fmt.Sprintf("%064d", 0)}).Draw(r, "card")
	var want gate.RefusalCode
	switch {
	case c.status != sqlc.ProposalStatusPending:
		want = gate.DecidedBefore
	case seen != c.fingerprint:
		want = gate.OtherCard
	case c.undoes != nil:
		want = gate.BadInput
	}
	made, err := m.gate.Revise(m.t.Context(), m.maria, gate.Revision{Of: which, Seen: seen, Values: map[string]json.RawMessage{"name": changes}, Channel: sqlc.ChannelApi})
	var got gate.RefusalCode
	if refused := (*gate.Refusal)(nil); errors.As(err, &refused) {
		got, err = refused.Code, nil
	}
	if err != nil || got != want {
		r.Fatalf("revise of what is %s: %q, want %q: %v", c.status, got, want, err)
	}
	if want != "" {
		return
	}
	c.decided, c.status = sqlc.DecisionKindSupersede, sqlc.ProposalStatusSuperseded
	m.ids = append(m.ids, made.ID)
	m.cards[made.ID] = &modelCard{to: to, fingerprint: made.Fingerprint, seen: m.edits, status: sqlc.ProposalStatusPending}
}

// revert asks to undo: an applied name, as long as the record has it.
func (m *machine) revert(r *rapid.T) {
	which, c := m.pick(r)
	result, err := m.tools.Revert(m.t.Context(), m.maria, toolcall.Origin{Channel: sqlc.ChannelApi}, which, nil)
	if err != nil {
		r.Fatalf("revert: %v", err)
	}
	want := ""
	switch {
	case c.status != sqlc.ProposalStatusApplied:
		want = string(gate.NotOffered)
	case m.name == c.to && m.name != c.was:
	case m.undone(c):
		want = string(gate.DecidedBefore)
	default:
		want = string(gate.NothingToChange)
	}
	if result.Code != want {
		r.Fatalf("revert of %q, which is %s and was %q, while it is %q: %q, want %q", c.to, c.status, c.was, m.name, result.Code, want)
	}
	if !result.OK {
		return
	}
	if open, known := m.cards[result.Proposal.ID]; known { // the same is asked for already
		if open.undoes == nil || open.to != c.was || open.status != sqlc.ProposalStatusPending {
			r.Fatalf("revert to %q is answered by %+v", c.was, open)
		}
		return
	}
	m.ids = append(m.ids, result.Proposal.ID)
	m.cards[result.Proposal.ID] = &modelCard{to: c.was, fingerprint: result.Proposal.Fingerprint, seen: m.edits, status: sqlc.ProposalStatusPending, undoes: c}
}

// undone tells whether an applied revert of a card was not undone itself.
func (m *machine) undone(c *modelCard) bool {
	for _, one := range m.cards {
		if one.undoes == c && one.status == sqlc.ProposalStatusApplied && !m.appliedRevert(one) {
			return true
		}
	}
	return false
}

func (m *machine) appliedRevert(c *modelCard) bool {
	for _, one := range m.cards {
		if one.undoes == c && one.status == sqlc.ProposalStatusApplied {
			return true
		}
	}
	return false
}
