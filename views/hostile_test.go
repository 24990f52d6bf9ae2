package views_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// Texts that would do something where they were not text. Each begins and ends with a letter.
var hostile = []string{
	`a<script>alert(1)</script>z`,
	`a"><img src=x onerror=alert(1)>z`,
	`a' onmouseover='alert(1)' x='z`,
	`a</textarea></title></style><svg onload=alert(1)>z`,
	`a--><script src=//evil.example></script><!--z`,
	`javascript:alert(1)//z`,
	`js:alert(1)//z`,
	`data:text/html,<script>alert(1)</script>z`,
	`a{{constructor.constructor('alert(1)')()}}z`,
	`a${alert(1)}z`,
	`a&lt;b&gt;&#60;c&amp;z`,
	`a` + "`" + `\u003cscript>z`,
	`HX-Redirect: https://evil.example/z`,
}

// everywhere is every page with a text in every field that holds one.
func everywhere(s string) map[string]templ.Component {
	f := views.Frame{
		Title: s, Person: s, Email: s, Role: sqlc.Role(s), Workspace: views.Workspace{Slug: s, Name: s}, Notice: views.Notice(s),
		Workspaces: []views.Workspace{{Slug: "other", Name: s}, {Slug: s + "2", Name: s}}, Waiting: 3, Now: now,
	}
	full := full(s)
	rejected := decided(full, sqlc.ProposalStatusRejected, paolo, s, sqlc.DecisionKindReject, &s)
	failed := decided(full, sqlc.ProposalStatusFailed, paolo, s, sqlc.DecisionKindConfirm, nil)
	failed.Proposal.FailureCode, failed.Proposal.FailureMessage = ptr(sqlc.FailureCodeInternal), &s
	box := views.Compose{Key: s, Limit: 100, Content: s, Wrong: s, Examples: []string{s}}
	may := views.Capabilities{Enabled: true, Provider: s, Offers: []views.Offer{{Entities: s, Operation: s}, {Entities: s, Operation: s, Write: true}}}
	talk := &sqlc.Conversation{ID: thread, Title: s, UpdatedAt: now}
	answer := said(2, sqlc.MessageRoleAssistant, s)
	answer.Cards, answer.Citations = []views.Card{full, rejected}, []views.Citation{{Entity: s, RecordID: s, Label: s}}
	cut := said(3, sqlc.MessageRoleAssistant, s)
	cut.Status = sqlc.MessageStatusFailed
	return map[string]templ.Component{
		"sign-in":       views.SignIn(views.SignInPage{Email: s, Workspace: s, Next: s, Wrong: s}),
		"workspaces":    views.Workspaces(f),
		"inbox":         views.Inbox(f, views.InboxPage{Queue: queueOf(full), Card: &full}),
		"proposal":      views.Proposal(f, views.ProposalPage{Queue: queueOf(full), Card: full}),
		"rejected":      views.Proposal(f, views.ProposalPage{Queue: queueOf(full), Card: rejected}),
		"failed":        views.Proposal(f, views.ProposalPage{Card: failed}),
		"history":       views.History(f, views.HistoryPage{Filter: s, Rows: []views.Row{{Proposal: rejected.Proposal, Kind: s, Acting: s, Last: &rejected.Decisions[0]}}}),
		"conversations": views.Conversations(f, views.ConversationsPage{Conversations: []*sqlc.Conversation{talk}, Compose: box, May: may}),
		"conversation":  views.Conversation(f, views.ConversationPage{Conversation: talk, Messages: []views.Message{said(1, sqlc.MessageRoleUser, s), answer, cut}, Newest: true, Compose: box, May: may}),
		"assistant":     views.Assistant(f, may),
		"problem":       views.Problem(f, views.Failure{Status: 500, Title: s, Words: s, Reference: s}),
	}
}

// full is a card with a text in every field of it, values of every type included.
func full(s string) views.Card {
	r := card.Record{Entity: s, Operation: sqlc.WriteOperationUpdate, Key: s, Label: s, URL: s}
	for _, t := range []card.FieldType{card.Text, card.Integer, card.Decimal, card.Boolean, card.Date, card.Timestamp, card.UUID, card.Enum, card.Reference, card.JSON} {
		from, to := text(s+" before"), text(s+" after")
		from.Label, to.Label = s, s
		r.Changes = append(r.Changes, card.Change{Field: s, Label: s, Type: t, From: from, To: to})
	}
	c := open(31, s, r)
	c.Kind, c.Acting, c.Conversation, c.Back = s, s, s, s
	c.Proposal.ClientName, c.Proposal.AssistantNote, c.Others = &s, &s, []int64{7}
	c.Rehearsal = &card.Rehearsal{Status: card.Passed, SideEffects: []card.SideEffect{{Table: s, Operation: s, Rows: 1}}, AlsoSets: []card.AlsoSet{{Change: r.Changes[0], Records: 1}}}
	return c
}

