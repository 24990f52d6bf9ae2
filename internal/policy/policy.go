// Package policy saves what an operator decides in one workspace beside the registry: policies, which narrow what it
// offers; budgets, which bound what is used; and patterns, which hide. What they mean is told where they hold: of
// policies in record, of budgets in the database, of patterns in redact.
package policy

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// Save stores a policy in place of what was said of the same. It is refused where it would give something that the
// registry does not offer. Where it shortens lives, what is open and would live
// longer has its time cut; where it asks for more approval, so does what awaits it.
func Save(ctx context.Context, tx sqlc.DBTX, registry *record.Registry, workspace id.Workspace, p record.Policy) error {
	if err := registry.Narrows(p); err != nil {
		return err
	}
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return err
	}
	if err := shorten(ctx, tx, registry, workspace, p); err != nil {
		return err
	}
	if err := raise(ctx, tx, registry, workspace, p); err != nil {
		return err
	}
	if err := sqlc.New().SavePolicy(ctx, tx, row(workspace, p)); err != nil {
		return err
	}
	return audit(ctx, tx, workspace, p, "saved")
}

// shorten cuts the time of what is open. It comes first: a decision locks its proposal before it locks policies.
func shorten(ctx context.Context, tx sqlc.DBTX, registry *record.Registry, workspace id.Workspace, p record.Policy) error {
	if p.Lifetime <= 0 {
		return nil
	}
	entity, op, action := registry.Subject(p)
	_, err := sqlc.New().ShortenLives(ctx, tx, sqlc.ShortenLivesParams{WorkspaceID: workspace, AtMost: time.Duration(p.Lifetime * float64(time.Second)),
		Entity: optional(entity), Operation: optional(string(op)), Action: optional(action)})
	return err
}

// raise asks for more approval of what awaits it, where a policy does: its queues go by that.
func raise(ctx context.Context, tx sqlc.DBTX, registry *record.Registry, workspace id.Workspace, p record.Policy) error {
	if p.Approvals <= 0 {
		return nil
	}
	entity, op, action := registry.Subject(p)
	_, err := sqlc.New().RaiseApprovals(ctx, tx, sqlc.RaiseApprovalsParams{WorkspaceID: workspace, Approvals: p.Approvals, Approver: cmp.Or(p.Approver, string(sqlc.RoleApprover)),
		Entity: optional(entity), Operation: optional(string(op)), Action: optional(action)})
	return err
}

// Clear takes a policy back. False: there is none of that.
func Clear(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace, of record.Policy) (bool, error) {
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return false, err
	}
	rows, err := sqlc.New().ClearPolicy(ctx, tx, sqlc.ClearPolicyParams{WorkspaceID: workspace, Entity: optional(of.Entity), Operation: optional(string(of.Operation)), Tool: optional(of.Tool)})
	if err != nil || rows == 0 {
		return false, err
	}
	return true, audit(ctx, tx, workspace, of, "cleared")
}

// List gives the policies of a workspace.
func List(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace) ([]*sqlc.Policy, error) {
	if err := postgres.Enter(ctx, tx, workspace); err != nil {
		return nil, err
	}
	return sqlc.New().ListPolicies(ctx, tx, workspace)
}

func audit(ctx context.Context, tx sqlc.DBTX, workspace id.Workspace, of record.Policy, outcome string) error {
	return sqlc.New().AuditPolicy(ctx, tx, sqlc.AuditPolicyParams{ID: id.NewAudit(), WorkspaceID: workspace, Verb: "policy", Outcome: outcome,
		Tool: optional(of.Tool), Entity: optional(of.Entity), Operation: optional(string(of.Operation))})
}

func row(workspace id.Workspace, p record.Policy) sqlc.SavePolicyParams {
	out := sqlc.SavePolicyParams{WorkspaceID: workspace, Entity: optional(p.Entity), Operation: optional(string(p.Operation)), Tool: optional(p.Tool),
		SwitchedOff: p.SwitchedOff, PreviewOnly: p.PreviewOnly, Approver: optional(p.Approver), Fields: p.Fields, Roles: p.Roles}
	if p.Approvals > 0 {
		out.Approvals = &p.Approvals
	}
	if p.BulkCap > 0 {
		out.BulkCap = new(int32(p.BulkCap)) //nolint:gosec // Narrows bounds it
	}
	if p.Lifetime > 0 {
		out.Lifetime = new(time.Duration(p.Lifetime * float64(time.Second)))
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
