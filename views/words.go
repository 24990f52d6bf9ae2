package views

import (
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/sqlc"
)

// Tone picks a colour; the words beside it say the same.
type Tone string

// The tones there are.
const (
	Calm Tone = "calm"
	Good Tone = "good"
	Bad  Tone = "bad"
	Warn Tone = "warn"
)

func operationWord(o sqlc.WriteOperation) string {
	switch o {
	case sqlc.WriteOperationCreate:
		return "create"
	case sqlc.WriteOperationUpdate:
		return "update"
	case sqlc.WriteOperationDelete:
		return "delete"
	case sqlc.WriteOperationBulkUpdate:
		return "bulk update"
	}
	return "action"
}

// StatusWord is a status in a word or two.
func StatusWord(s sqlc.ProposalStatus) string {
	switch s {
	case sqlc.ProposalStatusPending:
		return "Open"
	case sqlc.ProposalStatusAwaitingApproval:
		return "Awaits approval"
	case sqlc.ProposalStatusApplied:
		return "Applied"
	case sqlc.ProposalStatusRejected:
		return "Rejected"
	case sqlc.ProposalStatusDisapproved:
		return "Disapproved"
	case sqlc.ProposalStatusExpired:
		return "Expired"
	case sqlc.ProposalStatusWithdrawn:
		return "Withdrawn"
	case sqlc.ProposalStatusSuperseded:
		return "Superseded"
	case sqlc.ProposalStatusFailed:
		return "Not applied"
	}
	return string(s)
}

func statusTone(s sqlc.ProposalStatus) Tone {
	switch s {
	case sqlc.ProposalStatusApplied:
		return Good
	case sqlc.ProposalStatusRejected, sqlc.ProposalStatusDisapproved, sqlc.ProposalStatusFailed:
		return Bad
	case sqlc.ProposalStatusPending, sqlc.ProposalStatusAwaitingApproval:
		return Warn
	}
	return Calm
}

func warningWords(w card.Warning) string {
	switch w {
	case card.BidiControl:
		return "changes the direction of text"
	case card.Invisible:
		return "has invisible characters"
	case card.ControlCharacter:
		return "has control characters"
	case card.MixedScript:
		return "mixes alphabets in a word"
	case card.Confusable:
		return "has letters that look like others"
	case card.UnusualSpace:
		return "has unusual spaces"
	}
	return "has unusual characters"
}

// glyph is a mark that any font can print.
func glyph(mark string) string {
	if mark == "␠" {
		return "SP"
	}
	return mark
}

func roleWord(r sqlc.Role) string {
	switch r {
	case sqlc.RoleApprover:
		return "Approver"
	case sqlc.RoleOperator:
		return "Operator"
	case sqlc.RoleAuditor:
		return "Auditor"
	}
	return "Member"
}
