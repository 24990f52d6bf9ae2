package gate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Intent is what someone wants changed, and where the wish comes from. Call is the tool call it is part
// of, which ends in the same transaction.
type Intent struct {
	Call       id.ToolCall
	Tool       string
	ActionKind string
	// Entity and Operation say what it is called; what is wanted is Values of the record with Key, or of all
	// that meet Where, or what Plan says.
	Entity    *record.Entity
	Operation record.Operation
	Key       string
	Where     map[string]json.RawMessage
	Values    map[string]json.RawMessage
	// Action is the custom action, where it is one: its Plan reads as the person and says which records are to be
	// changed. What it opens no write for is preview only.
	Action *record.CustomAction
	Plan   func(context.Context, pgx.Tx) (*Plan, error)
	// Policies are what the call goes by.
	Policies record.Policies
	// Undo is what is to be taken back of the proposal that RevertOf names.
	Undo *undo
	// Revises is the open proposal that this takes the place of, RevertOf the applied one that it undoes.
	Revises      id.Proposal
	RevertOf     id.Proposal
	Note         string
	Channel      sqlc.Channel
	ClientName   string
	Conversation id.Conversation
	Turn         id.Turn
	// IdempotencyKey, where there is one, makes a repeated request answer what the first one made;
	// RequestHash is what it asked for, 32 bytes.
	IdempotencyKey string
	RequestHash    []byte
	// besides are open proposals of the same intent that it may stand beside: their cards are not true any more.
	besides []id.Proposal
}

// Propose stores a card of what would change, and changes nothing. The records are read as the person, in
// the transaction that stores the card. Where the same is open already for the same person, that one is
// answered. A *Refusal says that no card was made, and why; an *Error that nothing could be done.
func (g *Gate) Propose(ctx context.Context, by identity.Actor, in Intent) (*sqlc.Proposal, error) {
	ctx = failpoint.In(ctx, failpoint.Propose)
	var made *sqlc.Proposal
	var err error
	if !identity.Acts(by) {
		return nil, forbidden("Only somebody who is signed in, or a token of theirs, proposes.")
	}
	in = in.under(in.Policies)
	for try := 1; ; try++ {
		made, err = g.propose(ctx, by, in)
		if twin := (*openTwin)(nil); errors.As(err, &twin) {
			made, in.besides, err = g.twin(ctx, by, in, twin.intent)
		}
		if !raced(err) || try >= attempts && !errors.Is(err, errTwinGone) || try >= twinAttempts {
			break
		}
	}
	if err != nil {
		return nil, unproposed(err)
	}
	g.tell(ctx)
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
		if err := failpoint.Hit(ctx, failpoint.Drafting); err != nil {
			return err
		}
		salt := newSalt()
		begun, err := tx.Sent(ctx)
		if err != nil {
			return err
		}
		draft, err := g.draft(ctx, begun, by, in, salt)
		if err != nil {
			return err
		}
		made, err = g.store(ctx, tx, by, in, draft, salt)
		return err
	})
	return made, err
}

func newSalt() []byte {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return salt
}

// store writes the card through the function that the agent's login may execute, and ends the call.
func (g *Gate) store(ctx context.Context, tx *postgres.Tx, by identity.Actor, in Intent, draft *drafted, salt []byte) (*sqlc.Proposal, error) {
	if err := failpoint.Hit(ctx, failpoint.Drafted); err != nil {
		return nil, err
	}
	params, err := g.seal(by, in, draft, salt)
	if err != nil {
		return nil, err
	}
	if err := g.queries.Propose(ctx, tx.Later(), params); err != nil {
		return nil, err
	}
	if err := failpoint.Hit(ctx, failpoint.Stored); err != nil {
		return nil, err
	}
	made, err := g.finished(ctx, tx, in, id.ProposalOf(params.ID), nil)
	return made, twinOf(err, params.Intent)
}

// seal makes the card and its fingerprint.
func (g *Gate) seal(by identity.Actor, in Intent, draft *drafted, salt []byte) (sqlc.ProposeParams, error) {
	approval := g.need(in.approval(), in.Policies, draft.written())
	sealed := card.Sealed{Proposal: id.NewProposal(), Workspace: by.Workspace().ID, ActingUser: by.User().ID, Tool: in.Tool, Entity: in.Entity.Name,
		Operation: sqlc.WriteOperation(in.Operation), ActionKind: in.ActionKind, ApprovalsNeeded: approval.Needed, ApproverRole: approvers(approval),
		PreviewOnly: draft.preview, Salt: salt, Records: draft.cards, Rehearsal: draft.rehearsal, RevertOf: in.RevertOf, Conflicts: draft.conflicts}
	params := sqlc.ProposeParams{
		ID: sealed.Proposal.UUID(), Tool: in.Tool, Entity: in.Entity.Name, Operation: sealed.Operation, ActionKind: in.ActionKind,
		Note: optional(in.Note), Fingerprint: card.Fingerprint(sealed), Salt: salt, Intent: card.Intent(sealed),
		ActingUserID: by.User().ID.UUID(), SignInID: id.Null(by.SignIn()), TokenID: id.Null(by.Token()),
		Channel: in.Channel, ClientName: optional(in.ClientName), ConversationID: id.Null(in.Conversation), TurnID: id.Null(in.Turn),
		ToolCallID: in.Call.UUID(), ApprovalsNeeded: approval.Needed, ApproverRole: approvers(approval), ApprovalLifetime: approval.Lifetime,
		PreviewOnly: draft.preview, Shared: in.Entity.Confirm == record.ConfirmWorkspace, Lifetime: in.lifetime(),
		IdempotencyKey: optional(redact.Key(in.IdempotencyKey)), RequestHash: in.RequestHash, RevisionOf: id.Null(in.Revises), RevertOf: id.Null(in.RevertOf), Besides: id.UUIDs(in.besides), PolicyVersion: in.Policies.Version, MostOfTurn: new(int32(g.registry.Assistant().ProposalsPerTurn))}
	if !by.Token().IsZero() {
		params.RejectedWithin = new(g.registry.Assistant().RejectedWithin)
	}
	return params, draft.fill(&params, g, in, sealed.Records)
}

