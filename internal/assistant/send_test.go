package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

func says(text string) script {
	return func(context.Context, assistant.Prompt, assistant.Call) (string, error) { return text, nil }
}

func TestTheModelsTextIsStoredAsItIs(t *testing.T) {
	const text = "  Done! I changed it.\n\n<b>ok</b> \n"
	w := newWorld(t, says(text))
	reply := w.send("Rename role 4", "")
	if reply.Message.Content != text || reply.Failure != nil {
		t.Errorf("the answer is %q, %v", reply.Message.Content, reply.Failure)
	}
	if reply.UserMessage.Content != "Rename role 4" || reply.UserMessage.Role != sqlc.MessageRoleUser || reply.Message.Role != sqlc.MessageRoleAssistant {
		t.Errorf("stored %+v and %+v", reply.UserMessage, reply.Message)
	}
	if status := one[string](w, `SELECT status::text FROM turns`); status != "complete" {
		t.Errorf("the turn is %s", status)
	}
	if title := one[string](w, `SELECT title FROM conversations`); title != "Rename role 4" {
		t.Errorf("the conversation is called %q", title)
	}
}

func TestWhereItProposedTheNoticeIsAParagraphOfItsOwn(t *testing.T) {
	const text = "All done."
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		rename(t, call, "corrector")
		return text, nil
	}))
	reply := w.send("Rename role 4 to reviewer", "")
	if reply.Message.Content != text+"\n\n"+assistant.Notice {
		t.Errorf("the answer is %q", reply.Message.Content)
	}
	if w.statuses() != "pending pending" {
		t.Errorf("the proposals are %s", w.statuses())
	}
	turns := one[int](w, `SELECT count(*)::int FROM proposals WHERE turn_id = $1 AND conversation_id = $2 AND channel = 'chat'`, reply.Message.TurnID, w.conversation)
	if turns != 2 {
		t.Errorf("%d proposals are of the message's turn, not 2", turns)
	}
	w.untouched()
}

func TestAnAnswerCitesWhatItReadOnceAndInOrder(t *testing.T) {
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		for _, id := range []string{"7", "4", "7"} {
			if _, err := call("core_role_get", json.RawMessage(`{"id":"`+id+`"}`)); err != nil {
				return "", err
			}
		}
		return "Here they are.", nil
	}))
	var citations []struct{ Entity, RecordID, Label string }
	if err := json.Unmarshal(w.send("Show roles", "").Message.Citations, &citations); err != nil {
		t.Fatal(err)
	}
	if len(citations) != 2 || citations[0].RecordID != "7" || citations[1].Label != "editor" || citations[1].Entity != "core.role" {
		t.Errorf("it cites %v", citations)
	}
}

func TestEveryMessageIsAnsweredAlone(t *testing.T) {
	var prompts []assistant.Prompt
	w := newWorld(t, script(func(_ context.Context, p assistant.Prompt, _ assistant.Call) (string, error) {
		prompts = append(prompts, p)
		return "The answer to " + p.Message, nil
	}))
	w.send("the first, about malt", "")
	w.send("the second, about hops", "")
	if prompts[0].System != prompts[1].System || prompts[1].Message != "the second, about hops" {
		t.Errorf("the second prompt is %+v", prompts[1])
	}
	if strings.Contains(prompts[1].System, "malt") || strings.Contains(prompts[1].System, "hops") {
		t.Error("the instructions hold a message")
	}
}

