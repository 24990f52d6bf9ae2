package model

import (
	"encoding/json"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// ChangeSummary is what a card shows; Proposal is whose, for the page of records.
type ChangeSummary struct {
	Record         *RecordRef
	Changes        []*FieldChange
	MatchedRecords int
	Where          json.RawMessage
	SampleIDs      []string
	Proposal       id.Proposal
}

// Failure is why a confirmed change was not written; Proposal is whose, for the page of records that refused it.
type Failure struct {
	Code     sqlc.FailureCode
	Message  string
	Field    *string
	Proposal id.Proposal
}

// Approval counts those who approved; By are their ids.
type Approval struct {
	Needed    int
	Given     int
	Approvers []id.User
	ExpiresAt *time.Time
}

// Viewer is who asks.
type Viewer struct {
	User       *sqlc.UsersByIDRow
	Workspace  *sqlc.Workspace
	ExpiresAt  *time.Time
	Role       sqlc.Role
	Credential CredentialKind
	CanDecide  bool
}