// fill adds what is stored of a draft.
func (d *drafted) fill(params *sqlc.ProposeParams, g *Gate, in Intent, records []card.Record) (err error) {
	params.Headline = card.Headline(g.noun, records)
	if in.Operation == record.BulkUpdate {
		bulk := card.Summarise(records)
		params.Headline = card.BulkHeadline(in.Entity.Plural, len(records), bulk)
		if params.Changes, err = json.Marshal(bulk); err != nil {
			return err
		}
		if in.Where != nil {
			if params.Matched, err = json.Marshal(in.Where); err != nil {
				return err
			}
		}
	}
	if in.Undo != nil {
		params.Headline = card.UndoHeadline(in.Undo.of.Number, params.Headline)
	}
	if params.Conflicts, err = listed(d.conflicts); err != nil {
		return err
	}
	if params.Warnings, err = listed(d.warnings); err != nil {
		return err
	}
	if d.rehearsal != nil {
		if params.Rehearsal, err = json.Marshal(d.rehearsal); err != nil {
			return err
		}
	}
	params.Records, err = d.stored(records)
	return err
}

// listed is a list as JSON; [] where there is none.
func listed[T any](list []T) (json.RawMessage, error) { return json.Marshal(append([]T{}, list...)) }

// approvers is the role of those who approve, also where the configuration only comes to ask for it later.
func approvers(of record.Approval) sqlc.Role {
	if of.Role == "" {
		return sqlc.RoleApprover
	}
	return sqlc.Role(of.Role)
}

// noun is what the registry calls the records of an entity.
func (g *Gate) noun(entity string) card.Noun {
	e, ok := g.registry.Entity(entity)
	if !ok {
		return card.Noun{Title: entity}
	}
	return card.Noun{Title: e.Title, LabelField: e.LabelField()}
}

// finished ends the call in the transaction of its proposal, reads that as everyone does, and commits. Where the
// call has ended meanwhile, nothing is stored. key is what the request is to be known by from now on, where that is
// not stored yet.
func (g *Gate) finished(ctx context.Context, tx *postgres.Tx, in Intent, made id.Proposal, key *string) (*sqlc.Proposal, error) {
	params := sqlc.FulfilToolCallParams{ID: in.Call.UUID(), ProposalID: made.UUID(), IdempotencyKey: key}
	if key != nil {
		params.RequestHash = in.RequestHash
	}
	err := g.queries.FulfilToolCall(ctx, tx.Later(), params)
	if err != nil {
		return nil, err
	}
	p, err := g.queries.GetProposal(ctx, tx.Last(), made)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "22012" {
		return nil, callEnded
	}
	return p, err
}

var callEnded = &Refusal{Code: TurnEnded, Message: "The call or the turn this belongs to has ended."}

// unproposed maps what the database says of the proposal as a whole.
func unproposed(err error) error {
	if refused := refusedBy(err); refused != nil {
		return refused
	}
	if errors.Is(err, postgres.ErrUnheard) {
		return unknown(err)
	}
	return unavailable(err)
}

// refusedBy finds the refusal in an error; nil where it is none.
func refusedBy(err error) error {
	refusal, coded, pg := (*Refusal)(nil), (*Error)(nil), (*pgconn.PgError)(nil)
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &coded):
		return coded
	case errors.Is(err, errMoved):
		return &Refusal{Code: WouldFail, Message: "The record is being changed by someone else just now. Propose it again."}
	case errors.As(err, &pg) && pg.Code == "CS001":
		return callEnded
	case errors.As(err, &pg) && pg.Code == "CS003":
		return forbidden("You may not propose in this workspace.")
	case errors.As(err, &pg) && pg.Code == "CS004":
		return &Refusal{Code: NoEligibleApprover, Message: "This needs the approval of others, and there are not enough people here who could approve it."}
	case errors.As(err, &pg) && pg.Code == "CS007":
		return spent(pg.Detail)
	case errors.As(err, &pg) && pg.Code == "CS005":
		return &Refusal{Code: RecentlyRejected, Message: "A person rejected this change a short while ago. They may ask for it again themselves."}
	}
	return nil
}
