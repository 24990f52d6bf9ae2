package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// about is what a policy is about, in which workspace.
type about struct {
	workspace
	Entity    string `xor:"about" placeholder:"MODULE.ENTITY" help:"The entity."`
	Operation string `placeholder:"OPERATION" help:"One of its operations: list, get, create, update, delete, bulk_update. All of them, where it is left out."`
	Tool      string `xor:"about" placeholder:"TOOL" help:"A tool, or a custom action, in place of an entity."`
}

func (a about) policy() record.Policy {
	return record.Policy{Entity: a.Entity, Operation: record.Operation(strings.ToLower(a.Operation)), Tool: a.Tool}
}

func (a about) String() string {
	return strings.TrimSpace(a.Entity + a.Tool + " " + a.Operation)
}

type policySetCommand struct {
	about
	Config      string        `env:"COUNTERSIGN_CONFIG" default:"countersign.yaml" placeholder:"FILE" help:"The registry that is narrowed (default ${default})."`
	Off         bool          `help:"Switch it off."`
	PreviewOnly bool          `help:"Confirming writes nothing."`
	Approvals   int32         `placeholder:"N" help:"So many others approve after it is confirmed."`
	Approver    string        `enum:",member,approver,operator" default:"" help:"Of which role they are: member, approver or operator."`
	Fields      *[]string     `placeholder:"NAME,…" help:"The fields that may still be set; none, where it is empty."`
	BulkCap     int           `placeholder:"N" help:"The most records of one change of many."`
	Lifetime    time.Duration `placeholder:"30m" help:"How long a proposal waits to be confirmed."`
	Roles       *[]string     `placeholder:"ROLE,…" help:"The roles that may still use it."`
}

// Run stores the policy in place of the one about the same. What would give more than the registry is refused.
func (c *policySetCommand) Run(ctx context.Context) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		registry, err := record.Load(ctx, tx, c.Config)
		if err != nil {
			return err
		}
		p := c.policy()
		p.SwitchedOff, p.PreviewOnly, p.Approvals, p.Approver, p.BulkCap, p.Lifetime = c.Off, c.PreviewOnly, c.Approvals, c.Approver, c.BulkCap, c.Lifetime.Seconds()
		p.Fields, p.Roles = listed(c.Fields, keep), listed(c.Roles, strings.ToLower)
		return policy.Save(ctx, tx, registry, here.ID, p)
	})
}

// listed is nil where nothing was said, and empty where nothing is left.
func listed(said *[]string, spell func(string) string) []string {
	if said == nil {
		return nil
	}
	list := []string{}
	for _, one := range *said {
		if one = spell(strings.TrimSpace(one)); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// keep leaves a field's name as it is: a column's may have capital letters.
func keep(name string) string { return name }

type policyClearCommand struct{ about }

// Run takes the policy about this back.
func (c *policyClearCommand) Run(ctx context.Context) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		found, err := policy.Clear(ctx, tx, here.ID, c.policy())
		if err == nil && !found {
			return fmt.Errorf("there is no policy about %s in %s", c.about, here.Slug)
		}
		return err
	})
}

type policyListCommand struct{ workspace }

// Run prints a line for each policy.
func (c *policyListCommand) Run(ctx context.Context, t Terminal) error {
	return c.in(ctx, func(tx pgx.Tx, here *sqlc.Workspace) error {
		list, err := policy.List(ctx, tx, here.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ABOUT\tOPERATION\tNARROWS\tSINCE") // Flush says what went wrong
		for _, p := range list {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", said(p.Entity)+said(p.Tool), said(p.Operation), strings.Join(narrows(p), ", "), day(&p.UpdatedAt))
		}
		return table.Flush()
	})
}

// narrows says what a policy takes away, as its flags do.
func narrows(p *sqlc.Policy) []string {
	var list []string
	for _, one := range []struct {
		says bool
		what string
	}{
		{p.SwitchedOff, "off"}, {p.PreviewOnly, "preview-only"},
		{p.Approvals != nil, "approvals " + number(p.Approvals) + " " + said(p.Approver)},
		{p.Fields != nil, "fields " + orNone(p.Fields)},
		{p.BulkCap != nil, "bulk-cap " + number(p.BulkCap)},
		{p.Lifetime != nil, "lifetime " + lasts(p.Lifetime)},
		{p.Roles != nil, "roles " + orNone(p.Roles)},
	} {
		if one.says {
			list = append(list, strings.TrimSpace(one.what))
		}
	}
	return list
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ",")
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func lasts(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// workspace is the flag of commands that work in one.
type workspace struct {
	database
	Workspace string `required:"" placeholder:"SLUG" help:"The workspace."`
}

// in runs one transaction as the database's owner, with the workspace.
func (w workspace) in(ctx context.Context, do func(pgx.Tx, *sqlc.Workspace) error) error {
	return w.asOwner(ctx, func(tx pgx.Tx) error {
		here, err := sqlc.New().GetWorkspaceBySlug(ctx, tx, w.Workspace)
		if err != nil {
			return fmt.Errorf("there is no workspace %q: %w", w.Workspace, err)
		}
		return do(tx, here)
	})
}
