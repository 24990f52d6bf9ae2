package assistant

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// run answers a turn's message and ends the turn, well or not.
func (a *Assistant) run(ctx context.Context, t *turn) {
	defer a.forget(t)
	var err error
	defer a.recovered(ctx, t, &err) // it is left running, and is cut short when its lease lapses
	if err = a.answer(ctx, t); err != nil {
		t.cancel(err)
		a.cut(ctx, t, err)
	}
}

// answer has the model answer and stores that. A panic is an error: it is of one turn, and the others go on.
func (a *Assistant) answer(ctx context.Context, t *turn) (err error) {
	defer a.recovered(ctx, t, &err)
	text, err := a.think(ctx, t)
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Answered)
	}
	if err == nil {
		err = a.complete(ctx, t, text)
	}
	return err
}

// recovered makes an error of a panic.
func (a *Assistant) recovered(ctx context.Context, t *turn, err *error) {
	if value := recover(); value != nil {
		a.log.ErrorContext(ctx, "a turn panicked", "turn", t.id, "stack", string(debug.Stack()))
		*err = internalError{fmt.Errorf("a turn panicked: %v", value)}
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

// ask has the model answer, in a goroutine of its own, whose panics nobody else would recover.
func (a *Assistant) ask(ctx context.Context, t *turn) (text string, err error) {
	defer a.recovered(ctx, t, &err)
	if !a.tools.Enabled() {
		return "", errSwitchedOff
	}
	prompt, err := a.prompt(ctx, t)
	if spent := (*toolcall.TokensSpent)(nil); errors.As(err, &spent) {
		return "", spent
	} else if err != nil {
		return "", internalError{err}
	}
	text, err = a.model.Answer(ctx, prompt, a.call(ctx, t))
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

// prompt is what the model of a turn is told.
func (a *Assistant) prompt(ctx context.Context, t *turn) (Prompt, error) {
	tools, err := a.tools.Offered(ctx, t.who)
	if err != nil {
		return Prompt{}, err
	}
	spend := func(tokens int64) error { return a.tools.SpendTokens(ctx, t.who, tokens) }
	return Prompt{System: instructions(t.who, tools), Message: t.question.content, Tools: tools, Spend: spend}, a.tools.AffordTokens(ctx, t.who)
}
