package gate

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/record"
)

// Code is what programs go by; its spellings are the contract's ErrorCode.
type Code string

// The codes a decision or a proposal can end with when there is no outcome to answer.
const (
	NotFound     Code = "NOT_FOUND"
	Forbidden    Code = "FORBIDDEN"
	InvalidInput Code = "INVALID_INPUT"
	Unavailable  Code = "UNAVAILABLE"
	Internal     Code = "INTERNAL"
)

// Error says that nothing was decided and nothing claimed: a code for programs, a sentence for people,
// and a cause for the log that neither holds.
type Error struct {
	Code    Code
	Message string
	Cause   error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// CodeOf gives an error's code; Internal for one that has none.
func CodeOf(err error) Code {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

func notFound() *Error {
	return &Error{Code: NotFound, Message: "There is no such proposal in this workspace."}
}

func forbidden(why string) *Error { return &Error{Code: Forbidden, Message: why} }

func unavailable(cause error) *Error {
	return &Error{Code: Unavailable, Message: "The database did not take this just now, and nothing was changed. Try again.", Cause: cause}
}

func unknown(cause error) *Error {
	return &Error{Code: Unavailable, Message: "The connection to the database was lost while this was being written, so it is not known whether it was. Look again, or repeat it: nothing is done twice.", Cause: cause}
}

// RefusalCode says why no card was made; its spellings are the contract's.
type RefusalCode string

// The refusals there are so far.
const (
	NotOffered       RefusalCode = "NOT_OFFERED"
	RecordUnreadable RefusalCode = "RECORD_UNREADABLE"
	RecordGone       RefusalCode = "RECORD_GONE"
	BadInput         RefusalCode = "INVALID_INPUT"
	NothingToChange  RefusalCode = "NOTHING_TO_CHANGE"
	FieldNotWritable RefusalCode = "FIELD_NOT_WRITABLE"
	Locked           RefusalCode = "LOCKED"
	SwitchedOff      RefusalCode = "SWITCHED_OFF"
	BudgetSpent      RefusalCode = "BUDGET_SPENT"
	TurnEnded        RefusalCode = "TURN_ENDED"

	TooManyRecords     RefusalCode = "TOO_MANY_RECORDS"
	NoEligibleApprover RefusalCode = "NO_ELIGIBLE_APPROVER"
	RecentlyRejected   RefusalCode = "RECENTLY_REJECTED"
	WouldFail          RefusalCode = "WOULD_FAIL"

	// Of the proposal to revise or to revert.
	DecidedBefore RefusalCode = "ALREADY_DECIDED"
	OtherCard     RefusalCode = "CARD_OUTDATED"
)

// Refusal says that no card was made, and why.
type Refusal struct {
	Code    RefusalCode
	Message string
	Field   string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Message) }

// RefusalOf gives the refusal that reading a record, or checking values for it, means; nil for any other
// error. Reading and proposing answer with the same words, so that neither tells more than the other.
func RefusalOf(err error) *Refusal {
	bad := (*record.InputError)(nil)
	switch {
	case errors.Is(err, record.ErrGone):
		return &Refusal{Code: RecordGone, Message: "There is no such record, or you may not see it."}
	case errors.Is(err, record.ErrUnreadable):
		return &Refusal{Code: RecordUnreadable, Message: "You may not read this kind of record."}
	case errors.As(err, &bad):
		return &Refusal{Code: RefusalCode(bad.Code), Message: bad.Message, Field: bad.Field}
	}
	return nil
}
