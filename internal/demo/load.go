// Package demo is Harbor Mill: a host's tables, records and roles, two workspaces, and the accounts of
// the people who work there. README's tour and most tests happen in it.
package demo

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
)

var (
	//go:embed roles.sql
	roles string
	//go:embed tables.sql
	tables string
	//go:embed records.sql
	records string
)

// Load puts Harbor Mill into a migrated database, as a superuser: the host's roles, and the rest as the
// owner's. All of it or nothing; where it was loaded before, nothing.
func Load(ctx context.Context, superuserURL string) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return fmt.Errorf("load Harbor Mill: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		there, err := loaded(ctx, tx)
		if err != nil || there {
			return err
		}
		return load(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("load Harbor Mill: %w", err)
	}
	return nil
}

// Digest is another one when what Load does is another.
func Digest() string {
	sum := sha256.Sum256(fmt.Append(nil, roles, tables, records, Sites, Accounts, Password))
	return hex.EncodeToString(sum[:])
}

// loaded tells whether Harbor Mill is there. Who asks at the same time waits for who loads it.
func loaded(ctx context.Context, tx pgx.Tx) (there bool, err error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('harbor mill'))`); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, `SELECT to_regclass('mrp.production_orders') IS NOT NULL`).Scan(&there)
	return there, err
}

func load(ctx context.Context, tx pgx.Tx) error {
	for _, step := range []struct{ doing, sql string }{
		{"make the host's roles", roles},
		{"become the owner", "SET LOCAL ROLE countersign_owner; SET LOCAL search_path = countersign, pg_catalog"},
		{"make the host's tables", tables},
		{"fill the host's tables", records},
	} {
		if _, err := tx.Exec(ctx, step.sql); err != nil {
			return fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return open(ctx, tx)
}
