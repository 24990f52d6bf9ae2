package graph

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// conversation is NOT_FOUND in another workspace, FORBIDDEN where it is another's.
func (r *Resolver) conversation(ctx context.Context, text string) (*sqlc.Conversation, error) {
	which, err := id.ParseConversation(text)
	if err != nil {
		return nil, err
	}
	c, err := r.queries.GetConversation(ctx, r.db(ctx), which)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNotFound
	}
	if err == nil && c.UserID != identity.From(ctx).User().ID {
		return nil, errNotYours
	}
	return c, err
}

// ownConversation is nil beside a proposal whose conversation is another's: the proposal may be seen, what
// was said may not.
func ownConversation(ctx context.Context, which id.Conversation) (*sqlc.Conversation, error) {
	if which.IsZero() {
		return nil, nil
	}
	c, err := load(ctx).conversations.Load(ctx, which)
	if err != nil || c == nil || c.UserID != identity.From(ctx).User().ID {
		return nil, err
	}
	return c, nil
}

const listConversations, listMessages = "conversations", "messages"

func (r *Resolver) conversationPage(ctx context.Context, first *int32, after *string) (*model.ConversationConnection, error) {
	w, err := windowOf(first, after, nil, nil, 20)
	if err != nil {
		return nil, err
	}
	who := identity.From(ctx)
	before := latest
	if w.cursor != nil {
		if before, err = idPlace(*w.cursor, listConversations, who.Workspace().ID); err != nil {
			return nil, err
		}
	}
	rows, err := r.queries.ConversationsNewest(ctx, r.db(ctx), sqlc.ConversationsNewestParams{
		WorkspaceID: who.Workspace().ID, UserID: who.User().ID, Before: id.ConversationOf(before), MaxRows: w.limit()})
	if err != nil {
		return nil, err
	}
	load(ctx).list(rows)
	return connect(w, rows, func(c *sqlc.Conversation) string { return idCursor(listConversations, c.WorkspaceID, c.ID.UUID()) }), nil
}

func (r *Resolver) messagePage(ctx context.Context, c *sqlc.Conversation, first *int32, after *string, last *int32, before *string) (*model.MessageConnection, error) {
	w, err := windowOf(first, after, last, before, 50)
	if err != nil {
		return nil, err
	}
	at := earliest
	if !w.forward {
		at = latest
	}
	if w.cursor != nil {
		if at, err = idPlace(*w.cursor, listMessages, c.WorkspaceID); err != nil {
			return nil, err
		}
	}
	rows, err := load(ctx).messages.Load(ctx, span{forward: w.forward, id: at, limit: w.limit()}, c.ID)
	if err != nil {
		return nil, err
	}
	return connect(w, rows, func(m *sqlc.Message) string { return idCursor(listMessages, m.WorkspaceID, m.ID.UUID()) }), nil
}

// proposalsOfConversation: a conversation can be given to another, its proposals stay whose they are.
func (r *Resolver) proposalsOfConversation(ctx context.Context, c *sqlc.Conversation, first *int32, after *string) (*model.ProposalConnection, error) {
	w, err := windowOf(first, after, nil, nil, 20)
	if err != nil {
		return nil, err
	}
	list, before := "in "+c.ID.String(), place{Number: math.MaxInt64}
	if w.cursor != nil {
		if before, err = placeOf(*w.cursor, list, c.WorkspaceID); err != nil {
			return nil, err
		}
	}
	rows, err := load(ctx).proposed.Load(ctx, span{number: before.Number, limit: w.limit()}, c.ID)
	if err != nil {
		return nil, err
	}
	return connect(w, rows, func(p *sqlc.Proposal) string {
		return place{List: list, Workspace: p.WorkspaceID, Number: p.Number}.String()
	}), nil
}

func citations(m *sqlc.Message) ([]*toolcall.Citation, error) {
	list := []*toolcall.Citation{}
	return list, json.Unmarshal(m.Citations, &list)
}

// writes are the proposals that an answer made; a person's own message makes none.
func writes(ctx context.Context, m *sqlc.Message) ([]*sqlc.Proposal, error) {
	if m.Role != sqlc.MessageRoleAssistant {
		return []*sqlc.Proposal{}, nil
	}
	return load(ctx).writes.Load(ctx, m.TurnID)
}

func (r *Resolver) newConversation(ctx context.Context, in model.CreateConversationInput) (*model.CreateConversationPayload, error) {
	c, err := r.Assistant.Open(ctx, identity.From(ctx), given(in.Title))
	if err != nil {
		return nil, err
	}
	return &model.CreateConversationPayload{Conversation: c, ClientMutationID: in.ClientMutationID}, nil
}

func (r *Resolver) send(ctx context.Context, in model.SendMessageInput) (*model.SendMessagePayload, error) {
	reply, err := r.Assistant.Send(ctx, identity.From(ctx), in.ConversationID, in.Content, given(in.IdempotencyKey))
	if err != nil {
		return nil, err
	}
	payload := &model.SendMessagePayload{Message: reply.Message, UserMessage: reply.UserMessage, ClientMutationID: in.ClientMutationID}
	if reply.Failure != nil {
		payload.Failure = &model.TurnFailure{Code: reply.Failure.Code, Message: reply.Failure.Message}
	}
	return payload, nil
}

func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
