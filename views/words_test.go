package views_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

func TestTimes(t *testing.T) {
	for away, want := range map[time.Duration][2]string{
		0:                                     {"just now", "no time left"},
		-59 * time.Second:                     {"just now", "no time left"},
		-60 * time.Second:                     {"1 minute ago", "no time left"},
		-119 * time.Minute:                    {"1 hour ago", "no time left"},
		-72 * time.Hour:                       {"3 days ago", "no time left"},
		time.Second:                           {"in 1 second", "1 second left"},
		59*time.Second + 999*time.Millisecond: {"in 59 seconds", "59 seconds left"},
		24*time.Minute + 59*time.Second:       {"in 24 minutes", "24 minutes left"},
		47 * time.Hour:                        {"in 47 hours", "47 hours left"},
		48 * time.Hour:                        {"in 2 days", "2 days left"},
	} {
		at := now.Add(away)
		if got := views.Relative(at, now); got != want[0] {
			t.Errorf("%s away is %q, want %q", away, got, want[0])
		}
		if got := views.Left(at, now); got != want[1] {
			t.Errorf("%s away leaves %q, want %q", away, got, want[1])
		}
	}
	rome := time.FixedZone("", 2*3600)
	if got := views.Absolute(time.Date(2026, 5, 29, 1, 30, 0, 0, rome), now); got != "Thu 28 May 2026, 23:30 UTC" {
		t.Errorf("yesterday evening is %q", got)
	}
	if got := views.Absolute(time.Date(2026, 5, 29, 12, 30, 0, 0, rome), now); got != "10:30 UTC" {
		t.Errorf("today is %q", got)
	}
}

func TestEveryStatusHasItsWords(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sqlc.AllProposalStatusValues() {
		word := views.StatusWord(s)
		if word == string(s) || seen[word] {
			t.Errorf("%s is called %q", s, word)
		}
		seen[word] = true
		o := views.OutcomeOf(decided(rename(), s, maria, "Maria Rossi", sqlc.DecisionKindConfirm, nil))
		if (o == nil) != (s == sqlc.ProposalStatusPending) || o != nil && o.Words == "" {
			t.Errorf("%s ends as %+v", s, o)
		}
	}
	found := map[sqlc.ProposalStatus]int{}
	for _, f := range views.Filters {
		for _, s := range f.Statuses {
			found[s]++
		}
	}
	for _, s := range sqlc.AllProposalStatusValues() {
		if found[s] == 0 {
			t.Errorf("the history finds no %s", s)
		}
	}
}

func TestHowItEnded(t *testing.T) {
	reason := "Still used."
	applied := decided(rename(), sqlc.ProposalStatusApplied, maria, "Maria Rossi", sqlc.DecisionKindConfirm, nil)
	preview := decided(creation(), sqlc.ProposalStatusApplied, paolo, "Paolo Conti", sqlc.DecisionKindConfirm, nil)
	system := decided(rename(), sqlc.ProposalStatusWithdrawn, id.User{}, "", sqlc.DecisionKindWithdraw, nil)
	token := decided(rename(), sqlc.ProposalStatusWithdrawn, id.User{}, "", sqlc.DecisionKindWithdraw, nil)
	token.Decisions[0].TokenID = id.NewToken()
	unstored := rename()
	unstored.Proposal.Status, unstored.Proposal.ResolvedAt = sqlc.ProposalStatusExpired, ptr(now)
	for name, c := range map[string]struct {
		card       views.Card
		who, words string
	}{
		"by me":           {applied, "You", "The change is made."},
		"by another":      {decided(rename(), sqlc.ProposalStatusRejected, paolo, "Paolo Conti", sqlc.DecisionKindReject, &reason), "Paolo Conti", "Nothing was changed."},
		"a preview":       {preview, "Paolo Conti", "The decision is recorded. Nothing was changed, as the card said: there is no way to write this yet."},
		"by the system":   {system, "", "The answer that proposed it was cut short, so it was taken back. Nothing was changed."},
		"by a client":     {token, "", "The client that proposed it took it back. Nothing was changed."},
		"expired on read": {unstored, "", "Nobody decided it in time. Nothing was changed."},
		"failed":          {failed(), "You", *failed().Proposal.FailureMessage},
	} {
		o := views.OutcomeOf(c.card)
		if o.Who != c.who || o.Words != c.words {
			t.Errorf("%s: %q did it: %q", name, o.Who, o.Words)
		}
	}
	for _, code := range sqlc.AllFailureCodeValues() {
		c := failed()
		c.Proposal.FailureCode = &code
		saysItself := code == sqlc.FailureCodeRecordChanged
		if o := views.OutcomeOf(c); (o.Hint == "") != saysItself {
			t.Errorf("%s gives the hint %q", code, o.Hint)
		}
	}
}

func TestEntitiesThatAreGoneHaveAName(t *testing.T) {
	for entity, want := range map[string]string{"mrp.production_order": "Production order", "core.role": "Role", "role": "Role", "x.": "x."} {
		if got := views.EntityName(entity); got != want {
			t.Errorf("%s is called %q", entity, got)
		}
	}
}

func TestNoticesAreOurs(t *testing.T) {
	for _, n := range []views.Notice{"", "x", "<script>"} {
		if n.Words() != "" {
			t.Errorf("%q says %q", n, n.Words())
		}
	}
	for _, n := range []views.Notice{views.Confirmed, views.Rejected, views.Withdrew, views.Extended, views.Decided, views.Outdated, views.Lapsed, views.Switched} {
		if n.Words() == "" {
			t.Errorf("%s says nothing", n)
		}
	}
}
