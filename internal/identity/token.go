package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// NewToken is an API token to be made.
type NewToken struct {
	Email     string // whom it acts for
	Workspace string // a slug; may be empty with one membership
	Name      string
	Scopes    []string
	Lifetime  time.Duration // zero for one that does not end
}

// CreateToken makes an API token and gives its secret, which is stored nowhere: this is the only time it
// is seen. Like CreateUser it is for the command line.
func CreateToken(ctx context.Context, db sqlc.DBTX, wanted NewToken) (string, error) {
	if err := wanted.check(); err != nil {
		return "", err
	}
	user, err := FindUser(ctx, db, wanted.Email)
	if err != nil {
		return "", err
	}
	list, err := memberships(ctx, db, user.ID)
	if err != nil {
		return "", err
	}
	in, err := choose(list, wanted.Workspace)
	if err != nil {
		return "", err
	}
	secret := newSecret(tokenPrefix, user.ID)
	row := sqlc.CreateTokenParams{
		ID: id.NewToken(), UserID: user.ID, WorkspaceID: in.Workspace.ID,
		Name: wanted.Name, TokenHash: secretHash(secret), Scopes: slices.Compact(slices.Sorted(slices.Values(wanted.Scopes))),
	}
	if wanted.Lifetime != 0 {
		row.Lifetime = &wanted.Lifetime
	}
	if _, err := sqlc.New().CreateToken(ctx, db, row); err != nil {
		return "", fmt.Errorf("store an API token: %w", err)
	}
	return secret, nil
}

func (t NewToken) check() error {
	if length := utf8.RuneCountInString(t.Name); length < 1 || length > 100 {
		return invalid("name", "A token's name has 1 to 100 characters.")
	}
	if len(t.Scopes) == 0 {
		return invalid("scopes", "A token has at least one scope: "+scopeList()+".")
	}
	for _, scope := range t.Scopes {
		if !slices.Contains(Scopes, Scope(scope)) {
			return invalid("scopes", fmt.Sprintf("There is no scope %.40q: the scopes are %s.", scope, scopeList()))
		}
	}
	if t.Lifetime < 0 {
		return invalid("lifetime", "A token's lifetime is not negative.")
	}
	return nil
}

func scopeList() string {
	names := make([]string, len(Scopes))
	for i, scope := range Scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ", ")
}
