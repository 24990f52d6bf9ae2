package views

import (
	"github.com/a-h/templ"

	"github.com/countersign/countersign/sqlc"
)

// Row is a proposal in a list. Last is the decision that ended it, if one did.
type Row struct {
	Proposal *sqlc.Proposal
	Kind     string
	Acting   string
	Last     *Decision
}

// Queue is what waits for the viewer, longest waiting first. Next leads to those that came later.
type Queue struct {
	Rows []Row
	Next templ.SafeURL
	// First is false where the list begins further down.
	First bool
	// Decides is false for those who decide nothing, whatever waits.
	Decides bool
}

// InboxPage is the queue with its first card, which is shown where there is room for both.
type InboxPage struct {
	Queue Queue
	Card  *Card
}

// ProposalPage is a card, beside the queue where something waits.
type ProposalPage struct {
	Queue Queue
	Card  Card
}

// next is the first in the queue that is not the card itself.
func (p ProposalPage) next() *Row {
	for i := range p.Queue.Rows {
		if p.Queue.Rows[i].Proposal.ID != p.Card.Proposal.ID {
			return &p.Queue.Rows[i]
		}
	}
	return nil
}

func (r Row) current(c *Card) bool { return c != nil && c.Proposal.ID == r.Proposal.ID }
