package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// untitled is what a conversation is called until its first message names it.
const untitled = "New conversation"

// Open begins a conversation. Without a title its first message will name it.
func (a *Assistant) Open(ctx context.Context, who identity.Actor, title string) (*sqlc.Conversation, error) {
	if !identity.Acts(who) {
		return nil, identity.ErrUnauthenticated
	}
	if title = strings.TrimSpace(title); title == "" {
		title = untitled
	}
	if err := bounded("title", "A title", title, MaxTitle); err != nil {
		return nil, err
	}
	made, err := a.queries.CreateConversation(ctx, postgres.As(a.agent, who.Workspace().ID), sqlc.CreateConversationParams{
		ID: id.NewConversation(), WorkspaceID: who.Workspace().ID, UserID: who.User().ID, Title: title})
	if err != nil {
		return nil, fmt.Errorf("open a conversation: %w", err)
	}
	return made, nil
}

// own checks that a conversation is the caller's.
func (a *Assistant) own(ctx context.Context, who identity.Actor, which id.Conversation) error {
	found, err := a.queries.GetConversation(ctx, postgres.As(a.agent, who.Workspace().ID), which)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoConversation
	case err != nil:
		return fmt.Errorf("read the conversation: %w", err)
	case found.UserID != who.User().ID:
		return ErrNotYours
	}
	return nil
}

// titled names a conversation after its first message.
func titled(content string) string {
	title := strings.Join(strings.Fields(content), " ")
	if utf8.RuneCountInString(title) > 80 {
		return string([]rune(title)[:79]) + "…"
	}
	return title
}
