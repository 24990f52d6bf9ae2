package views_test

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

func rename() views.Card {
	c := open(33, `Rename role "editor" to "reviewer"`, card.Record{
		Entity: "core.role", Operation: sqlc.WriteOperationUpdate, Key: "4", Label: "editor",
		Changes: []card.Change{{Field: "name", Label: "Name", Type: card.Text, From: text("editor"), To: text("reviewer")}},
	})
	c.Kind, c.Proposal.Entity, c.Proposal.ExpiresAt = "Role", "core.role", now.Add(4*time.Minute)
	c.Rehearsal = &card.Rehearsal{Status: card.Passed}
	return c
}

func deletion() views.Card {
	c := open(34, `Delete role "temp"`, card.Record{
		Entity: "core.role", Operation: sqlc.WriteOperationDelete, Key: "7", Label: "temp",
		Changes: []card.Change{{Field: "name", Label: "Name", Type: card.Text, From: text("temp")}, {Field: "description", Label: "Description", Type: card.Text, From: null()},
			{Field: "made_at", Label: "Made", Type: card.Timestamp, From: text("2026-05-29T13:06:51.74978Z")}},
	})
	c.Kind, c.Proposal.Operation, c.Proposal.RequiresApproval, c.Proposal.ApprovalsNeeded = "Role", sqlc.WriteOperationDelete, true, 1
	c.Rehearsal = &card.Rehearsal{Status: card.Passed, SideEffects: []card.SideEffect{{Table: "hr.badges", Operation: "DELETE", Rows: 1}, {Table: "hr.doors\u202e", Operation: "UPDATE", Rows: 12}},
		AlsoSets: []card.AlsoSet{{Change: card.Change{Field: "updated_at", Label: "Last changed", Type: card.Timestamp, From: text("2026-05-29T13:06:51.74978Z"), To: text("2026-05-29T13:07:51.74978Z")}, Records: 1},
			{Change: card.Change{Field: "pin", Label: "PIN", Type: card.Text, From: &card.Value{Masked: true}, To: &card.Value{Masked: true}}, Records: 1}}}
	c.Proposal.Channel, c.Proposal.ClientName, c.Conversation = sqlc.ChannelMcp, ptr("probe"), ""
	return c
}

func creation() views.Card {
	c := open(35, `Create role "night shift"`, card.Record{
		Entity: "core.role", Operation: sqlc.WriteOperationCreate, Label: "night shift",
		Changes: []card.Change{
			{Field: "name", Label: "Name", Type: card.Text, To: text("night shift")},
			{Field: "description", Label: "Description", Type: card.Text, To: text(strings.Repeat("Works from ten to six. ", 40))},
		},
	})
	c.Kind, c.Proposal.Operation, c.Proposal.Channel, c.Proposal.PreviewOnly, c.Conversation = "Role", sqlc.WriteOperationCreate, sqlc.ChannelApi, true, ""
	return c
}

func failed() views.Card {
	c := decided(rename(), sqlc.ProposalStatusFailed, maria, "Maria Rossi", sqlc.DecisionKindConfirm, nil)
	c.Proposal.FailureCode, c.Proposal.FailureMessage = ptr(sqlc.FailureCodeRecordChanged), ptr("The record changed after the card was made, so it was left as it is. Propose the change again to see it as it is now.")
	return c
}

func queueOf(cards ...views.Card) views.Queue {
	q := views.Queue{First: true, Decides: true}
	for _, c := range cards {
		q.Rows = append(q.Rows, views.Row{Proposal: c.Proposal, Kind: c.Kind, Acting: c.Acting})
	}
	return q
}

func offers() views.Capabilities {
	return views.Capabilities{Enabled: true, Provider: "offline", Offers: []views.Offer{
		{Entities: "Roles", Operation: "list"}, {Entities: "Roles", Operation: "get"},
		{Entities: "Roles", Operation: "create", Write: true}, {Entities: "Roles", Operation: "update", Write: true}, {Entities: "Roles", Operation: "delete", Write: true, Approval: true},
		{Entities: "Users", Operation: "list"}, {Entities: "Users", Operation: "get"},
		{Entities: "Production orders", Operation: "list"}, {Entities: "Production orders", Operation: "get"}, {Entities: "Production orders", Operation: "update", Write: true},
		{Entities: "Work centres", Operation: "list"}, {Entities: "Work centres", Operation: "get"},
	}}
}

func compose() views.Compose {
	return views.Compose{Key: "turn_1", Limit: 4000, Examples: []string{"What can you do?", "Which production orders are there?", "Rename role 4 to reviewer"}}
}

func said(n byte, role sqlc.MessageRole, content string) views.Message {
	return views.Message{Message: &sqlc.Message{ID: message(n), ConversationID: thread, Role: role, Status: sqlc.MessageStatusComplete, Content: content, CreatedAt: now.Add(-time.Duration(10-n) * time.Minute)}}
}

