package assistant

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Reply is how a message was answered: by Message, or not, for the reason in Failure.
type Reply struct {
	UserMessage *sqlc.Message
	Message     *sqlc.Message
	Failure     *Failure
}

// Send answers one message of a person's own conversation. The turn belongs to this call: when ctx ends
// it is cut short, and everything it proposed is withdrawn before Send returns, unless a repeat of the
// message waits for it too. With a key, a repeat answers what the first one answered, also where that
// failed, and waits for it where it still runs; another message under the key is ErrIdempotencyMismatch.
func (a *Assistant) Send(ctx context.Context, who identity.Actor, conversation id.Conversation, content, idempotencyKey string) (*Reply, error) {
	if !identity.Acts(who) {
		return nil, identity.ErrUnauthenticated
	}
	q := question{conversation, content, idempotencyKey}
	if err := q.check(); err != nil {
		return nil, err
	}
	if err := a.own(ctx, who, conversation); err != nil {
		return nil, err
	}
	if err := a.cutLapsedOf(ctx, who.Workspace().ID, conversation); err != nil {
		return nil, err
	}
	ctx = failpoint.In(ctx, failpoint.Turn)
	which, err := a.start(ctx, who, q)
	switch {
	case err != nil:
		return nil, fmt.Errorf("start a turn: %w", err)
	case which.IsZero():
		return a.join(ctx, who.Workspace().ID, q)
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	started := a.newTurn(which, who, q, cancel)
	go a.run(own, started)
	return a.attend(ctx, started)
}

// start writes the turn and the message down, both or neither; no turn where the key has one already.
func (a *Assistant) start(ctx context.Context, who identity.Actor, q question) (id.Turn, error) {
	if err := failpoint.Hit(ctx, failpoint.Starting); err != nil {
		return id.Turn{}, err
	}
	which, workspace := id.NewTurn(), who.Workspace().ID
	var rows int64
	err := pgx.BeginFunc(ctx, a.agent, func(tx pgx.Tx) (err error) {
		db := postgres.As(tx, workspace)
		rows, err = a.queries.StartTurn(ctx, db, sqlc.StartTurnParams{
			ID: which, WorkspaceID: workspace, ConversationID: q.conversation, UserID: who.User().ID,
			IdempotencyKey: q.keyed(), RequestHash: q.hash(), Lease: a.times.lease})
		if err != nil || rows == 0 {
			return err
		}
		_, err = a.queries.InsertMessage(ctx, db, sqlc.InsertMessageParams{
			ID: id.NewMessage(), WorkspaceID: workspace, ConversationID: q.conversation, TurnID: which,
			Role: sqlc.MessageRoleUser, Status: sqlc.MessageStatusComplete, Content: q.content, Citations: noCitations})
		if err != nil {
			return err
		}
		return a.queries.SpeakInConversation(ctx, db, sqlc.SpeakInConversationParams{ID: q.conversation, Title: titled(q.content), Untitled: untitled})
	})
	if err != nil || rows == 0 {
		return id.Turn{}, err
	}
	return which, failpoint.Hit(ctx, failpoint.Begun)
}
