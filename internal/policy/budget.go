package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// Budget bounds a measure in a period: of the workspace, of each user or token of it, or of the one that is named.
// Past Hard a call is refused; from Soft on it is told of in the log. Zero of either, where Has says so, is none.
type Budget struct {
	Subject string // workspace, user or token
	User    id.User
	Token   id.Token
	Measure string // tool_calls, proposals or model_tokens
	Period  string // day or month, of UTC
	Hard    *int64
	Soft    *int64
}

// SaveBudget stores a budget in place of the one there was for the same.
func SaveBudget(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace, b Budget) error {
	if err := b.check(); err != nil {
		return err
	}
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return err
	}
	return sqlc.New().SaveBudget(ctx, tx, sqlc.SaveBudgetParams{WorkspaceID: workspace, Subject: b.Subject, UserID: b.User, TokenID: b.Token,
		Measure: b.Measure, Period: b.Period, HardLimit: b.Hard, SoftLimit: b.Soft})
}

func (b Budget) check() error {
	switch {
	case b.Hard == nil && b.Soft == nil:
		return errors.New("a budget has a limit, a soft limit, or both")
	case b.Hard != nil && *b.Hard < 0 || b.Soft != nil && *b.Soft < 0:
		return errors.New("a limit is 0 or more")
	case b.Hard != nil && b.Soft != nil && *b.Soft > *b.Hard:
		return fmt.Errorf("the soft limit, %d, is above the limit, %d", *b.Soft, *b.Hard)
	case !slices.Contains([]string{"workspace", "user", "token"}, b.Subject):
		return fmt.Errorf("a budget is of a workspace, a user or a token, not of %q", b.Subject)
	}
	return nil
}

// ClearBudget takes a budget back. False: there is none of that.
func ClearBudget(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace, b Budget) (bool, error) {
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return false, err
	}
	rows, err := sqlc.New().ClearBudget(ctx, tx, sqlc.ClearBudgetParams{WorkspaceID: workspace, Subject: b.Subject, UserID: b.User, TokenID: b.Token, Measure: b.Measure, Period: b.Period})
	return rows > 0, err
}

// Budgets gives those of a workspace, with what is used of each.
func Budgets(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace) ([]*sqlc.ListBudgetsRow, error) {
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return nil, err
	}
	return sqlc.New().ListBudgets(ctx, tx, workspace)
}
