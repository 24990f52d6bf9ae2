package views

import (
	"fmt"
	"strings"
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
	o := Outcome{Tone: statusTone(p.Status), Title: StatusWord(p.Status), At: p.ResolvedAt, Words: endedWords(c, d)}
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

func endedWords(c Card, d *Decision) string {
	p := c.Proposal
	switch p.Status {
	case sqlc.ProposalStatusAwaitingApproval:
		return awaitingWords(c)
	case sqlc.ProposalStatusApplied:
		return appliedWords(p)
	case sqlc.ProposalStatusExpired:
		return expiredWords(c.Decisions)
	case sqlc.ProposalStatusWithdrawn:
		return withdrawnWords(d)
	case sqlc.ProposalStatusSuperseded:
		return "A newer proposal stands in its place. Nothing was changed by this one."
	case sqlc.ProposalStatusFailed:
		return failureWords(p)
	}
	return "Nothing was changed."
}

func awaitingWords(c Card) string {
	given := 0
	for _, d := range c.Decisions {
		if d.Kind == sqlc.DecisionKindApprove {
			given++
		}
	}
	if c.Proposal.ApprovalsNeeded < 2 {
		return "It was confirmed. Nothing changes until it is approved as well."
	}
	return fmt.Sprintf("It was confirmed. Nothing changes until %d others approve it; %d did so far.", c.Proposal.ApprovalsNeeded, given)
}

// expiredWords names those who had approved it, where it was confirmed.
func expiredWords(decisions []Decision) string {
	confirmed, names := false, []string{}
	for _, d := range decisions {
		confirmed = confirmed || d.Kind == sqlc.DecisionKindConfirm
		if d.Kind == sqlc.DecisionKindApprove {
			names = append(names, d.Person)
		}
	}
	switch {
	case !confirmed:
		return "Nobody decided it in time. Nothing was changed."
	case len(names) == 0:
		return "It was confirmed, and nobody approved it in time. Nothing was changed."
	}
	return "It was confirmed, and not enough others approved it in time. Approved by: " + strings.Join(names, ", ") + ". Nothing was changed."
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
