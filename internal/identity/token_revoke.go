package identity

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

// Tokens gives the API tokens of one user, or with an empty address everybody's, those that have ended too. Like
// CreateToken it is for the command line.
func Tokens(ctx context.Context, db sqlc.DBTX, email string) ([]*sqlc.ListTokensRow, error) {
	of := (*string)(nil)
	if email != "" {
		normal, err := normalEmail(email)
		if err != nil {
			return nil, err
		}
		of = &normal
	}
	return sqlc.New().ListTokens(ctx, db, of)
}

// RevokeToken ends an API token: requests with it are refused from now on, and its streams are ended.
func RevokeToken(ctx context.Context, db sqlc.DBTX, token id.Token) error {
	revoked, err := sqlc.New().RevokeToken(ctx, db, token)
	if err != nil {
		return fmt.Errorf("revoke an API token: %w", err)
	}
	if revoked == 0 {
		return invalid("token", "There is no token with this id that was not revoked before.")
	}
	return nil
}
