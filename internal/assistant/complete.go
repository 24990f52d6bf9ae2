package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Notice is added, as a paragraph of its own, to an answer that made proposals.
const Notice = "Nothing has changed yet, and nothing changes until you confirm it in the application."

var noCitations = json.RawMessage(`[]`)

// complete stores the answer and ends the turn, both or neither. What has been answered is stored also
// where nobody waits any more.
func (a *Assistant) complete(ctx context.Context, t *turn, text string) error {
	ctx, cancel := a.ownTime(ctx)
	defer cancel()
	t.close(ctx)
	content, err := t.content(text)
	if err != nil {
		return err
	}
	citations, err := t.cited()
	if err != nil {
		return internalError{err}
	}
	if err := a.store(ctx, t, content, citations); err != nil {
		return internalError{err}
	}
	return nil
}

func (a *Assistant) store(ctx context.Context, t *turn, content string, citations json.RawMessage) error {
	workspace := t.who.Workspace().ID
	err := pgx.BeginFunc(ctx, a.agent, func(tx pgx.Tx) error {
		db := postgres.As(tx, workspace)
		rows, err := a.queries.CompleteTurn(ctx, db, t.id)
		if err == nil && rows == 0 {
			err = errLeaseLost
		}
		if err != nil {
			return err
		}
		_, err = a.queries.InsertMessage(ctx, db, sqlc.InsertMessageParams{
			ID: id.NewMessage(), WorkspaceID: workspace, ConversationID: t.question.conversation, TurnID: t.id,
			Role: sqlc.MessageRoleAssistant, Status: sqlc.MessageStatusComplete, Content: content, Citations: citations})
		if err == nil {
			err = failpoint.Hit(ctx, failpoint.Committing)
		}
		return err
	})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Committed)
	}
	return err
}

// content is the model's text as it is, followed by the notice where it made proposals.
func (t *turn) content(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", errors.New("the model's answer is no text that can be stored")
	}
	blank := strings.TrimSpace(text) == ""
	switch {
	case t.proposals == 0 && blank:
		return "", errors.New("the model gave no answer")
	case t.proposals == 0:
		return text, nil
	case blank:
		return Notice, nil
	}
	return text + "\n\n" + Notice, nil
}

func (t *turn) cited() (json.RawMessage, error) {
	if len(t.citations) == 0 {
		return noCitations, nil
	}
	return json.Marshal(t.citations)
}
