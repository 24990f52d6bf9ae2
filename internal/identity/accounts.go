package identity

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// These are for the command line, which acts for no one: they take the owner's database.

// CreateUser makes an account. INVALID_INPUT names what is wrong, an address that has one included.
func CreateUser(ctx context.Context, db sqlc.DBTX, email, name, password string) (User, error) {
	email, err := normalEmail(email)
	if err != nil {
		return User{}, err
	}
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > 200 || strings.ContainsFunc(name, unicode.IsControl) {
		return User{}, invalid("name", "A name has 1 to 200 characters, none of them a control character.")
	}
	hash, err := HashPassword(password)
	if err != nil {
		return User{}, err
	}
	user := User{ID: id.NewUser(), Name: name, Email: email}
	err = sqlc.New().CreateUser(ctx, db, sqlc.CreateUserParams{ID: user.ID, Email: email, Name: name, PasswordHash: &hash})
	if violates(err, "users_email_key") {
		return User{}, invalid("email", "There is an account with this address already.")
	}
	return user, err
}

// Join makes a user a member of a workspace, which is made where there is none with this slug; one that
// is there keeps its name. Who is a member already stays what they are: INVALID_INPUT on "workspace".
func Join(ctx context.Context, db sqlc.DBTX, user id.User, slug, name string, role sqlc.Role) (Workspace, error) {
	if !role.Valid() {
		return Workspace{}, invalid("role", "A role is member, approver, operator or auditor.")
	}
	row, err := sqlc.New().EnsureWorkspace(ctx, db, sqlc.EnsureWorkspaceParams{ID: id.NewWorkspace(), Slug: slug, Name: name})
	switch {
	case violates(err, "workspaces_slug_check"):
		return Workspace{}, invalid("workspace", "A workspace's slug has lower-case letters, digits and hyphens, 63 at most.")
	case violates(err, "workspaces_name_check"):
		return Workspace{}, invalid("workspace", "A workspace's name has 1 to 200 characters.")
	case err != nil:
		return Workspace{}, err
	}
	workspace := Workspace{row.ID, row.Slug, row.Name}
	err = sqlc.New().CreateMembership(ctx, db, sqlc.CreateMembershipParams{UserID: user, WorkspaceID: row.ID, Role: role})
	if violates(err, "memberships_pkey") {
		return workspace, invalid("workspace", "They are a member of this workspace already.")
	}
	return workspace, err
}

// FindUser gives the account with this address; INVALID_INPUT where there is none or it is disabled.
func FindUser(ctx context.Context, db sqlc.DBTX, email string) (User, error) {
	email, err := normalEmail(email)
	if err != nil {
		return User{}, err
	}
	row, err := sqlc.New().GetUserByEmail(ctx, db, email)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return User{}, invalid("user", "There is no account with this address.")
	case err != nil:
		return User{}, err
	case row.DisabledAt != nil:
		return User{}, invalid("user", "The account with this address is disabled.")
	}
	return User{row.ID, row.Name, row.Email}, nil
}

func violates(err error, constraint string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.ConstraintName == constraint
}