func chat() views.ConversationPage {
	answer := said(2, sqlc.MessageRoleAssistant, "I have prepared this change. Nothing changes until you confirm it.")
	c := rename()
	c.Back = views.ConversationPath(thread)
	answer.Cards = []views.Card{c}
	read := said(4, sqlc.MessageRoleAssistant, "Two orders are released: PO-1039 and PO-1040.")
	read.Citations = []views.Citation{{Entity: "mrp.production_order", RecordID: "1", Label: "PO-1039"}, {Entity: "mrp.production_order", RecordID: "2", Label: "PO-1040"}}
	cut := said(6, sqlc.MessageRoleAssistant, "The answer took too long and was cut short. Nothing was changed, and what it had proposed was withdrawn. Please send the message again.")
	cut.Status = sqlc.MessageStatusCutShort
	return views.ConversationPage{
		Conversation: &sqlc.Conversation{ID: thread, UserID: maria, Title: "Week 22 plan", CreatedAt: now, UpdatedAt: now},
		Messages: []views.Message{
			said(1, sqlc.MessageRoleUser, "Rename role 4 to reviewer"), answer,
			said(3, sqlc.MessageRoleUser, "Which orders are released?"), read,
			said(5, sqlc.MessageRoleUser, "Tell me all of it"), cut,
		},
		Newest: true, Compose: compose(), May: offers(), Earlier: "/conversations/x?before=y",
	}
}

func history() views.HistoryPage {
	applied := decided(moved(), sqlc.ProposalStatusApplied, maria, "Maria Rossi", sqlc.DecisionKindConfirm, nil)
	rejected := decided(deletion(), sqlc.ProposalStatusRejected, paolo, "Paolo Conti", sqlc.DecisionKindReject, ptr("It is still used."))
	page := views.HistoryPage{Newest: true, Older: "/history?before=30"}
	for _, c := range []views.Card{applied, rejected, failed()} {
		page.Rows = append(page.Rows, views.Row{Proposal: c.Proposal, Kind: c.Kind, Acting: c.Acting, Last: &c.Decisions[0]})
	}
	return page
}

func withNotice(f views.Frame, n views.Notice) views.Frame { f.Notice = n; return f }

// pages are all there are, each in the states that matter.
func pages() map[string]templ.Component {
	first, second, third := moved(), rename(), deletion()
	earlier := []*sqlc.Conversation{{ID: thread, Title: "Week 22 plan", UpdatedAt: now.Add(-time.Hour)}}
	return map[string]templ.Component{
		"sign-in":             views.SignIn(views.SignInPage{Next: "/inbox"}),
		"sign-in-wrong":       views.SignIn(views.SignInPage{Email: "maria@harbor.example", Workspace: "harbor-mill", Next: "/proposals/x", Wrong: "The e-mail address or the password is wrong."}),
		"sign-in-ended":       views.SignIn(views.SignInPage{Ended: true}),
		"workspaces":          views.Workspaces(frame("Choose a workspace", views.NoSection)),
		"inbox":               views.Inbox(frame("Inbox", views.ToInbox), views.InboxPage{Queue: queueOf(first, second, third), Card: &first}),
		"inbox-empty":         views.Inbox(frame("Inbox", views.ToInbox), views.InboxPage{Queue: queueOf()}),
		"inbox-auditor":       views.Inbox(frame("Inbox", views.ToInbox), views.InboxPage{Queue: views.Queue{First: true}}),
		"proposal":            views.Proposal(frame("#31", views.ToInbox), views.ProposalPage{Queue: queueOf(first, second, third), Card: first}),
		"proposal-delete":     views.Proposal(frame("#34", views.ToInbox), views.ProposalPage{Queue: queueOf(third), Card: third}),
		"proposal-create":     views.Proposal(frame("#35", views.ToInbox), views.ProposalPage{Card: creation()}),
		"proposal-applied":    views.Proposal(withNotice(frame("#31", views.ToInbox), views.Confirmed), views.ProposalPage{Queue: queueOf(second), Card: decided(first, sqlc.ProposalStatusApplied, maria, "Maria Rossi", sqlc.DecisionKindConfirm, nil)}),
		"proposal-rejected":   views.Proposal(withNotice(frame("#34", views.ToInbox), views.Decided), views.ProposalPage{Card: decided(third, sqlc.ProposalStatusRejected, paolo, "Paolo Conti", sqlc.DecisionKindReject, ptr("It is still used."))}),
		"proposal-failed":     views.Proposal(frame("#33", views.ToInbox), views.ProposalPage{Card: failed()}),
		"history":             views.History(frame("History", views.ToHistory), history()),
		"history-empty":       views.History(frame("History", views.ToHistory), views.HistoryPage{Newest: true}),
		"conversations":       views.Conversations(frame("Assistant", views.ToChat), views.ConversationsPage{Conversations: earlier, Newest: true, Compose: compose(), May: offers()}),
		"conversations-first": views.Conversations(frame("Assistant", views.ToChat), views.ConversationsPage{Newest: true, Compose: compose(), May: offers()}),
		"conversation":        views.Conversation(frame("Week 22 plan", views.ToChat), chat()),
		"assistant":           views.Assistant(frame("What the assistant may do", views.ToChat), offers()),
		"assistant-off":       views.Assistant(frame("What the assistant may do", views.ToChat), views.Capabilities{}),
		"problem-404":         views.Problem(frame("Not here", views.NoSection), views.FailureOf(404, "")),
		"problem-403":         views.Problem(frame("Not yours", views.NoSection), views.FailureOf(403, "")),
		"problem-429":         views.Problem(views.Frame{Title: "Too many tries"}, views.FailureOf(429, "Too many wrong passwords. Try again in 8 s.")),
		"problem-500":         views.Problem(views.Frame{Title: "Something went wrong"}, views.Failure{Status: 500, Title: "Something went wrong", Words: "This is a fault of ours.", Reference: "req-7f3a"}),
		"problem-503":         views.Problem(frame("Not available", views.NoSection), views.FailureOf(503, "")),
	}
}
