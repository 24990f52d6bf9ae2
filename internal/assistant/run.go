package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Notice is added, as a paragraph of its own, to an answer that made proposals.
const Notice = "Nothing has changed yet, and nothing changes until you confirm it in the application."

var noCitations = json.RawMessage(`[]`)

// run answers a turn's message and ends the turn, well or not.
func (a *Assistant) run(ctx context.Context, t *turn) {
	defer a.forget(t)
	text, err := a.think(ctx, t)
	if err == nil {
		err = a.complete(ctx, t, text)
	}
	if err != nil {
		t.cancel(err)
		a.cut(ctx, t, err)
	}
}

// think lets the model answer, and keeps the turn's lease meanwhile. It does not wait for a model that
// goes on after the turn's time is over.
func (a *Assistant) think(ctx context.Context, t *turn) (string, error) {
	limited, cancel := context.WithTimeoutCause(ctx, a.times.limit, errTooLong)
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := a.ask(limited, t)
		answered <- answer{text, err}
	}()
	renewal := time.NewTicker(a.times.renewal)
	defer renewal.Stop()
	for {
		select {
		case <-limited.Done():
			return "", context.Cause(limited)
		case got := <-answered:
			if limited.Err() != nil {
				return "", context.Cause(limited)
			}
			return got.text, got.err
		case <-renewal.C:
			if err := a.renew(limited, t); err != nil {
				return "", err
			}
		}
	}
}

// ask has the model answer. A panic of its is an error.
func (a *Assistant) ask(ctx context.Context, t *turn) (text string, err error) {
	defer func() {
		if value := recover(); value != nil {
			a.log.ErrorContext(ctx, "the model panicked", "turn", t.id, "stack", string(debug.Stack()))
			err = internalError{fmt.Errorf("the model panicked: %v", value)}
		}
	}()
	if !a.tools.Enabled() {
		return "", errSwitchedOff
	}
	text, err = a.model.Answer(ctx, a.prompt(t), a.call(ctx, t))
	if fault := t.fault(); fault != nil {
		return "", fault
	}
	return text, err
}

// fault is the first call that could not be tried, whatever the model made of it.
func (t *turn) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// renew keeps the lease. Where the database cannot be reached it may hold all the same: the statements
// that need it check it.
func (a *Assistant) renew(ctx context.Context, t *turn) error {
	rows, err := a.queries.RenewTurn(ctx, postgres.As(a.agent, t.who.Workspace().ID), sqlc.RenewTurnParams{ID: t.id, Lease: a.times.lease})
	if err != nil {
		a.log.WarnContext(ctx, "a turn's lease was not renewed", "turn", t.id, "error", err)
		return nil
	}
	if rows == 0 {
		return errLeaseLost
	}
	return nil
}

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
	return pgx.BeginFunc(ctx, a.agent, func(tx pgx.Tx) error {
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
		return err
	})
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

// prompt is what the model of a turn is told.
func (a *Assistant) prompt(t *turn) Prompt {
	tools := a.tools.Offered(t.who)
	return Prompt{System: instructions(t.who, tools), Message: t.question.content, Tools: tools}
}
