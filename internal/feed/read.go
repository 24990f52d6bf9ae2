package feed

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Item is an event in its place, with what says who may see it and what a filter asks for.
type Item struct {
	Position  Position
	Event     id.Event
	Workspace id.Workspace
	Proposal  id.Proposal
	Type      sqlc.EventType
	Status    sqlc.ProposalStatus // what the proposal became with this event
	Actor     id.User             // zero: the system
	At        time.Time

	// Of its proposal. But for Now and Deciders they never change, or change but once: RequiresApproval.
	ActingUser       id.User
	RequiresApproval bool
	ApproverRole     sqlc.Role
	Shared           bool
	Entity           string
	Operation        sqlc.WriteOperation
	ActionKind       string
	Conversation     id.Conversation     // zero: none
	Now              sqlc.ProposalStatus // what the proposal was when this was read
	Deciders         []id.User           // who had decided something about it then, where it awaited approval
}

// Cursor leads on from the item.
func (i Item) Cursor() string { return i.Position.Cursor() }

// ReadBy has what reads for clients done by this pool, and not by the worker's, which is small. It is for before Run.
func (f *Feed) ReadBy(reader *pgxpool.Pool) { f.reader = reader }

// Head gives the position of a workspace's last event; who reads on from it gets every event that has none
// yet.
func (f *Feed) Head(ctx context.Context, workspace id.Workspace) (Position, error) {
	position, err := f.queries.FeedHead(ctx, postgres.As(f.reader, workspace), workspace)
	return Position(position), err
}

// Since gives the events after a position in their order, at most limit; fewer are all there are. db says
// in which workspace. Where one of them is not kept any more it is ErrExpired, and never a gap.
func (f *Feed) Since(ctx context.Context, db sqlc.DBTX, after Position, limit int) ([]Item, error) {
	rows, err := f.queries.FeedSince(ctx, db, sqlc.FeedSinceParams{After: int64(after), MaxRows: int32(limit)})
	if err != nil {
		return nil, err
	}
	if after != Oldest {
		if err := f.kept(ctx, db, after, rows); err != nil {
			return nil, err
		}
	}
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i] = Item{
			Position: Position(r.Position), Event: r.ID, Workspace: r.WorkspaceID, Proposal: r.ProposalID, Type: r.Type, Status: r.Status, Actor: r.ActorID, At: r.At,
			ActingUser: r.ActingUserID, RequiresApproval: r.RequiresApproval, Entity: r.Entity, Operation: r.Operation, Conversation: r.ConversationID, Now: r.StatusNow,
			ApproverRole: r.ApproverRole, Shared: r.Shared, ActionKind: r.ActionKind, Deciders: users(r.Deciders)}
	}
	return items, nil
}

func users(stored []uuid.UUID) []id.User {
	list := make([]id.User, len(stored))
	for i, one := range stored {
		list[i] = id.UserOf(one)
	}
	return list
}

// kept tells, after the events were read, whether nothing after the position had gone by then.
func (f *Feed) kept(ctx context.Context, db sqlc.DBTX, after Position, rows []*sqlc.FeedSinceRow) error {
	if len(rows) > 0 {
		if Position(rows[0].Floor) > after {
			return ErrExpired
		}
		return nil
	}
	bounds, err := f.queries.FeedBounds(ctx, db, int64(after))
	if err != nil {
		return err
	}
	if Position(bounds.Floor) > after || Position(bounds.Last) < after {
		return ErrExpired
	}
	return nil
}
