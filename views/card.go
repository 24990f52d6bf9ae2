package views

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Card is a proposal with what stands on and beside its card.
type Card struct {
	Proposal *sqlc.Proposal
	Records  []card.Record
	// Kind is what the registry calls such a record, e.g. "Production order".
	Kind string
	// Kinds are those of other entities that its records are of.
	Kinds map[string]string
	// Bulk is what all records of a bulk change get, and Matched its filter; empty for any other.
	Bulk    []card.BulkChange
	Matched []Condition
	// Conflicts are what changed since what it undoes was applied.
	Conflicts []card.Conflict
	// Edited is what was written in the form of Revise and refused, by field.
	Edited map[string]string
	// Rehearsal is what was seen when it was tried; nil where nothing is known of that.
	Rehearsal *card.Rehearsal
	// Planned is what the custom action that planned it says beside it.
	Planned []card.Notice
	// Acting is the name of the person it acts for.
	Acting string
	// Conversation is empty where there is none, or none of the viewer's.
	Conversation string
	// Others are the numbers of other open proposals on a record of this one, 0 for those that the viewer may not see.
	Others []int64
	// Since says where its records are not as it shows them any more.
	Since     string
	Decisions []Decision
	Actions   Actions
	Viewer    id.User
	// Now is the database's clock.
	Now time.Time
	// Back is the page to come to after a decision; empty for the card's own.
	Back string
}

// Decision is a decision with the name of who took it, empty for the system.
type Decision struct {
	*sqlc.ProposalDecision
	Person string
}

// Actions is what the viewer may do with a proposal now.
type Actions struct{ Confirm, Reject, Approve, Disapprove, Withdraw, Extend, Revise, Revert bool }

// decides tells whether there is something to press below the card.
func (a Actions) decides() bool { return a.Confirm || a.Reject || a.Approve || a.Disapprove }

// Path is the page of a proposal.
func Path(p id.Proposal) string { return "/proposals/" + p.String() }

func (c Card) path(verb string) string { return Path(c.Proposal.ID) + "/" + verb }

func (c Card) anchor() string { return "card-" + c.Proposal.ID.String() }

// state is what a page compares to find out whether a card is still what it shows.
func (c Card) state() templ.Attributes {
	return templ.Attributes{
		"data-status": string(c.Proposal.Status), "data-fingerprint": c.Proposal.Fingerprint,
		"data-until": stamp(c.Proposal.ExpiresAt), "data-others": strings.Trim(fmt.Sprint(c.Others), "[]"),
	}
}

func (c Card) open() bool { return Open(c.Proposal.Status) }

// Open tells whether a proposal can still be decided.
func Open(s sqlc.ProposalStatus) bool {
	return s == sqlc.ProposalStatusPending || s == sqlc.ProposalStatusAwaitingApproval
}

// Final is the decision that ended it; nil while there is none.
func (c Card) Final() *Decision {
	for i := range c.Decisions {
		if c.Decisions[i].Final {
			return &c.Decisions[i]
		}
	}
	return nil
}

// who is how the person who decided is called on the card: "You" for the viewer, nothing for the system.
func (c Card) who(d *Decision) string {
	switch {
	case d.PersonID.IsZero():
		return ""
	case d.PersonID == c.Viewer:
		return "You"
	}
	return d.Person
}

// EntityName makes words of an entity the registry no longer has: "mrp.production_order" is
// "Production order".
func EntityName(entity string) string {
	_, name, found := strings.Cut(entity, ".")
	if !found {
		name = entity
	}
	name = strings.ReplaceAll(name, "_", " ")
	if name == "" {
		return entity
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// origin says through what a proposal came. The name of a client, where there is one, follows it.
func origin(p *sqlc.Proposal) string {
	switch p.Channel {
	case sqlc.ChannelChat:
		return "by the assistant"
	case sqlc.ChannelMcp:
		return "by an assistant over MCP"
	case sqlc.ChannelConsole:
		return "in the console"
	}
	if p.TokenID.IsZero() {
		return "through the API"
	}
	return "through an API token"
}

// wordsOf says whose words a note is: they are never the card's own.
func wordsOf(p *sqlc.Proposal) string {
	if p.Channel == sqlc.ChannelChat || p.Channel == sqlc.ChannelMcp {
		return "The assistant’s words"
	}
	return "The client’s words"
}

// leads tells whether an address is one to follow: of the web, or of this host.
func leads(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	return (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" || u.Scheme == "" && u.Host == "" && strings.HasPrefix(address, "/")
}

// changesTitle heads the list of what changes, or changed, or would have.
func changesTitle(p *sqlc.Proposal) string {
	deed := "change"
	switch p.Operation {
	case sqlc.WriteOperationCreate:
		deed = "be created"
	case sqlc.WriteOperationDelete:
		deed = "be deleted"
	}
	switch {
	case Open(p.Status):
		return "What would " + deed
	case p.Status == sqlc.ProposalStatusApplied && !p.PreviewOnly:
		return map[string]string{"change": "What changed", "be created": "What was created", "be deleted": "What was deleted"}[deed]
	}
	return "What would have " + map[string]string{"change": "changed", "be created": "been created", "be deleted": "been deleted"}[deed]
}

// status is short for the templates.
type status = sqlc.ProposalStatus

func othersWords(numbers []int64) string {
	list := make([]string, 0, len(numbers))
	for _, n := range numbers {
		if n != 0 {
			list = append(list, fmt.Sprintf("#%d", n))
		}
	}
	if len(list) < len(numbers) {
		list = append(list, "one that you may not see")
	}
	if len(list) == 1 {
		return "Another open proposal is on this record: " + list[0] + ". Whichever is applied first, the other will no longer fit."
	}
	return "Other open proposals are on this record: " + strings.Join(list, ", ") + ". Whichever is applied first, the others will no longer fit."
}

func approvalWords(needed int32) string {
	if needed == 1 {
		return "Someone else has to approve it after you confirm. Nothing changes before that."
	}
	return fmt.Sprintf("%d other people have to approve it after you confirm. Nothing changes before that.", needed)
}