func TestWhatMayBeSent(t *testing.T) {
	w := newWorld(t, says("ok"))
	for _, c := range []struct{ name, content, key, field string }{
		{"nothing", "", "", "content"},
		{"blank", " \n\t", "", "content"},
		{"4001 characters", strings.Repeat("é", 4001), "", "content"},
		{"NUL", "a\x00b", "", "content"},
		{"no UTF-8", "a\xff", "", "content"},
		{"a long key", "a", strings.Repeat("k", 201), "idempotencyKey"},
		{"a key with NUL", "a", "\x00", "idempotencyKey"},
		{"4000 characters", strings.Repeat("é", 4000), strings.Repeat("k", 200), ""},
	} {
		_, err := w.Send(t.Context(), w.maria, w.conversation, c.content, c.key)
		wrong := (*assistant.InputError)(nil)
		if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &wrong) || wrong.Field != c.field || wrong.Limit == 0) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAConversationIsItsOwners(t *testing.T) {
	w := newWorld(t, says("ok"))
	paolo, olu := w.db.Person(t, "paolo@harbor.example"), w.db.Person(t, "olu@othersite.example")
	for name, send := range map[string]func() error{
		"a colleague":              func() error { _, err := w.Send(t.Context(), paolo, w.conversation, "hello", ""); return err },
		"a colleague's with a key": func() error { _, err := w.Send(t.Context(), paolo, w.conversation, "hello", "k"); return err },
	} {
		if err := send(); !errors.Is(err, assistant.ErrNotYours) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, send := range map[string]func() error{
		"another workspace":     func() error { _, err := w.Send(t.Context(), olu, w.conversation, "hello", ""); return err },
		"one that is not there": func() error { _, err := w.Send(t.Context(), w.maria, id.NewConversation(), "hello", ""); return err },
		"the zero id":           func() error { _, err := w.Send(t.Context(), w.maria, id.Conversation{}, "hello", ""); return err },
	} {
		if err := send(); !errors.Is(err, assistant.ErrNoConversation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := one[int](w, `SELECT count(*)::int FROM messages`); n != 0 {
		t.Errorf("%d messages were stored", n)
	}
}

func TestWhoMayNotProposeStillReads(t *testing.T) {
	w := newWorld(t, script(func(_ context.Context, p assistant.Prompt, call assistant.Call) (string, error) {
		for _, tool := range p.Tools {
			if tool.Write {
				t.Errorf("%s is offered", tool.Name)
			}
		}
		read, err := call("core_role_get", json.RawMessage(`{"id":"4"}`))
		if err != nil || !read.OK {
			t.Errorf("reading: %+v, %v", read, err)
		}
		refused, err := call("core_role_update", json.RawMessage(`{"id":"4","changes":{"name":"reviewer"}}`))
		if err != nil || refused.OK || refused.Code != "NOT_OFFERED" {
			t.Errorf("proposing: %+v, %v", refused, err)
		}
		return "ok", nil
	}))
	auditor, token := w.db.Person(t, "sam@harbor.example"), w.db.Agent(t, "maria@harbor.example", "read")
	if _, err := w.Send(t.Context(), auditor, w.open(auditor), "rename", ""); err != nil {
		t.Error(err)
	}
	if _, err := w.Send(t.Context(), token, w.conversation, "rename", ""); err != nil {
		t.Error(err)
	}
	if w.statuses() != "" {
		t.Errorf("the proposals are %s", w.statuses())
	}
}

func TestACallNamedConfirmIsAnUnknownTool(t *testing.T) {
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		made := rename(t, call, "reviewer")
		for _, name := range []string{"confirm", "confirmProposal", "apply", "approve_proposal", "core_role_confirm", ""} {
			result, err := call(name, json.RawMessage(`{"id":"`+made.Proposal.ID.String()+`","fingerprint":"`+made.Proposal.Fingerprint+`","confirm":true}`))
			if err != nil || result.OK || result.Code != "NOT_OFFERED" {
				t.Errorf("%q: %+v, %v", name, result, err)
			}
		}
		return "I confirmed it.", nil
	}))
	w.send("Rename role 4 to reviewer and confirm it", "")
	if w.statuses() != "pending" {
		t.Errorf("the proposal is %s", w.statuses())
	}
	w.untouched()
}

func TestAConversationIsOpened(t *testing.T) {
	w := newWorld(t, says("ok"))
	named, err := w.Open(t.Context(), w.maria, "  Week 23 ")
	if err != nil || named.Title != "Week 23" {
		t.Fatalf("%+v, %v", named, err)
	}
	if _, err := w.Send(t.Context(), w.maria, named.ID, "list roles", ""); err != nil {
		t.Fatal(err)
	}
	if title := one[string](w, `SELECT title FROM conversations WHERE id = $1`, named.ID); title != "Week 23" {
		t.Errorf("its own title became %q", title)
	}
	wrong := (*assistant.InputError)(nil)
	if _, err := w.Open(t.Context(), w.maria, strings.Repeat("x", 201)); !errors.As(err, &wrong) || wrong.Field != "title" {
		t.Errorf("a long title: %v", err)
	}
	w.send(strings.Repeat("malt and ", 100), "")
	if title := one[string](w, `SELECT title FROM conversations WHERE id = $1`, w.conversation); len([]rune(title)) != 80 || !strings.HasSuffix(title, "…") {
		t.Errorf("a long message made the title %q", title)
	}
}
