package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

type tokenListCommand struct {
	database
	User string `placeholder:"EMAIL" help:"Only the tokens that act for this user."`
}

// Run prints a line for each token, and of none what it is: that is stored nowhere.
func (c *tokenListCommand) Run(ctx context.Context, t Terminal) error {
	return c.asOwner(ctx, func(tx pgx.Tx) error {
		tokens, err := identity.Tokens(ctx, tx, c.User)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tUSER\tWORKSPACE\tNAME\tSCOPES\tMADE\tLAST USED\tENDS") // Flush says what went wrong
		for _, one := range tokens {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%q\t%s\t%s\t%s\t%s\n", one.ID, one.Email, one.Slug, one.Name, strings.Join(one.Scopes, ","), day(&one.CreatedAt), day(one.LastUsedAt), ends(one))
		}
		return table.Flush()
	})
}

func day(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.UTC().Format(time.DateOnly)
}

func ends(one *sqlc.ListTokensRow) string {
	if one.RevokedAt != nil {
		return "revoked " + day(one.RevokedAt)
	}
	return day(one.ExpiresAt)
}

type tokenRevokeCommand struct {
	database
	ID string `arg:"" help:"The token's id, tok_…, as token list prints it."`
}

// Run ends a token, at once and for good.
func (c *tokenRevokeCommand) Run(ctx context.Context) error {
	token, err := id.ParseToken(c.ID)
	if err != nil {
		return fmt.Errorf("%.80q is no token's id: `countersign token list` prints them", c.ID)
	}
	return c.asOwner(ctx, func(tx pgx.Tx) error { return identity.RevokeToken(ctx, tx, token) })
}
