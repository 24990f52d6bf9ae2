package identity

import (
	"fmt"
	"time"
)

// Error is a refusal: a code for programs, one of the contract's ErrorCode, and a sentence for people.
type Error struct {
	Code    string
	Message string
	// Field names what in the input is wrong, if it is one thing.
	Field string
	// Cause is for the log and never shown.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + " " + e.Cause.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Cause }

// Why nobody is acting.
var (
	// ErrUnauthenticated says that there is no credential, or none that is valid now: which of them
	// is not told.
	ErrUnauthenticated = &Error{Code: "UNAUTHENTICATED", Message: "Sign in first."}
	// ErrNoWorkspace says that someone is signed in, and that no workspace is active or that they
	// are no longer a member of it.
	ErrNoWorkspace = &Error{Code: "FORBIDDEN", Message: "No workspace is active: choose one of which you are a member."}
	// ErrForeignCredential says that a credential was made for somebody else than its row names now.
	ErrForeignCredential = &Error{Code: "FORBIDDEN", Message: "This credential was made for somebody else."}
	// ErrWrongPassword is the one answer to every failed sign-in, whether or not there is an account.
	ErrWrongPassword = &Error{Code: "UNAUTHENTICATED", Message: "The e-mail address or the password is wrong."}
	// ErrNotMember is the one answer for a workspace that is not theirs and one that is not there.
	ErrNotMember = &Error{Code: "FORBIDDEN", Field: "workspace", Message: "You are not a member of this workspace."}
	// ErrNotSignIn refuses an API token where only a sign-in makes sense.
	ErrNotSignIn = &Error{Code: "FORBIDDEN", Message: "An API token is not a sign-in: it cannot be signed out and has one workspace."}
)

func invalid(field, message string) *Error {
	return &Error{Code: "INVALID_INPUT", Field: field, Message: message}
}

func unavailable(cause error) *Error {
	return &Error{Code: "UNAVAILABLE", Message: "Who you are cannot be checked just now. Try again.", Cause: cause}
}

// TooManyAttempts refuses a sign-in after too many wrong passwords, a right one included. It says
// nothing about the account.
type TooManyAttempts struct{ RetryAfter time.Duration } //nolint:errname // what happened to a sign-in, and only then an error

// Seconds is how long to wait, rounded up.
func (e *TooManyAttempts) Seconds() int { return int((e.RetryAfter + time.Second - 1) / time.Second) }

func (e *TooManyAttempts) Error() string {
	return fmt.Sprintf("Too many wrong passwords. Try again in %d s.", e.Seconds())
}
