package demo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Password is everyone's.
const Password = "harbor-mill"

// Site is a workspace of the demo; its slug is what the host's row-level security goes by.
type Site struct{ Slug, Name string }

// Account is someone who may sign in.
type Account struct {
	Name, Does, Email string
	Role              sqlc.Role
	Site              string // a slug
}

// Sites and Accounts are who is there.
var (
	Sites = []Site{
		{"harbor-mill", "Harbor Mill"},
		{"other-site", "Other Site"},
	}
	Accounts = []Account{
		{"Maria Rossi", "planner", "maria@harbor.example", sqlc.RoleMember, "harbor-mill"},
		{"Paolo Conti", "planner", "paolo@harbor.example", sqlc.RoleMember, "harbor-mill"},
		{"Jonas Weber", "supervisor", "jonas@harbor.example", sqlc.RoleApprover, "harbor-mill"},
		{"Aiko Tan", "supervisor", "aiko@harbor.example", sqlc.RoleApprover, "harbor-mill"},
		{"Sam Lee", "auditor", "sam@harbor.example", sqlc.RoleAuditor, "harbor-mill"},
		{"Rosa Marino", "operator", "rosa@harbor.example", sqlc.RoleOperator, "harbor-mill"},
		{"Olu Ade", "planner", "olu@othersite.example", sqlc.RoleMember, "other-site"},
	}
)

// open makes the workspaces and the accounts.
func open(ctx context.Context, tx pgx.Tx) error {
	queries := sqlc.New()
	sites := map[string]id.Workspace{}
	for _, site := range Sites {
		sites[site.Slug] = id.NewWorkspace()
		if err := queries.CreateWorkspace(ctx, tx, sqlc.CreateWorkspaceParams{ID: sites[site.Slug], Slug: site.Slug, Name: site.Name}); err != nil {
			return fmt.Errorf("workspace %s: %w", site.Slug, err)
		}
	}
	// One password, known to everyone: one hash will do.
	hash, err := identity.HashPassword(Password)
	if err != nil {
		return err
	}
	for _, account := range Accounts {
		user := id.NewUser()
		if err := queries.CreateUser(ctx, tx, sqlc.CreateUserParams{ID: user, Email: account.Email, Name: account.Name, PasswordHash: &hash}); err != nil {
			return fmt.Errorf("account %s: %w", account.Email, err)
		}
		if err := queries.CreateMembership(ctx, tx, sqlc.CreateMembershipParams{UserID: user, WorkspaceID: sites[account.Site], Role: account.Role}); err != nil {
			return fmt.Errorf("membership of %s: %w", account.Email, err)
		}
	}
	return nil
}