func parsed(t *testing.T, page []byte) *html.Node {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func read(doc *html.Node) string {
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func TestHostileTextIsText(t *testing.T) {
	for _, s := range hostile {
		for name, page := range everywhere(s) {
			doc := parsed(t, render(t, page))
			harmless(t, name+" with "+s, doc)
			if name != "sign-in" && !strings.Contains(read(doc), s) {
				t.Errorf("%s does not show %q", name, s)
			}
		}
	}
}

// harmless checks that nothing on a page acts but what is ours.
func harmless(t *testing.T, name string, doc *html.Node) {
	t.Helper()
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("%s: a comment: %s", name, n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "iframe", "object", "embed", "base", "style", "img", "foreignobject", "animate", "set", "use":
			t.Errorf("%s: an element of the text's own: %s", name, n.Data)
		case "script":
			if n.FirstChild != nil || !strings.HasPrefix(of(n, "src"), "/static/") {
				t.Errorf("%s: a script of the text's own: %s", name, of(n, "src"))
			}
		}
		for _, a := range n.Attr {
			checkAttribute(t, name, n, a)
		}
	}
}

// ours are the attributes that htmx acts by. Their values are constants.
var ours = map[string][]string{
	"hx-boost": {"true", "false"}, "hx-target": {"#main"}, "hx-swap": {"outerHTML show:window:top"}, "hx-swap-oob": {"true", "innerHTML"},
	"hx-sync": {"closest article:drop", "this:drop"}, "hx-disabled-elt": {"find button"},
}

func checkAttribute(t *testing.T, name string, n *html.Node, a html.Attribute) {
	t.Helper()
	key, value := strings.ToLower(a.Key), strings.ToLower(strings.TrimSpace(a.Val))
	switch {
	case strings.HasPrefix(key, "on"), key == "style", key == "srcdoc", key == "formaction":
		t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
	case strings.HasPrefix(key, "hx-"):
		allowed := false
		for _, one := range ours[key] {
			allowed = allowed || one == a.Val
		}
		if !allowed {
			t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
		}
	case key == "href" || key == "src" || key == "action":
		if strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "js:") {
			t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
		}
	}
}

func of(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestHiddenCharactersAreMarks(t *testing.T) {
	const s = "pay\u202eelliot\u202c and\u200b \u2066x\u2069 \U000e0041 \u00a0end"
	for name, page := range everywhere(s) {
		if name == "sign-in" {
			continue
		}
		doc := parsed(t, render(t, page))
		marks := 0
		for n := range doc.Descendants() {
			if of(n, "class") == "mark" {
				marks++
			}
		}
		if marks == 0 {
			t.Errorf("%s marks nothing", name)
		}
	}
	doc := parsed(t, render(t, views.Full(full(s), 1)))
	for _, want := range []string{"RLO", "PDF", "ZWSP", "LRI", "PDI", "U+E0041", "NBSP"} {
		if !strings.Contains(read(doc), want) {
			t.Errorf("a card does not mark %s", want)
		}
	}
	for _, r := range "\u202e\u202c\u200b\u2066\u2069\U000e0041\u00a0" {
		for n := range doc.Descendants() {
			if n.Type == html.TextNode && strings.ContainsRune(n.Data, r) {
				t.Errorf("U+%04X is on the card as it is, in %q", r, n.Data)
			}
		}
	}
}

func TestLongValuesThatDifferAtTheirEndDiffer(t *testing.T) {
	for name, stem := range map[string]string{"one word": strings.Repeat("x", 20_000), "words": strings.Repeat("lorem ipsum ", 1_700), "lines": strings.Repeat("a line\n", 3_000)} {
		c := open(31, "Change notes", order(card.Change{Field: "notes", Label: "Notes", Type: card.Text, From: text(stem + "A"), To: text(stem + "B")}))
		doc := parsed(t, render(t, views.Full(c, 1)))
		before, after := valueIn(doc, "del"), valueIn(doc, "ins")
		if before == after || !strings.HasSuffix(before, "A") || !strings.HasSuffix(after, "B") {
			t.Errorf("%s: the card shows %.80q and %.80q", name, before, after)
		}
		if len(before) > 1000 {
			t.Errorf("%s: the excerpt has %d bytes", name, len(before))
		}
		if !strings.Contains(read(doc), stem+"B") {
			t.Errorf("%s: the whole value is not on the card", name)
		}
	}
}

// valueIn is the value first printed in an element.
func valueIn(doc *html.Node, element string) string {
	for n := range doc.Descendants() {
		if n.Data != element {
			continue
		}
		for v := range n.Descendants() {
			if strings.HasPrefix(of(v, "class"), "value") {
				return read(v)
			}
		}
	}
	return ""
}

func TestACardOfThreeHundredFieldsLeavesNoneOut(t *testing.T) {
	var changes []card.Change
	for i := range 300 {
		changes = append(changes, card.Change{Field: fmt.Sprintf("f%d", i), Label: fmt.Sprintf("Field %d", i), Type: card.Text,
			From: text(strings.Repeat(fmt.Sprintf("old%d ", i), 2_000)), To: text(strings.Repeat(fmt.Sprintf("new%d ", i), 2_000))})
	}
	page := read(parsed(t, render(t, views.Full(open(31, "Change 300 fields", order(changes...)), 1))))
	for i := range 300 {
		if !strings.Contains(page, fmt.Sprintf("Field %dbefore", i)) {
			t.Errorf("field %d is missing", i)
		}
	}
}
