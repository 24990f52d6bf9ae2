package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

func summary(ctx context.Context, p *sqlc.Proposal) (*model.ChangeSummary, error) {
	first, err := load(ctx).records.Load(ctx, firstRecords, p.ID)
	if err != nil {
		return nil, err
	}
	records, err := card.Records(first)
	if err != nil {
		return nil, err
	}
	return summarise(p, records)
}

// firstRecords are those of a page of the usual size, which is what most ask for.
var firstRecords = span{forward: true, limit: usualRecords + 1}

const usualRecords = 20

// recordPage is a page of a proposal's records, of all or of those that refused it.
func recordPage(ctx context.Context, of *nested[id.Proposal, *sqlc.ProposalRecord], which id.Proposal, first *int32, after *string) (*model.RecordChangeConnection, error) {
	w, err := windowOf(first, after, nil, nil, usualRecords)
	if err != nil {
		return nil, err
	}
	part := span{forward: true, limit: w.limit()}
	if w.cursor != nil {
		from, err := position(*w.cursor, recordList)
		if err != nil {
			return nil, err
		}
		part.number = int64(from)
	}
	rows, err := of.Load(ctx, part, which)
	if err != nil {
		return nil, err
	}
	return changePage(w, rows)
}

const recordList = "records"

func changePage(w window, rows []*sqlc.ProposalRecord) (*model.RecordChangeConnection, error) {
	records, err := card.Records(rows)
	if err != nil {
		return nil, err
	}
	at := 0
	return connect(w, recordChanges(records), func(*model.RecordChange) string {
		at++
		return place{List: recordList, Number: int64(rows[at-1].Position)}.String()
	}), nil
}

// warnings are live: they are no part of the card and its fingerprint.
func warnings(ctx context.Context, g *gate.Gate, p *sqlc.Proposal) ([]*model.ProposalWarning, error) {
	list := []*model.ProposalWarning{}
	if p.PreviewOnly {
		list = append(list, &model.ProposalWarning{Code: model.WarningCodePreviewOnly, Message: "Confirming this is recorded and changes nothing: the record has no way to be written yet."})
	}
	planned, err := card.Notices(p.Warnings)
	for _, n := range planned {
		if code := model.WarningCode(n.Code); code.IsValid() {
			list = append(list, &model.ProposalWarning{Code: code, Message: n.Message})
		}
	}
	if p.ResolvedAt != nil || err != nil {
		return list, err
	}
	if since := load(ctx).alone.changed(ctx, g, p); since != "" {
		list = append(list, &model.ProposalWarning{Code: model.WarningCodeRecordChangedSince, Message: since})
	}
	others, err := load(ctx).others.Load(ctx, p.ID)
	if err != nil || len(others) == 0 {
		return list, err
	}
	return append(list, &model.ProposalWarning{Code: model.WarningCodeOtherOpenProposal,
		Message: "Also open on this record: " + strings.Join(numbered(others), ", ") + ". Once one of them is applied, the others will find the record changed."}), nil
}

// numbered are other proposals as they are called; one that the viewer may not see is only said to be there.
func numbered(others []int64) []string {
	list := make([]string, 0, len(others))
	for _, n := range others {
		if n != 0 {
			list = append(list, fmt.Sprintf("#%d", n))
		}
	}
	if len(list) < len(others) {
		list = append(list, "one that you may not see")
	}
	return list
}

// notices are all that the planner of a custom action said, also what is no warning.
func notices(p *sqlc.Proposal) ([]string, error) {
	planned, err := card.Notices(p.Warnings)
	list := make([]string, len(planned))
	for i, n := range planned {
		list[i] = n.Message
	}
	return list, err
}

func outcome(p *sqlc.Proposal) *model.Outcome {
	if p.OutcomeAffected == nil {
		return nil
	}
	return &model.Outcome{RecordID: p.OutcomeRecordID, Record: p.OutcomeRecord, AffectedRecords: *p.OutcomeAffected}
}

func failureOf(p *sqlc.Proposal) (*model.Failure, error) {
	if p.FailureCode == nil || p.FailureMessage == nil {
		return nil, nil
	}
	return &model.Failure{Code: *p.FailureCode, Message: *p.FailureMessage, Field: p.FailureField, Proposal: p.ID}, nil
}

// approval counts those approvals that still count; once it has ended, all that were given.
func approval(ctx context.Context, g *gate.Gate, p *sqlc.Proposal) (*model.Approval, error) {
	policies, err := load(ctx).policies()
	if err != nil {
		return nil, err
	}
	needed := g.ApprovalsNeeded(p, policies)
	if needed == 0 {
		return nil, nil
	}
	a := &model.Approval{Needed: int(needed)}
	decisions, err := load(ctx).decisions.Load(ctx, p.ID)
	for _, d := range decisions {
		if d.Kind == sqlc.DecisionKindConfirm && !d.Final {
			a.ExpiresAt = &p.ExpiresAt
		}
		if d.Kind == sqlc.DecisionKindApprove && (p.ResolvedAt != nil || gate.Counts(d, p.ApproverRole, p.ActingUserID, decisions)) {
			a.Given++
			a.Approvers = append(a.Approvers, d.PersonID)
		}
	}
	return a, err
}

// otherProposal is one that a proposal refers to, for those who see that one too.
func otherProposal(ctx context.Context, g *gate.Gate, which id.Proposal) (*sqlc.Proposal, error) {
	if which.IsZero() {
		return nil, nil
	}
	p, err := load(ctx).proposals.Load(ctx, which)
	if err != nil || p == nil || g.Sees(identity.From(ctx), p) {
		return p, err
	}
	return nil, errNotYours
}

// decisionsOf are those that were taken, as they were taken.
func decisionsOf(ctx context.Context, p *sqlc.Proposal) ([]*sqlc.ProposalDecision, error) {
	taken, err := load(ctx).decisions.Load(ctx, p.ID)
	list := make([]*sqlc.ProposalDecision, len(taken))
	for i, d := range taken {
		list[i] = d.ProposalDecision
	}
	return list, err
}

// viewerActions reads what was decided before only where that has a say in it.
func viewerActions(ctx context.Context, g *gate.Gate, p *sqlc.Proposal) ([]gate.Action, error) {
	var before []gate.Taken
	if p.Status == sqlc.ProposalStatusAwaitingApproval {
		var err error
		if before, err = load(ctx).decisions.Load(ctx, p.ID); err != nil {
			return nil, err
		}
	}
	policies, err := load(ctx).policies()
	return g.Actions(p, identity.From(ctx), before, policies), err
}
