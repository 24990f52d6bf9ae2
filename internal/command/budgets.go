package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/sqlc"
)

// bounded is what a budget is of. Without one of the flags it is of the workspace.
type bounded struct {
	workspace
	Measure   string `required:"" enum:"tool-calls,proposals,model-tokens" placeholder:"WHAT" help:"What is counted: tool-calls, proposals or model-tokens."`
	Period    string `required:"" enum:"day,month" placeholder:"day|month" help:"In which time, of UTC."`
	EachUser  bool   `xor:"of" help:"It is for each user."`
	EachToken bool   `xor:"of" help:"It is for each API token."`
	User      string `xor:"of" placeholder:"EMAIL" help:"It is for this user."`
	Token     string `xor:"of" placeholder:"TOK_…" help:"It is for this API token."`
}

func (b bounded) budget(ctx context.Context, tx pgx.Tx) (policy.Budget, error) {
	budget := policy.Budget{Subject: "workspace", Measure: strings.ReplaceAll(b.Measure, "-", "_"), Period: b.Period}
	switch {
	case b.User != "":
		user, err := sqlc.New().GetUserByEmail(ctx, tx, strings.ToLower(b.User))
		if err != nil {
			return budget, fmt.Errorf("there is no user %q: %w", b.User, err)
		}
		budget.Subject, budget.User = "user", user.ID
	case b.Token != "":
		token, err := id.ParseToken(b.Token)
		if err != nil {
			return budget, fmt.Errorf("%.80q is no token's id: `countersign token list` prints them", b.Token)
		}
		budget.Subject, budget.Token = "token", token
	case b.EachUser:
		budget.Subject = "user"
	case b.EachToken:
		budget.Subject = "token"
	}
	return budget, nil
}

type budgetSetCommand struct {
	bounded
	Limit  *int64 `placeholder:"N" help:"Past it a call is refused."`
	WarnAt *int64 `placeholder:"N" help:"Past it the log says so."`
}

// Run stores the budget in place of the one for the same.
func (c *budgetSetCommand) Run(ctx context.Context) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		b, err := c.budget(ctx, tx)
		if err != nil {
			return err
		}
		b.Hard, b.Soft = c.Limit, c.WarnAt
		err = policy.SaveBudget(ctx, tx, here.ID, b)
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.ConstraintName == "budgets_token_id_fkey" {
			return fmt.Errorf("there is no token %s: `countersign token list` prints them", c.Token)
		}
		return err
	})
}

type budgetClearCommand struct{ bounded }

// Run takes the budget back.
func (c *budgetClearCommand) Run(ctx context.Context) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		b, err := c.budget(ctx, tx)
		if err != nil {
			return err
		}
		found, err := policy.ClearBudget(ctx, tx, here.ID, b)
		if err == nil && !found {
			return fmt.Errorf("there is no such budget in %s", here.Slug)
		}
		return err
	})
}

type budgetListCommand struct{ workspace }

// Run prints a line for each budget, with what is used of it now; of one for each, by whoever used most.
func (c *budgetListCommand) Run(ctx context.Context, t Terminal) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		list, err := policy.Budgets(ctx, tx, here.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "MEASURE\tPERIOD\tOF\tUSED\tLIMIT\tWARN AT") // Flush says what went wrong
		for _, b := range list {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", strings.ReplaceAll(b.Budget.Measure, "_", "-"), b.Budget.Period, of(b), b.Used, limit(b.Budget.HardLimit), limit(b.Budget.SoftLimit))
		}
		return table.Flush()
	})
}

func of(b *sqlc.ListBudgetsRow) string {
	switch {
	case b.Email != "":
		return b.Email
	case !b.Budget.TokenID.IsZero():
		return b.Budget.TokenID.String()
	case b.Budget.Subject == "workspace":
		return "workspace"
	}
	return "each " + b.Budget.Subject
}

func limit(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}
