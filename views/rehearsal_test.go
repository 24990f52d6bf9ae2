package views_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// words are the texts of a card in their order.
func words(t *testing.T, c views.Card) string {
	t.Helper()
	var list []string
	tokens := html.NewTokenizer(strings.NewReader(string(render(t, views.Full(c, 1)))))
	for tokens.Next() != html.ErrorToken {
		if token := tokens.Token(); token.Type == html.TextToken {
			list = append(list, strings.Fields(token.Data)...)
		}
	}
	return strings.Join(list, " ")
}

func TestACardSaysWhatElseWouldChange(t *testing.T) {
	also := func(a card.AlsoSet) *card.Rehearsal {
		a.Field, a.Label, a.Type = "notes", "Notes", card.Text
		return &card.Rehearsal{Status: card.Passed, AlsoSets: []card.AlsoSet{a}}
	}
	effect := &card.Rehearsal{Status: card.Passed, SideEffects: []card.SideEffect{{Table: "hr.badges", Operation: "DELETE", Rows: 1}, {Table: "hr.log", Operation: "INSERT", Rows: 20}}}
	for name, c := range map[string]struct {
		seen    *card.Rehearsal
		records int32
		status  sqlc.ProposalStatus
		says    string
	}{
		"rows":          {effect, 1, sqlc.ProposalStatusPending, "What else would change hr.badges 1 row deleted hr.log 20 rows added Seen in the database"},
		"afterwards":    {effect, 1, sqlc.ProposalStatusApplied, "What else would change, when it was proposed hr.badges 1 row deleted"},
		"a field":       {also(card.AlsoSet{Change: card.Change{From: text("a"), To: text("b")}, Records: 1}), 1, sqlc.ProposalStatusPending, "Notes before: a after: b Seen"},
		"of some":       {also(card.AlsoSet{Change: card.Change{To: text("b")}, Records: 2}), 3, sqlc.ProposalStatusPending, "Notes after: b in 2 of 3 records Seen"},
		"not the same":  {also(card.AlsoSet{Records: 3}), 3, sqlc.ProposalStatusPending, "Notes to different values in 3 of 3 records Seen"},
		"a masked one":  {also(card.AlsoSet{Change: card.Change{From: &card.Value{Masked: true}, To: &card.Value{Masked: true}}, Records: 1}), 1, sqlc.ProposalStatusPending, "Notes before: •••••• after: •••••• Seen"},
		"nothing":       {&card.Rehearsal{Status: card.Passed}, 1, sqlc.ProposalStatusPending, "nothing else would change."},
		"it was in use": {&card.Rehearsal{Status: card.NoLock}, 1, sqlc.ProposalStatusPending, "What else would change is not known."},
	} {
		one := rename()
		one.Rehearsal, one.Proposal.RecordCount, one.Proposal.Status = c.seen, c.records, c.status
		if got := words(t, one); !strings.Contains(got, c.says) {
			t.Errorf("%s: no %q in %q", name, c.says, got)
		}
	}
	for _, nothing := range []*card.Rehearsal{nil, {Status: card.Skipped}} {
		one := rename()
		if one.Rehearsal = nothing; strings.Contains(words(t, one), "else would change") {
			t.Errorf("%v: it says what it does not know", nothing)
		}
	}
}

// A card that shows much else is looked at whole before it is decided.
func TestACardWithMuchElseIsNotDecidedInPassing(t *testing.T) {
	c := rename()
	if !views.InPlace(c) {
		t.Error("a short card is not decided where it is met")
	}
	c.Rehearsal = &card.Rehearsal{Status: card.Passed, SideEffects: make([]card.SideEffect, 7)}
	if views.InPlace(c) {
		t.Error("a card with seven side effects is")
	}
}
