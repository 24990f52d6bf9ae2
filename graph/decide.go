package graph

import (
	"context"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
)

// decided makes one call of the gate as the person who asks.
func decided(ctx context.Context, mutation *string, call func(identity.Person) (*gate.Answer, error)) (*model.DecideProposalPayload, error) {
	by, err := person(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := call(by)
	if err == nil {
		load(ctx).know(answer.Under)
	}
	return payload(mutation)(answer, err)
}

func payload(mutation *string) func(*gate.Answer, error) (*model.DecideProposalPayload, error) {
	return func(a *gate.Answer, err error) (*model.DecideProposalPayload, error) {
		if err != nil {
			return nil, err
		}
		return &model.DecideProposalPayload{Result: resultOf(a), ClientMutationID: mutation}, nil
	}
}

func resultOf(a *gate.Answer) model.DecideResult {
	switch a.Verdict {
	case gate.AlreadyDecided:
		return &model.AlreadyDecided{Proposal: a.Proposal, Message: a.Message}
	case gate.CardOutdated:
		return &model.CardOutdated{Proposal: a.Proposal, Message: a.Message}
	}
	return a.Proposal
}

// withdraw is open to the acting user and to the token that proposed.
func (r *Resolver) withdraw(ctx context.Context, in model.WithdrawProposalInput) (*model.DecideProposalPayload, error) {
	if agent, ok := identity.From(ctx).(identity.Agent); ok {
		return payload(in.ClientMutationID)(r.Gate.WithdrawAsAgent(ctx, agent, in.ID))
	}
	return decided(ctx, in.ClientMutationID, func(by identity.Person) (*gate.Answer, error) { return r.Gate.Withdraw(ctx, by, in.ID) })
}
