package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

func summary(ctx context.Context, p *sqlc.Proposal) (*model.ChangeSummary, error) {
	records, err := load(ctx).records.Load(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return summarise(p, records), nil
}

func recordPage(records []card.Record, first *int32, after *string) (*model.RecordChangeConnection, error) {
	w, err := windowOf(first, after, nil, nil, 20)
	if err != nil {
		return nil, err
	}
	return slice(w, recordChanges(records), "records")
}

// warnings are live: they are no part of the card and its fingerprint.
func warnings(ctx context.Context, p *sqlc.Proposal) ([]*model.ProposalWarning, error) {
	list := []*model.ProposalWarning{}
	if p.PreviewOnly {
		list = append(list, &model.ProposalWarning{Code: model.WarningCodePreviewOnly, Message: "Confirming this is recorded and changes nothing: the record has no way to be written yet."})
	}
	if p.ResolvedAt != nil {
		return list, nil
	}
	others, err := load(ctx).others.Load(ctx, p.ID)
	if err != nil || len(others) == 0 {
		return list, err
	}
	numbers := make([]string, len(others))
	for i, n := range others {
		numbers[i] = fmt.Sprintf("#%d", n)
	}
	return append(list, &model.ProposalWarning{Code: model.WarningCodeOtherOpenProposal,
		Message: "Also open on this record: " + strings.Join(numbers, ", ") + ". Once one of them is applied, the others will find the record changed."}), nil
}

func outcome(p *sqlc.Proposal) *model.Outcome {
	if p.OutcomeAffected == nil {
		return nil
	}
	return &model.Outcome{RecordID: p.OutcomeRecordID, Record: p.OutcomeRecord, AffectedRecords: *p.OutcomeAffected}
}

func failureOf(ctx context.Context, p *sqlc.Proposal) (*model.Failure, error) {
	if p.FailureCode == nil || p.FailureMessage == nil {
		return nil, nil
	}
	records, err := load(ctx).records.Load(ctx, p.ID)
	return &model.Failure{Code: *p.FailureCode, Message: *p.FailureMessage, Field: p.FailureField, Stored: records}, err
}

func approval(ctx context.Context, p *sqlc.Proposal) (*model.Approval, error) {
	if !p.RequiresApproval {
		return nil, nil
	}
	a := &model.Approval{Needed: int(p.ApprovalsNeeded)}
	decisions, err := load(ctx).decisions.Load(ctx, p.ID)
	for _, d := range decisions {
		if d.Kind == sqlc.DecisionKindApprove {
			a.Given++
			a.Approvers = append(a.Approvers, d.PersonID)
		}
	}
	return a, err
}

func otherProposal(ctx context.Context, which id.Proposal) (*sqlc.Proposal, error) {
	if which.IsZero() {
		return nil, nil
	}
	return load(ctx).proposals.Load(ctx, which)
}
