package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

const modelTokens = "model_tokens"

// TokensSpent says that a budget of model tokens has none left, and when there are new ones.
type TokensSpent struct{ Message string }

func (e *TokensSpent) Error() string { return e.Message }

// AffordTokens tells whether someone has model tokens left, read fresh; a *TokensSpent where they have none. What one
// request to a model takes is known when it is done, so the last one may take more than there were.
func (s *Service) AffordTokens(ctx context.Context, who identity.Actor) error {
	raw, err := s.queries.SpentBudget(ctx, postgres.As(s.agent, who.Workspace().ID), sqlc.SpentBudgetParams{
		WorkspaceID: who.Workspace().ID, UserID: who.User().ID.UUID(), TokenID: id.Null(who.Token()), Measure: modelTokens})
	if err != nil {
		return err
	}
	var budget gate.Spent
	if err := json.Unmarshal(raw, &budget); err != nil || budget.Measure == "" {
		return err
	}
	return &TokensSpent{Message: budget.Refusal().Message}
}

// SpendTokens counts what a request to a model took, and tells whether there are any left for another.
func (s *Service) SpendTokens(ctx context.Context, who identity.Actor, tokens int64) error {
	if tokens > 0 {
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // they were used, whoever is still there
		defer cancel()
		err := s.queries.RecordUsage(own, postgres.As(s.agent, who.Workspace().ID), sqlc.RecordUsageParams{
			WorkspaceID: who.Workspace().ID, UserID: who.User().ID, TokenID: who.Token(), Measure: modelTokens, Amount: tokens})
		if err != nil {
			return err
		}
	}
	return s.AffordTokens(ctx, who)
}
