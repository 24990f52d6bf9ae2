package assistant

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// Error is a refusal: a code for programs, one of the contract's ErrorCode, and a sentence for people.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

var (
	// ErrNoConversation says that there is no such conversation in this workspace.
	ErrNoConversation = &Error{Code: "NOT_FOUND", Message: "There is no such conversation."}
	// ErrNotYours says that the conversation is somebody else's.
	ErrNotYours = &Error{Code: "FORBIDDEN", Message: "This conversation is somebody else's."}
	// ErrIdempotencyMismatch says that the key was used in this conversation for another message.
	ErrIdempotencyMismatch = &Error{Code: "IDEMPOTENCY_MISMATCH", Message: "This idempotency key was used for another message."}
)

// InputError says which input is wrong. Its code is INVALID_INPUT.
type InputError struct {
	Field   string
	Limit   int
	Message string
}

func (e *InputError) Error() string { return e.Message }

// Failure says why a turn has no answer.
type Failure struct {
	Code    sqlc.TurnFailureCode
	Message string
}

// status is how a turn ends that failed like this.
func (f *Failure) status() (sqlc.TurnStatus, sqlc.MessageStatus) {
	if f.Code == sqlc.TurnFailureCodeCutShort {
		return sqlc.TurnStatusCutShort, sqlc.MessageStatusCutShort
	}
	return sqlc.TurnStatusFailed, sqlc.MessageStatusFailed
}

// Why a turn was stopped.
var (
	errNobodyWaits = errors.New("nobody waits for the answer any more")
	errTooLong     = errors.New("the turn took too long")
	errLeaseLost   = errors.New("the turn's lease was lost")
	errOver        = errors.New("the turn is over")
	errSwitchedOff = errors.New("the assistant is switched off")
)

// internalError is what went wrong on our side: a panic, a tool call that could not be tried, an answer
// that could not be stored.
type internalError struct{ cause error }

func (e internalError) Error() string { return e.cause.Error() }
func (e internalError) Unwrap() error { return e.cause }

const (
	takenBack = " Nothing was changed, and what it had proposed was withdrawn."
	tryAgain  = " Please send the message again."
)

// failureOf says in words for people why a turn did not end well.
func failureOf(err error) *Failure {
	ours, spent := internalError{}, (*toolcall.TokensSpent)(nil)
	switch {
	case errors.Is(err, errTooLong):
		return &Failure{sqlc.TurnFailureCodeCutShort, "The answer took too long and was cut short." + takenBack + tryAgain}
	case errors.Is(err, errLeaseLost):
		return &Failure{sqlc.TurnFailureCodeCutShort, "The answer was cut short because its server was stopped or lost the database." + takenBack + tryAgain}
	case errors.Is(err, errNobodyWaits), errors.Is(err, errOver), errors.Is(err, context.Canceled):
		return &Failure{sqlc.TurnFailureCodeCutShort, "The answer was cut short because the request for it ended." + takenBack}
	case errors.As(err, &spent):
		return &Failure{sqlc.TurnFailureCodeBudgetSpent, spent.Message}
	case errors.Is(err, errSwitchedOff):
		return &Failure{sqlc.TurnFailureCodeSwitchedOff, "The operator has switched the assistant off."}
	case errors.As(err, &ours):
		return &Failure{sqlc.TurnFailureCodeInternal, "Something went wrong while this was answered." + takenBack + tryAgain}
	}
	return &Failure{sqlc.TurnFailureCodeModelUnavailable, "The assistant's model could not be reached or gave no answer." + takenBack + tryAgain}
}
