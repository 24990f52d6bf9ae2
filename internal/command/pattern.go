package command

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/policy"
)

type patternAddCommand struct {
	database
	Workspace string   `required:"" placeholder:"SLUG" help:"Where it holds."`
	Name      string   `required:"" help:"What is shown in the place of what matches, as in (redacted: order numbers)."`
	Sample    []string `required:"" sep:"none" placeholder:"TEXT" help:"A text in which it has to find something. May be given again."`
	Leave     []string `sep:"none" placeholder:"TEXT" help:"A text in which it must find nothing. May be given again."`
	By        string   `placeholder:"EMAIL" help:"Whose wish it is."`
	Pattern   string   `arg:"" help:"An RE2 expression. Of what it matches all is taken out, or a group (?P<secret>…)."`
}

// Run saves the pattern where it does on its samples what it is to do.
func (c *patternAddCommand) Run(ctx context.Context) error {
	return c.asOwner(ctx, func(tx pgx.Tx) error {
		return policy.AddPattern(ctx, tx, policy.Pattern{Workspace: c.Workspace, Name: c.Name, Expression: c.Pattern, Matches: c.Sample, Leaves: c.Leave, By: c.By})
	})
}

type patternListCommand struct {
	database
	Workspace string `placeholder:"SLUG" help:"Only those of this workspace."`
}

// Run prints a line for each pattern.
func (c *patternListCommand) Run(ctx context.Context, t Terminal) error {
	return c.asOwner(ctx, func(tx pgx.Tx) error {
		patterns, err := policy.Patterns(ctx, tx, c.Workspace)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "WORKSPACE\tNAME\tPATTERN\tMADE\tBY") // Flush says what went wrong
		for _, p := range patterns {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Slug, p.Name, p.Pattern, day(&p.CreatedAt), p.CreatedBy)
		}
		return table.Flush()
	})
}

type patternRemoveCommand struct {
	database
	Workspace string `required:"" placeholder:"SLUG" help:"Where it holds."`
	Name      string `arg:"" help:"Its name, as pattern list prints it."`
}

// Run ends a pattern; what was redacted by it stays so.
func (c *patternRemoveCommand) Run(ctx context.Context) error {
	return c.asOwner(ctx, func(tx pgx.Tx) error { return policy.RemovePattern(ctx, tx, c.Workspace, c.Name) })
}
