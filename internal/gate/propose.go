package gate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Intent is what someone wants changed, and where the wish comes from. Call is the tool call it is part
// of, which ends in the same transaction.
type Intent struct {
	Call         id.ToolCall
	Tool         string
	ActionKind   string
	Entity       *record.Entity
	Operation    record.Operation
	Key          string
	Values       map[string]json.RawMessage
	Note         string
	Channel      sqlc.Channel
	ClientName   string
	Conversation id.Conversation
	Turn         id.Turn
	// IdempotencyKey, where there is one, makes a repeated request answer what the first one made;
	// RequestHash is what it asked for, 32 bytes.
	IdempotencyKey string
	RequestHash    []byte
}

// Propose stores a card of what would change, and changes nothing. The record is read as the person, in
// the transaction that stores the card. A *Refusal says that no card was made, and why; an *Error that
// nothing could be done.
func (g *Gate) Propose(ctx context.Context, by identity.Actor, in Intent) (*sqlc.Proposal, error) {
	made, err := g.propose(ctx, by, in)
	if raced(err) { // another request with the same key was quicker: this time its proposal is found
		made, err = g.propose(ctx, by, in)
	}
	if err != nil {
		return nil, unproposed(err)
	}
	g.wake()
	return made, nil
}

func (g *Gate) propose(ctx context.Context, by identity.Actor, in Intent) (made *sqlc.Proposal, err error) {
	err = g.begin(ctx, g.pools.Agent, func(tx *postgres.Tx) error {
		if err := postgres.Enter(ctx, tx.Later(), by.Workspace().ID); err != nil {
			return err
		}
		if made, err = g.repeated(ctx, tx, by, in); made != nil || err != nil {
			return err
		}
		salt := make([]byte, 16)
		_, _ = rand.Read(salt) // never fails
		begun, err := tx.Sent(ctx)
		if err != nil {
			return err
		}
		draft, err := g.registry.Draft(ctx, begun, by, in.Entity, in.Operation, in.Key, in.Values, salt)
		if refusal := RefusalOf(err); refusal != nil {
			return refusal
		} else if err != nil {
			return err
		}
		if refusal := unchangeable(in, draft); refusal != nil {
			return refusal
		}
		made, err = g.store(ctx, tx, by, in, draft, salt)
		return err
	})
	return made, err
}

// store writes the card through the function that the agent's login may execute, and ends the call.
func (g *Gate) store(ctx context.Context, tx *postgres.Tx, by identity.Actor, in Intent, draft *record.Draft, salt []byte) (*sqlc.Proposal, error) {
	sealed := card.Sealed{Proposal: id.NewProposal(), Workspace: by.Workspace().ID, ActingUser: by.User().ID, Tool: in.Tool, Entity: in.Entity.Name,
		Operation: sqlc.WriteOperation(in.Operation), ActionKind: in.ActionKind, Salt: salt, Records: []card.Record{recordOf(in, draft)}}
	records, err := json.Marshal([]storedRecord{stored(in, draft, sealed.Records[0])})
	if err != nil {
		return nil, err
	}
	err = g.queries.Propose(ctx, tx.Later(), sqlc.ProposeParams{
		ID: sealed.Proposal.UUID(), Tool: in.Tool, Entity: in.Entity.Name, Operation: sealed.Operation, ActionKind: in.ActionKind,
		Headline: card.Headline(card.Noun{Title: in.Entity.Title, LabelField: in.Entity.LabelField()}, sealed.Records[0]), Note: optional(in.Note),
		Fingerprint: card.Fingerprint(sealed), Salt: salt, ActingUserID: by.User().ID.UUID(), SignInID: id.Null(by.SignIn()), TokenID: id.Null(by.Token()),
		Channel: in.Channel, ClientName: optional(in.ClientName), ConversationID: id.Null(in.Conversation), TurnID: id.Null(in.Turn),
		ToolCallID: in.Call.UUID(), Lifetime: in.Entity.Lifetime, IdempotencyKey: optional(in.IdempotencyKey), RequestHash: in.RequestHash, Records: records})
	if err != nil {
		return nil, err
	}
	return g.finished(ctx, tx, in, sealed.Proposal)
}

// finished ends the call in the transaction of its proposal, reads that as everyone does, and commits.
func (g *Gate) finished(ctx context.Context, tx *postgres.Tx, in Intent, made id.Proposal) (*sqlc.Proposal, error) {
	u := made.UUID()
	err := g.queries.FinishToolCall(ctx, tx.Later(), sqlc.FinishToolCallParams{ID: in.Call.UUID(), Status: sqlc.ToolCallStatusSucceeded, ProposalID: &u})
	if err != nil {
		return nil, err
	}
	return g.queries.GetProposal(ctx, tx.Last(), made)
}

// unchangeable tells why a record that was read is not offered for this change.
func unchangeable(in Intent, draft *record.Draft) *Refusal {
	if draft.Record != nil && draft.Record.Locked != "" {
		return &Refusal{Code: Locked, Message: draft.Record.Locked}
	}
	if in.Operation == record.Update && len(draft.Changed) == 0 {
		return &Refusal{Code: NothingToChange, Message: "The record already has these values, so there is nothing to change."}
	}
	return nil
}

// unproposed maps what the database says of the proposal as a whole.
func unproposed(err error) error {
	refusal, coded, pg := (*Refusal)(nil), (*Error)(nil), (*pgconn.PgError)(nil)
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &pg) && pg.Code == "CS001":
		return &Refusal{Code: TurnEnded, Message: "The call or the turn this belongs to has ended."}
	case errors.As(err, &pg) && pg.Code == "CS003":
		return forbidden("You may not propose in this workspace.")
	}
	return unavailable(err)
}

// storedRecord is a row of proposal_records as the function propose takes it.
type storedRecord struct {
	Position  int                        `json:"position"`
	Entity    string                     `json:"entity"`
	Operation sqlc.WriteOperation        `json:"operation"`
	Key       *string                    `json:"key"`
	Label     string                     `json:"label"`
	URL       *string                    `json:"url"`
	Version   *string                    `json:"version"`
	Before    map[string]json.RawMessage `json:"before"`
	Changes   []card.Change              `json:"changes"`
}

func stored(in Intent, draft *record.Draft, r card.Record) storedRecord {
	before := in.Entity.Exposed(draft.Record)
	for name, v := range before {
		before[name] = storable(v)
	}
	return storedRecord{Position: 1, Entity: r.Entity, Operation: r.Operation, Key: optional(r.Key), Label: r.Label, URL: optional(r.URL),
		Version: optional(r.Version), Before: before, Changes: r.Changes}
}
