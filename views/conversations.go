package views

import (
	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Compose is the box one writes a message in. Key makes a message that is sent twice one message; it has
// at most Limit characters.
type Compose struct {
	Key      string
	Limit    int
	Content  string
	Wrong    string
	Examples []string
}

// ConversationsPage lists the viewer's conversations, newest first.
type ConversationsPage struct {
	Conversations []*sqlc.Conversation
	Older         templ.SafeURL
	Newest        bool
	Compose       Compose
	May           Capabilities
}

// ConversationPage is one conversation, its messages oldest first.
type ConversationPage struct {
	Conversation *sqlc.Conversation
	Messages     []Message
	Earlier      templ.SafeURL
	Compose      Compose
	May          Capabilities
	// Newest is false where the messages end further up.
	Newest bool
}

// Message is what someone said, with the records an answer rests on and the cards it made.
type Message struct {
	*sqlc.Message
	Citations []Citation
	Cards     []Card
}

// Citation is a record an answer rests on.
type Citation struct {
	Entity   string `json:"entity"`
	RecordID string `json:"recordId"`
	Label    string `json:"label"`
}

// ConversationPath is the page of a conversation.
func ConversationPath(c id.Conversation) string { return "/conversations/" + c.String() }

func (m Message) fromAssistant() bool { return m.Role == sqlc.MessageRoleAssistant }

// failed: what it says is why there is no answer.
func (m Message) failed() bool { return m.Status != sqlc.MessageStatusComplete }

// unanswered: the last thing said is the viewer's own, so the answer is still being made.
func (p ConversationPage) unanswered() bool {
	n := len(p.Messages)
	return p.Newest && n > 0 && !p.Messages[n-1].fromAssistant()
}

func (m Message) who() string {
	if m.fromAssistant() {
		return "The assistant"
	}
	return "You"
}

func (m Message) side() string {
	if m.fromAssistant() {
		return "theirs"
	}
	return "mine"
}
