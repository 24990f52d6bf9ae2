package views

import (
	"time"

	"github.com/countersign/countersign/sqlc"
)

// Entry is a line of a proposal's history.
type Entry struct {
	At     time.Time
	Who    string
	Deed   string
	Reason string
}

// Timeline tells what happened to a proposal, oldest first.
func Timeline(c Card) []Entry {
	p := c.Proposal
	list := []Entry{{At: p.CreatedAt, Deed: "Proposed " + origin(p)}}
	if p.ExtendedAt != nil {
		list = append(list, Entry{At: *p.ExtendedAt, Deed: "Given more time"})
	}
	for i := range c.Decisions {
		d := &c.Decisions[i]
		e := Entry{At: d.At, Who: c.who(d), Deed: deed(d, p.Status)}
		if d.Reason != nil {
			e.Reason = *d.Reason
		}
		list = append(list, e)
	}
	if p.Status == sqlc.ProposalStatusExpired && c.Final() == nil {
		list = append(list, Entry{At: p.ExpiresAt, Deed: "Expired"})
	}
	return list
}

func deed(d *Decision, became sqlc.ProposalStatus) string {
	switch d.Kind {
	case sqlc.DecisionKindConfirm:
		return "confirmed" + ending(d, became)
	case sqlc.DecisionKindApprove:
		return "approved" + ending(d, became)
	case sqlc.DecisionKindReject:
		return "rejected"
	case sqlc.DecisionKindDisapprove:
		return "disapproved"
	case sqlc.DecisionKindSupersede:
		return "edited"
	case sqlc.DecisionKindExpire:
		return "Expired"
	}
	switch {
	case !d.PersonID.IsZero():
		return "withdrew it"
	case !d.TokenID.IsZero():
		return "Withdrawn by the client that proposed it"
	}
	return "Withdrawn: the answer that proposed it was cut short"
}

func ending(d *Decision, became sqlc.ProposalStatus) string {
	switch {
	case !d.Final:
		return ""
	case became == sqlc.ProposalStatusFailed:
		return ", and it could not be applied"
	}
	return ", and it was applied"
}

// words follow Who, where there is one, and go before the reason.
func (e Entry) words() string {
	words := e.Deed
	if e.Who != "" {
		words = " " + words
	}
	if e.Reason != "" {
		words += ": "
	}
	return words
}
