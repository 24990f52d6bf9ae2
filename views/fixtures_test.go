package views_test

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// now is the clock of every page here.
var now = time.Date(2026, 5, 29, 10, 10, 0, 0, time.UTC)

var (
	maria  = user(1)
	paolo  = user(2)
	thread = conversation(1)
)

func fixed(n byte) uuid.UUID {
	return uuid.UUID{0x01, 0x9e, 0x70, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, n}
}

func user(n byte) (u id.User) { parse(&u, "user_", n); return u }

func proposal(n byte) (p id.Proposal) { parse(&p, "prop_", n); return p }

func conversation(n byte) (c id.Conversation) { parse(&c, "conv_", n); return c }

func message(n byte) (m id.Message) { parse(&m, "msg_", n); return m }

// parse gives an id a value that is the same in every run.
func parse(into interface{ ScanUUID(pgUUID) error }, _ string, n byte) {
	if err := into.ScanUUID(pgUUID{Bytes: fixed(n), Valid: true}); err != nil {
		panic(err)
	}
}

func frame(title string, section views.Section) views.Frame {
	return views.Frame{
		Title: title, Section: section, Person: "Maria Rossi", Email: "maria@harbor.example", Role: sqlc.RoleMember,
		Workspace:  views.Workspace{Slug: "harbor-mill", Name: "Harbor Mill"},
		Workspaces: []views.Workspace{{Slug: "harbor-mill", Name: "Harbor Mill"}, {Slug: "other-site", Name: "Other Site"}},
		Waiting:    3, Now: now,
	}
}

func text(s string) *card.Value {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return &card.Value{JSON: raw}
}

func raw(s string) *card.Value { return &card.Value{JSON: json.RawMessage(s)} }

func null() *card.Value { return &card.Value{Null: true} }

func ptr[T any](v T) *T { return &v }

// open is a pending proposal of Maria's, with what its card shows.
func open(n byte, headline string, records ...card.Record) views.Card {
	p := &sqlc.Proposal{
		ID: proposal(n), Number: int64(n), Status: sqlc.ProposalStatusPending, Entity: "mrp.production_order", Module: "mrp",
		Operation: sqlc.WriteOperationUpdate, Headline: headline, Fingerprint: strings.Repeat("ab", 32), ActingUserID: maria,
		Channel: sqlc.ChannelChat, ConversationID: thread, Lifetime: 30 * time.Minute,
		CreatedAt: now.Add(-6 * time.Minute), ExpiresAt: now.Add(24 * time.Minute),
	}
	return views.Card{
		Proposal: p, Records: records, Kind: "Production order", Acting: "Maria Rossi", Conversation: "Week 22 plan", Viewer: maria, Now: now,
		Actions: views.Actions{Confirm: true, Reject: true, Withdraw: true, Extend: true},
	}
}

func order(changes ...card.Change) card.Record {
	return card.Record{
		Entity: "mrp.production_order", Operation: sqlc.WriteOperationUpdate, Key: "3", Label: "PO-1042",
		URL: "https://erp.harbor.example/orders/3", Changes: changes,
	}
}

func decided(c views.Card, status sqlc.ProposalStatus, by id.User, name string, kind sqlc.DecisionKind, reason *string) views.Card {
	at := now.Add(-time.Minute)
	p := *c.Proposal
	p.Status, p.ResolvedAt = status, &at
	c.Proposal, c.Actions = &p, views.Actions{}
	c.Decisions = []views.Decision{{ProposalDecision: &sqlc.ProposalDecision{Kind: kind, Final: true, PersonID: by, Reason: reason, At: at}, Person: name}}
	return c
}

// moved is the story of the demo, with a value of each kind.
func moved() views.Card {
	c := open(31, `Change 7 fields of production order "PO-1042"`, order(
		card.Change{Field: "planned_start", Label: "Planned start", Type: card.Date, From: text("2026-05-31"), To: text("2026-06-02")},
		card.Change{Field: "quantity", Label: "Quantity", Type: card.Decimal, From: text("100"), To: text("120")},
		card.Change{Field: "notes", Label: "Notes", Type: card.Text, From: null(), To: text("moved off Sunday\u200b")},
		card.Change{Field: "item", Label: "Item", Type: card.Text, From: text("the quick brown fox"), To: text("the quick red fox")},
		card.Change{Field: "unit", Label: "Unit", Type: card.Text, From: text(""), To: text("   ")},
		card.Change{Field: "line", Label: "Line", Type: card.Reference, From: &card.Value{JSON: json.RawMessage(`"1"`), Label: "WC-BREW"}, To: &card.Value{JSON: json.RawMessage(`"2"`), Label: "WC-FILL"}},
		card.Change{Field: "urgent", Label: "Urgent", Type: card.Boolean, From: raw("false"), To: raw("true")},
		card.Change{Field: "pin", Label: "PIN", Type: card.Text, From: &card.Value{Masked: true}, To: &card.Value{Masked: true}},
	))
	c.Proposal.AssistantNote = ptr("Sunday is closed, so I suggest Tuesday.")
	c.Others = []int64{32}
	return c
}
