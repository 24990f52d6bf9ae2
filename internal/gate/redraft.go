package gate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// redrafted is a card that is to stand in the place of another.
type redrafted struct {
	intent Intent
	draft  *drafted
	salt   []byte
}

// redraft makes the new card of a revision, for whoever settle lets revise.
func (g *Gate) redraft(ctx context.Context, by identity.Person, in Revision) (*redrafted, error) {
	if len(in.Values) == 0 {
		return nil, &Refusal{Code: NothingToChange, Field: "changes", Message: "No field is given, so there is nothing to revise."}
	}
	intent, err := g.revised(ctx, by, in)
	if err != nil {
		return nil, unproposed(err)
	}
	policies, err := PoliciesOf(g.queries.PoliciesNow(ctx, postgres.As(g.pools.Agent, by.Workspace().ID), by.Workspace().ID))
	if err != nil {
		return nil, unproposed(err)
	}
	next := &redrafted{intent: intent.under(policies), salt: newSalt()}
	for range attempts {
		if err = g.draftInto(ctx, by, next); !raced(err) {
			break
		}
	}
	if err != nil {
		return nil, unproposed(err)
	}
	return next, nil
}

// draftInto reads and rehearses in a transaction that stores nothing.
func (g *Gate) draftInto(ctx context.Context, by identity.Person, next *redrafted) error {
	return g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		begun, err := tx.Sent(ctx)
		if err != nil {
			return err
		}
		next.draft, err = g.draft(ctx, begun, by, next.intent, next.salt)
		return err
	})
}

// revised is what is wanted now: as it was proposed, by whom it is revised, with other values.
func (g *Gate) revised(ctx context.Context, by identity.Person, in Revision) (Intent, error) {
	db := postgres.As(g.pools.Agent, by.Workspace().ID)
	p, err := g.queries.GetProposal(ctx, db, in.Of)
	if err != nil {
		return Intent{}, err
	}
	entity, ok := g.registry.Entity(p.Entity)
	if !ok {
		return Intent{}, errUnknownEntity
	}
	conversation, err := g.ownConversation(ctx, db, by, p.ConversationID)
	if err != nil {
		return Intent{}, err
	}
	changes, err := g.otherValues(ctx, db, p, in.Values)
	op := record.Operation(p.Operation)
	intent := Intent{Call: id.NewToolCall(), Tool: p.Tool, ActionKind: p.ActionKind, Entity: entity, Operation: op,
		Revises: p.ID, Channel: in.Channel, Conversation: conversation,
		Plan: func(context.Context, pgx.Tx) (*Plan, error) { return &Plan{Changes: changes}, nil }}
	if p.Matched != nil {
		err = errors.Join(err, json.Unmarshal(p.Matched, &intent.Where))
	}
	return intent, err
}

// ownConversation keeps the conversation where it is the reviser's: nobody proposes in another's.
func (g *Gate) ownConversation(ctx context.Context, db sqlc.DBTX, by identity.Person, which id.Conversation) (id.Conversation, error) {
	if which.IsZero() {
		return which, nil
	}
	c, err := g.queries.GetConversation(ctx, db, which)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && c.UserID != by.User().ID {
		return id.Conversation{}, nil
	}
	return which, err
}

// otherValues are the changes of the same records, in their order, with values in place of those that were
// proposed for the same fields.
func (g *Gate) otherValues(ctx context.Context, db sqlc.DBTX, p *sqlc.Proposal, values map[string]json.RawMessage) ([]record.Change, error) {
	rows, err := g.queries.RecordsOfProposal(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	records, err := card.Records(rows)
	if err != nil {
		return nil, err
	}
	ofAll, err := card.BulkChanges(p.Changes)
	if err != nil {
		return nil, err
	}
	list := make([]record.Change, len(records))
	for i, r := range records {
		entity, ok := g.registry.Entity(r.Entity)
		if !ok {
			return nil, errUnknownEntity
		}
		list[i] = record.Change{Entity: entity, Operation: record.Operation(r.Operation), Key: r.Key, Values: values, Kept: kept(ofAll, r.Changes, values)}
	}
	return list, nil
}

// kept are the values that were proposed and are not replaced: what all records get, and what this one does.
func kept(ofAll []card.BulkChange, own []card.Change, replaced map[string]json.RawMessage) map[string]record.Value {
	list := map[string]record.Value{}
	for _, c := range ofAll {
		if c.To != nil {
			list[c.Field] = record.Value{JSON: c.To.JSON, Null: c.To.Null}
		}
	}
	for _, c := range own {
		list[c.Field] = record.Value{JSON: c.To.JSON, Null: c.To.Null}
	}
	maps.DeleteFunc(list, func(field string, _ record.Value) bool { _, given := replaced[field]; return given })
	return list
}
