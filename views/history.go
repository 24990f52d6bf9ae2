package views

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/sqlc"
)

// HistoryPage lists proposals the viewer may see, newest first.
type HistoryPage struct {
	Rows   []Row
	Filter string
	Older  templ.SafeURL
	// Newest is false where the list begins further down.
	Newest bool
}

// Filter narrows the history to some statuses.
type Filter struct {
	Name     string
	Words    string
	Statuses []sqlc.ProposalStatus
}

// Filters are those the history offers. The first is what it shows unasked.
var Filters = []Filter{
	{"", "Ended", []sqlc.ProposalStatus{
		sqlc.ProposalStatusApplied, sqlc.ProposalStatusRejected, sqlc.ProposalStatusDisapproved, sqlc.ProposalStatusExpired,
		sqlc.ProposalStatusWithdrawn, sqlc.ProposalStatusSuperseded, sqlc.ProposalStatusFailed,
	}},
	{"applied", "Applied", []sqlc.ProposalStatus{sqlc.ProposalStatusApplied}},
	{"rejected", "Rejected", []sqlc.ProposalStatus{sqlc.ProposalStatusRejected, sqlc.ProposalStatusDisapproved}},
	{"failed", "Not applied", []sqlc.ProposalStatus{sqlc.ProposalStatusFailed}},
	{"lapsed", "Expired or withdrawn", []sqlc.ProposalStatus{sqlc.ProposalStatusExpired, sqlc.ProposalStatusWithdrawn, sqlc.ProposalStatusSuperseded}},
	{"open", "Open", []sqlc.ProposalStatus{sqlc.ProposalStatusPending, sqlc.ProposalStatusAwaitingApproval}},
}

// FilterNamed finds a filter; false for a name that is none of them.
func FilterNamed(name string) (Filter, bool) {
	for _, f := range Filters {
		if f.Name == name {
			return f, true
		}
	}
	return Filter{}, false
}

func (f Filter) path() templ.SafeURL {
	if f.Name == "" {
		return "/history"
	}
	return templ.SafeURL("/history?" + url.Values{"show": {f.Name}}.Encode())
}

// ending is what a row says of how it ended.
func (r Row) ending() string {
	if r.Last == nil || r.Last.PersonID.IsZero() {
		return ""
	}
	switch r.Last.Kind {
	case sqlc.DecisionKindReject:
		return "rejected by"
	case sqlc.DecisionKindWithdraw:
		return "withdrawn by"
	case sqlc.DecisionKindSupersede:
		return "edited by"
	case sqlc.DecisionKindDisapprove:
		return "disapproved by"
	case sqlc.DecisionKindApprove:
		return "approved by"
	}
	return "confirmed by"
}
