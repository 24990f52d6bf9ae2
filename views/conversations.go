package views

import (
	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// MaxMessage is how many characters a message has at most.
const MaxMessage = 4000

// Compose is the box one writes a message in. Key makes a message that is sent twice one message.
type Compose struct {
	Key      string
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
	// Failed says why the last message was not answered.
	Failed string
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

// unfinished says how an answer that is not whole ended.
func (m Message) unfinished() string {
	switch m.Status {
	case sqlc.MessageStatusCutShort:
		return "This answer was cut short. What it had proposed was taken back."
	case sqlc.MessageStatusFailed:
		return "This message could not be answered."
	}
	return ""
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
