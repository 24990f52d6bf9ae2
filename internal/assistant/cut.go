package assistant

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// cut ends a turn that did not end well. First the turn ends: from then on what it proposes is refused.
// Then what it had proposed is withdrawn. What cannot be done now is done by whoever sees the turn next;
// until then no decision of anyone passes on its proposals.
func (a *Assistant) cut(ctx context.Context, t *turn, why error) {
	closing, cancel := a.ownTime(ctx)
	t.close(closing)
	cancel()
	ctx, cancel = a.ownTime(ctx)
	defer cancel()
	failure := failureOf(why)
	a.log.WarnContext(ctx, "a turn did not end well", "turn", t.id, "code", failure.Code, "error", why)
	if err := a.end(ctx, t.who.Workspace().ID, t.question.conversation, t.id, failure); err != nil {
		a.log.ErrorContext(ctx, "a turn that did not end well was not ended", "turn", t.id, "error", err)
	}
}

// CutLapsed cuts a turn short whose server is gone: its lease lapsed. Of one that ended badly before, it
// withdraws what is still open. It does nothing to a turn that runs or ended well.
func (a *Assistant) CutLapsed(ctx context.Context, workspace id.Workspace, which id.Turn) error {
	found, err := a.queries.GetTurn(ctx, postgres.As(a.agent, workspace), which)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read a turn that may have lapsed: %w", err)
	case found.Lapsed:
		return a.end(ctx, workspace, found.ConversationID, which, failureOf(errLeaseLost))
	case found.Status == sqlc.TurnStatusCutShort || found.Status == sqlc.TurnStatusFailed:
		return a.takeBack(ctx, workspace, which)
	}
	return nil
}

// CutAllLapsed cuts the lapsed turns of every workspace short. worker is a pool that finds them: who runs
// a turn sees those of one workspace.
func (a *Assistant) CutAllLapsed(ctx context.Context, worker sqlc.DBTX) error {
	lapsed, err := a.queries.LapsedTurnsAnywhere(ctx, worker)
	if err != nil {
		return fmt.Errorf("read the lapsed turns: %w", err)
	}
	for _, t := range lapsed {
		err = errors.Join(err, a.CutLapsed(ctx, t.WorkspaceID, t.ID))
	}
	return err
}

// cutLapsedOf cuts the lapsed turns of a conversation short: who writes in it sees them.
func (a *Assistant) cutLapsedOf(ctx context.Context, workspace id.Workspace, conversation id.Conversation) error {
	lapsed, err := a.queries.LapsedTurns(ctx, postgres.As(a.agent, workspace), conversation)
	if err != nil {
		return fmt.Errorf("read the lapsed turns of a conversation: %w", err)
	}
	for _, which := range lapsed {
		if err := a.CutLapsed(ctx, workspace, which); err != nil {
			return err
		}
	}
	return nil
}

// end ends a running turn badly, with a message that says so, and then withdraws what it proposed.
func (a *Assistant) end(ctx context.Context, workspace id.Workspace, conversation id.Conversation, which id.Turn, failure *Failure) error {
	ctx = failpoint.In(ctx, failpoint.Turn)
	if err := failpoint.Hit(ctx, failpoint.Ending); err != nil {
		return err
	}
	turnStatus, messageStatus := failure.status()
	err := pgx.BeginFunc(ctx, a.agent, func(tx pgx.Tx) error {
		db := postgres.As(tx, workspace)
		rows, err := a.queries.EndTurn(ctx, db, sqlc.EndTurnParams{ID: which, Status: turnStatus, FailureCode: &failure.Code, FailureMessage: &failure.Message})
		if err != nil || rows == 0 {
			return err
		}
		_, err = a.queries.InsertMessage(ctx, db, sqlc.InsertMessageParams{
			ID: id.NewMessage(), WorkspaceID: workspace, ConversationID: conversation, TurnID: which,
			Role: sqlc.MessageRoleAssistant, Status: messageStatus, Content: failure.Message, Citations: noCitations})
		return err
	})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Ended)
	}
	if err != nil {
		return fmt.Errorf("end a turn: %w", err)
	}
	return a.takeBack(ctx, workspace, which)
}

// takeBack withdraws the open proposals of a turn; those of one that ended well it may not.
func (a *Assistant) takeBack(ctx context.Context, workspace id.Workspace, which id.Turn) error {
	open, err := a.queries.OpenProposalsOfTurn(ctx, postgres.As(a.agent, workspace), which)
	if err != nil {
		return fmt.Errorf("read what a turn proposed: %w", err)
	}
	for _, one := range open {
		err = errors.Join(err, a.withdraw(ctx, workspace, one, "The answer that proposed it was cut short."))
	}
	if err != nil {
		return fmt.Errorf("withdraw what a turn proposed: %w", err)
	}
	return nil
}
