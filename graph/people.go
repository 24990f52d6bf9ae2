package graph

import (
	"context"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

func viewer(ctx context.Context) *model.Viewer {
	who := identity.From(ctx)
	user, workspace := who.User(), who.Workspace()
	v := &model.Viewer{User: &sqlc.UsersByIDRow{ID: user.ID, Email: user.Email, Name: user.Name},
		Workspace: &sqlc.Workspace{ID: workspace.ID, Slug: workspace.Slug, Name: workspace.Name},
		ExpiresAt: who.ExpiresAt(), Role: who.Role(), Credential: model.CredentialKindSession, CanDecide: gate.Decides(who)}
	if !who.Token().IsZero() {
		v.Credential = model.CredentialKindAPIToken
	}
	return v
}

// email is for oneself and for operators.
func email(ctx context.Context, u *sqlc.UsersByIDRow) *string {
	who := identity.From(ctx)
	if u.ID != who.User().ID && who.Role() != sqlc.RoleOperator {
		return nil
	}
	return &u.Email
}

// userByID is nil where nobody did it: the system, or a token.
func userByID(ctx context.Context, which id.User) (*sqlc.UsersByIDRow, error) {
	if which.IsZero() {
		return nil, nil
	}
	return load(ctx).users.Load(ctx, which)
}

func usersByID(ctx context.Context, which []id.User) ([]*sqlc.UsersByIDRow, error) {
	list := make([]*sqlc.UsersByIDRow, len(which))
	load(ctx).users.expect(which...)
	for i, one := range which {
		var err error
		if list[i], err = load(ctx).users.Load(ctx, one); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func capabilities(ctx context.Context, tools *toolcall.Service, who identity.Actor) (*model.Capabilities, error) {
	c := &model.Capabilities{Enabled: tools.Enabled(), Configured: tools.Provider() != "", Provider: tools.Provider(),
		Features: &model.Features{}, Actions: []*model.CapabilityAction{}}
	if !c.Enabled {
		return c, nil
	}
	c.Features.Reads, c.Features.Writes = tools.Reads(), tools.Writes()
	offered, err := tools.Offered(ctx, who)
	for _, t := range offered {
		c.Actions = append(c.Actions, action(t))
	}
	return c, err
}

func action(t toolcall.Tool) *model.CapabilityAction {
	kind := model.ActionKindRead
	if t.Write {
		kind = model.ActionKindWrite
	}
	return &model.CapabilityAction{Entity: t.Entity.Name, Operation: operations[t.Operation], Kind: kind, Tool: t.Name, Label: t.Label, RequiresApproval: t.RequiresApproval}
}

var operations = map[string]model.Operation{
	"list": model.OperationList, "get": model.OperationGet, "create": model.OperationCreate, "update": model.OperationUpdate,
	"delete": model.OperationDelete, "bulk_update": model.OperationBulkUpdate, "action": model.OperationAction}
