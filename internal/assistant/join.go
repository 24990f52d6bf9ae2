package assistant

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// The row of a turn that another server runs is looked at in these intervals.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// join answers what the turn of a key answered, waiting for it while it runs. A turn whose server is gone
// is cut short here.
func (a *Assistant) join(ctx context.Context, workspace id.Workspace, q question) (*Reply, error) {
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		found, err := a.queries.TurnByKey(ctx, postgres.As(a.agent, workspace), sqlc.TurnByKeyParams{ConversationID: q.conversation, IdempotencyKey: q.keyed()})
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the turn of an idempotency key: %w", err)
		case !bytes.Equal(found.RequestHash, q.hash()):
			return nil, ErrIdempotencyMismatch
		case found.Lapsed || found.FailureCode != nil:
			if err := a.CutLapsed(ctx, workspace, found.ID); err != nil {
				return nil, err
			}
			return a.reply(ctx, workspace, found.ID)
		case found.Status != sqlc.TurnStatusRunning:
			return a.reply(ctx, workspace, found.ID)
		}
		if here := a.attach(found.ID); here != nil {
			return a.attend(ctx, here)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// attend waits for a turn that runs here. Who is the last to stop waiting cuts it short, and waits for
// that.
func (a *Assistant) attend(ctx context.Context, t *turn) (*Reply, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		if !a.leave(t) {
			return nil, context.Cause(ctx)
		}
		t.cancel(errNobodyWaits)
		<-t.done
	}
	own, cancel := a.ownTime(ctx)
	defer cancel()
	return a.reply(own, t.who.Workspace().ID, t.id)
}

// ownTime is for what is to be done also where ctx has ended.
func (a *Assistant) ownTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), a.times.ending)
}

// reply reads how a turn ended.
func (a *Assistant) reply(ctx context.Context, workspace id.Workspace, which id.Turn) (*Reply, error) {
	db := postgres.As(a.agent, workspace)
	ended, err := a.queries.GetTurn(ctx, db, which)
	if err != nil {
		return nil, fmt.Errorf("read how a turn ended: %w", err)
	}
	messages, err := a.queries.MessagesOfTurn(ctx, db, which)
	if err != nil {
		return nil, fmt.Errorf("read the messages of a turn: %w", err)
	}
	reply := &Reply{}
	for _, m := range messages {
		switch {
		case m.Role == sqlc.MessageRoleUser:
			reply.UserMessage = m
		case ended.Status == sqlc.TurnStatusComplete:
			reply.Message = m
		}
	}
	switch {
	case ended.FailureCode != nil && ended.FailureMessage != nil:
		reply.Failure = &Failure{*ended.FailureCode, *ended.FailureMessage}
	case reply.Message == nil:
		return nil, fmt.Errorf("turn %s is %s and has no answer", which, ended.Status)
	}
	return reply, nil
}
