package views

import (
	"time"

	"github.com/countersign/countersign/sqlc"
)

// Outcome is how a proposal ended, in plain words: Who did what (Deed), and what came of it (Words).
// Reason is what the person said, if anything.
type Outcome struct {
	Tone   Tone
	Title  string
	Who    string
	Deed   string
	Words  string
	Hint   string
	Reason string
	At     *time.Time
}

// OutcomeOf says how a proposal ended; nil while nobody has decided anything.
func OutcomeOf(c Card) *Outcome {
	p, d := c.Proposal, c.Final()
	if p.Status == sqlc.ProposalStatusPending {
		return nil
	}
	o := Outcome{Tone: statusTone(p.Status), Title: StatusWord(p.Status), At: p.ResolvedAt, Words: endedWords(p, d)}
	if p.Status == sqlc.ProposalStatusFailed {
		o.Hint = failureHint(p.FailureCode)
	}
	if d != nil && d.Reason != nil {
		o.Reason = *d.Reason
	}
	if d != nil && !d.PersonID.IsZero() {
		o.Who, o.Deed = c.who(d), deedWords(d.Kind)
	}
	return &o
}

func deedWords(k sqlc.DecisionKind) string {
	switch k {
	case sqlc.DecisionKindReject:
		return "rejected it"
	case sqlc.DecisionKindApprove:
		return "approved it"
	case sqlc.DecisionKindDisapprove:
		return "disapproved it"
	case sqlc.DecisionKindWithdraw:
		return "withdrew it"
	case sqlc.DecisionKindSupersede:
		return "edited it"
	}
	return "confirmed it"
}

func endedWords(p *sqlc.Proposal, d *Decision) string {
	switch p.Status {
	case sqlc.ProposalStatusAwaitingApproval:
		return "It was confirmed. Nothing changes until it is approved as well."
	case sqlc.ProposalStatusApplied:
		return appliedWords(p)
	case sqlc.ProposalStatusExpired:
		return "Nobody decided it in time. Nothing was changed."
	case sqlc.ProposalStatusWithdrawn:
		return withdrawnWords(d)
	case sqlc.ProposalStatusSuperseded:
		return "A newer proposal stands in its place. Nothing was changed by this one."
	case sqlc.ProposalStatusFailed:
		return failureWords(p)
	}
	return "Nothing was changed."
}

func appliedWords(p *sqlc.Proposal) string {
	if p.PreviewOnly {
		return "The decision is recorded. Nothing was changed, as the card said: there is no way to write this yet."
	}
	return "The change is made."
}

func withdrawnWords(d *Decision) string {
	switch {
	case d == nil || d.PersonID.IsZero() && d.TokenID.IsZero():
		return "The answer that proposed it was cut short, so it was taken back. Nothing was changed."
	case d.PersonID.IsZero():
		return "The client that proposed it took it back. Nothing was changed."
	}
	return "Nothing was changed."
}

func failureWords(p *sqlc.Proposal) string {
	if p.FailureMessage == nil {
		return "It could not be applied."
	}
	return *p.FailureMessage
}

// failureHint says what follows from a failure, where its message does not.
func failureHint(code *sqlc.FailureCode) string {
	if code == nil {
		return ""
	}
	switch *code {
	case sqlc.FailureCodeRecordChanged:
		return ""
	case sqlc.FailureCodeRecordGone:
		return "There is nothing left to change."
	case sqlc.FailureCodeRecordUnreadable, sqlc.FailureCodeNotPermitted:
		return "The record was left as it is. Someone who may change it can ask for it again."
	case sqlc.FailureCodeSwitchedOff:
		return "The record was left as it is. An operator decides what is offered."
	case sqlc.FailureCodeConstraintViolation, sqlc.FailureCodeInvalidValue:
		return "The record was left as it is. Ask again with another value."
	}
	return "The record was left as it is."
}
