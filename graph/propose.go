package graph

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// propose hands a client's own form to the door that every tool goes through.
func (r *Resolver) propose(ctx context.Context, in model.ProposeChangeInput) (*model.ProposeChangePayload, error) {
	who := identity.From(ctx)
	if !who.May(identity.ScopePropose) {
		return nil, errNoPropose
	}
	if err := clientTexts(in); err != nil {
		return nil, err
	}
	from := toolcall.Origin{Channel: sqlc.ChannelApi, Note: given(in.Note), IdempotencyKey: given(in.IdempotencyKey)}
	if agent, ok := who.(identity.Agent); ok {
		from.ClientName = agent.Name()
	}
	if in.ConversationID != nil {
		c, err := r.conversation(ctx, in.ConversationID.String())
		if err != nil {
			return nil, err
		}
		from.Conversation = c.ID
	}
	result, err := r.Tools.Propose(ctx, who, from, toolcall.Change{Entity: in.Entity, Operation: string(in.Operation), RecordID: in.RecordID, Where: in.Where, Changes: in.Changes, Action: in.Action, Input: in.Input})
	if err != nil {
		return nil, err
	}
	load(ctx).know(result.Under)
	return &model.ProposeChangePayload{Result: proposed(result), ClientMutationID: in.ClientMutationID}, nil
}

func clientTexts(in model.ProposeChangeInput) error {
	if n := utf8.RuneCountInString(given(in.Note)); n > toolcall.MaxNote || strings.ContainsRune(given(in.Note), 0) {
		return invalid("note", fmt.Sprintf("note: at most %d characters, none of them NUL.", toolcall.MaxNote))
	}
	if in.IdempotencyKey == nil {
		return nil
	}
	if n := utf8.RuneCountInString(*in.IdempotencyKey); n < 1 || n > 200 || strings.ContainsRune(*in.IdempotencyKey, 0) {
		return invalid("idempotencyKey", "idempotencyKey: 1 to 200 characters, none of them NUL.")
	}
	return nil
}

func proposed(r *toolcall.Result) model.ProposeChangeResult {
	if r.OK {
		return r.Proposal
	}
	return notMade(&gate.Refusal{Code: gate.RefusalCode(r.Code), Message: r.Message, Field: r.Field})
}
