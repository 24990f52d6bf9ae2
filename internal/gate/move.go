package gate

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// outcome is what a proposal becomes.
type outcome struct {
	status   sqlc.ProposalStatus
	recordID *string
	record   json.RawMessage
	affected *int32
	failure  failure
	// keys are those of a set's records, where it created any
	keys []string
	// made are those that it created
	made []made
	// supersededBy is the proposal that takes its place
	supersededBy id.Proposal
}

// failure says why a confirmed change was not written.
type failure struct {
	code    sqlc.FailureCode
	message string
	field   string
	// positions are the records of a set that refused it
	positions []int32
}

func failed(f failure) outcome { return outcome{status: sqlc.ProposalStatusFailed, failure: f} }

// insert writes the decision under its key. It is final, but where the approval of others has to follow.
func (d *decision) insert(ctx context.Context, v verdict, seen, reason string) error {
	f := d.facts
	err := d.gate.queries.InsertDecision(ctx, d.tx.Later(), sqlc.InsertDecisionParams{
		ProposalID: f.proposal.ID, WorkspaceID: f.proposal.WorkspaceID, Kind: f.kind, Final: v != await,
		PersonID: f.person.User().ID, SignInID: f.person.SignIn(), Fingerprint: optional(seen), Reason: optional(reason), At: f.now})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Decided)
	}
	return err
}

// move takes the proposal from the status that was locked to its outcome, with everything that says so.
func (d *decision) move(ctx context.Context, to outcome) error {
	f := d.facts
	params := sqlc.MoveProposalParams{
		ID: f.proposal.ID, LockedStatus: f.proposal.Status, Status: to.status, ResolvedAt: &f.now,
		OutcomeRecordID: to.recordID, OutcomeRecord: to.record, OutcomeAffected: to.affected, OutcomeKeys: to.keys, SupersededBy: to.supersededBy,
		EventID: id.NewEvent(), EventType: sqlc.EventType(to.status), PersonID: f.person.User().ID, SignInID: f.person.SignIn(),
		At: f.now, AuditID: id.NewAudit(), Verb: string(f.kind), Address: f.person.Address(), ToolCallID: id.NewToolCall(), PolicyVersion: d.policies.Version}
	if to.status == sqlc.ProposalStatusAwaitingApproval {
		d.wait(&params)
	}
	if to.failure.code != "" {
		params.FailureCode, params.FailureMessage, params.FailureField = &to.failure.code, &to.failure.message, optional(to.failure.field)
		params.FailedPositions = to.failure.positions
	}
	if err := d.moved(ctx, d.gate.queries.MoveProposal(ctx, d.tx.Later(), params)); err != nil || len(to.made) == 0 {
		return err
	}
	return d.keepMade(ctx, to.made)
}

// wait says that the approval of others has to follow, and until when: confirmed, it has its time anew.
func (d *decision) wait(params *sqlc.MoveProposalParams) {
	f := d.facts
	params.ResolvedAt, params.EventType = nil, sqlc.EventTypeApproved
	if f.kind == sqlc.DecisionKindConfirm {
		until := f.now.Add(f.proposal.ApprovalLifetime)
		params.ExpiresAt, params.EventType = &until, sqlc.EventTypeConfirmed
	}
	if n := f.needed(); n > f.proposal.ApprovalsNeeded {
		params.ApprovalsRaised = &n
	}
	if role := f.approvers(); role != f.proposal.ApproverRole {
		params.ApproverRaised = new(string(role))
	}
}

// withdrawCutShort takes back, for the system, what a turn proposed that did not end well.
func (d *decision) withdrawCutShort(ctx context.Context) error {
	ctx = failpoint.In(ctx, failpoint.CutMet)
	p, now := d.facts.proposal, d.facts.now
	reason := "The answer that proposed it was cut short."
	err := d.gate.queries.InsertDecision(ctx, d.tx.Later(), sqlc.InsertDecisionParams{
		ProposalID: p.ID, WorkspaceID: p.WorkspaceID, Kind: sqlc.DecisionKindWithdraw, Final: true, Fingerprint: &p.Fingerprint, Reason: &reason, At: now})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Decided)
	}
	if err != nil {
		return err
	}
	return d.moved(ctx, d.gate.queries.MoveProposal(ctx, d.tx.Later(), sqlc.MoveProposalParams{
		ID: p.ID, LockedStatus: p.Status, Status: sqlc.ProposalStatusWithdrawn, ResolvedAt: &now, EventID: id.NewEvent(),
		EventType: sqlc.EventTypeWithdrawn, At: now, AuditID: id.NewAudit(), Verb: "withdraw", ToolCallID: id.NewToolCall(), PolicyVersion: d.policies.Version}))
}

// moved notes that there is an event to be told of, once it has committed.
func (d *decision) moved(ctx context.Context, err error) error {
	d.done = err == nil
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.Moved)
	}
	return err
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func milliseconds(t time.Duration) string { return strconv.FormatInt(t.Milliseconds(), 10) }
