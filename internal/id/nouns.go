package id

import (
	"io"

	"github.com/google/uuid"
)

type workspace struct{}

func (workspace) prefix() string { return "ws" }

// Workspace names a tenant: ws_….
type Workspace struct{ key[workspace] }

// MarshalGQL writes the TypeID.
func (i Workspace) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Workspace) UnmarshalGQL(v any) error { return i.read(v) }

// NewWorkspace makes an id that sorts after those made before.
func NewWorkspace() Workspace { return Workspace{fresh[workspace]()} }

// ParseWorkspace reads a TypeID; ErrMalformed for any other text.
func ParseWorkspace(s string) (Workspace, error) {
	k, err := parsed[workspace](s)
	return Workspace{k}, err
}

type user struct{}

func (user) prefix() string { return "user" }

// User names someone who may sign in: user_….
type User struct{ key[user] }

// MarshalGQL writes the TypeID.
func (i User) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *User) UnmarshalGQL(v any) error { return i.read(v) }

// NewUser makes an id that sorts after those made before.
func NewUser() User { return User{fresh[user]()} }

// UserOf gives the id that a stored uuid is.
func UserOf(u uuid.UUID) User { return User{key[user]{u}} }

// ParseUser reads a TypeID; ErrMalformed for any other text.
func ParseUser(s string) (User, error) {
	k, err := parsed[user](s)
	return User{k}, err
}

type signIn struct{}

func (signIn) prefix() string { return "sin" }

// SignIn names one sign-in of a person, by cookie or bearer token: sin_….
type SignIn struct{ key[signIn] }

// MarshalGQL writes the TypeID.
func (i SignIn) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *SignIn) UnmarshalGQL(v any) error { return i.read(v) }

// NewSignIn makes an id that sorts after those made before.
func NewSignIn() SignIn { return SignIn{fresh[signIn]()} }

// ParseSignIn reads a TypeID; ErrMalformed for any other text.
func ParseSignIn(s string) (SignIn, error) {
	k, err := parsed[signIn](s)
	return SignIn{k}, err
}

type token struct{}

func (token) prefix() string { return "tok" }

// Token names an API token: tok_….
type Token struct{ key[token] }

// MarshalGQL writes the TypeID.
func (i Token) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Token) UnmarshalGQL(v any) error { return i.read(v) }

// NewToken makes an id that sorts after those made before.
func NewToken() Token { return Token{fresh[token]()} }

// ParseToken reads a TypeID; ErrMalformed for any other text.
func ParseToken(s string) (Token, error) {
	k, err := parsed[token](s)
	return Token{k}, err
}

type conversation struct{}

func (conversation) prefix() string { return "conv" }

// Conversation names a conversation with the assistant: conv_….
type Conversation struct{ key[conversation] }

// MarshalGQL writes the TypeID.
func (i Conversation) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Conversation) UnmarshalGQL(v any) error { return i.read(v) }

// NewConversation makes an id that sorts after those made before.
func NewConversation() Conversation { return Conversation{fresh[conversation]()} }

// ConversationOf gives the id with this value.
func ConversationOf(u uuid.UUID) Conversation { return Conversation{key[conversation]{u}} }

// ParseConversation reads a TypeID; ErrMalformed for any other text.
func ParseConversation(s string) (Conversation, error) {
	k, err := parsed[conversation](s)
	return Conversation{k}, err
}

type message struct{}

func (message) prefix() string { return "msg" }

// Message names a message of a conversation: msg_….
type Message struct{ key[message] }

// MarshalGQL writes the TypeID.
func (i Message) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Message) UnmarshalGQL(v any) error { return i.read(v) }

// NewMessage makes an id that sorts after those made before.
func NewMessage() Message { return Message{fresh[message]()} }

// MessageOf gives the id with this value.
func MessageOf(u uuid.UUID) Message { return Message{key[message]{u}} }

// ParseMessage reads a TypeID; ErrMalformed for any other text.
func ParseMessage(s string) (Message, error) {
	k, err := parsed[message](s)
	return Message{k}, err
}

type turn struct{}

func (turn) prefix() string { return "turn" }

// Turn names one message being answered: turn_….
type Turn struct{ key[turn] }

// MarshalGQL writes the TypeID.
func (i Turn) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Turn) UnmarshalGQL(v any) error { return i.read(v) }

// NewTurn makes an id that sorts after those made before.
func NewTurn() Turn { return Turn{fresh[turn]()} }

// ParseTurn reads a TypeID; ErrMalformed for any other text.
func ParseTurn(s string) (Turn, error) {
	k, err := parsed[turn](s)
	return Turn{k}, err
}

type proposal struct{}

func (proposal) prefix() string { return "prop" }

// Proposal names a proposed change: prop_….
type Proposal struct{ key[proposal] }

// MarshalGQL writes the TypeID.
func (i Proposal) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Proposal) UnmarshalGQL(v any) error { return i.read(v) }

// NewProposal makes an id that sorts after those made before.
func NewProposal() Proposal { return Proposal{fresh[proposal]()} }

// ProposalOf gives the id with this value.
func ProposalOf(u uuid.UUID) Proposal { return Proposal{key[proposal]{u}} }

// ParseProposal reads a TypeID; ErrMalformed for any other text.
func ParseProposal(s string) (Proposal, error) {
	k, err := parsed[proposal](s)
	return Proposal{k}, err
}

type toolCall struct{}

func (toolCall) prefix() string { return "call" }

// ToolCall names one run of a tool, or one decision: call_….
type ToolCall struct{ key[toolCall] }

// MarshalGQL writes the TypeID.
func (i ToolCall) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *ToolCall) UnmarshalGQL(v any) error { return i.read(v) }

// NewToolCall makes an id that sorts after those made before.
func NewToolCall() ToolCall { return ToolCall{fresh[toolCall]()} }

// ParseToolCall reads a TypeID; ErrMalformed for any other text.
func ParseToolCall(s string) (ToolCall, error) {
	k, err := parsed[toolCall](s)
	return ToolCall{k}, err
}

type event struct{}

func (event) prefix() string { return "evt" }

// Event names one change of a proposal: evt_….
type Event struct{ key[event] }

// MarshalGQL writes the TypeID.
func (i Event) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Event) UnmarshalGQL(v any) error { return i.read(v) }

// NewEvent makes an id that sorts after those made before.
func NewEvent() Event { return Event{fresh[event]()} }

// ParseEvent reads a TypeID; ErrMalformed for any other text.
func ParseEvent(s string) (Event, error) {
	k, err := parsed[event](s)
	return Event{k}, err
}

type audit struct{}

func (audit) prefix() string { return "aud" }

// Audit names an entry of the audit trail: aud_….
type Audit struct{ key[audit] }

// MarshalGQL writes the TypeID.
func (i Audit) MarshalGQL(w io.Writer) { i.write(w) }

// UnmarshalGQL reads a TypeID; ErrMalformed for anything else.
func (i *Audit) UnmarshalGQL(v any) error { return i.read(v) }

// NewAudit makes an id that sorts after those made before.
func NewAudit() Audit { return Audit{fresh[audit]()} }

// ParseAudit reads a TypeID; ErrMalformed for any other text.
func ParseAudit(s string) (Audit, error) {
	k, err := parsed[audit](s)
	return Audit{k}, err
}
