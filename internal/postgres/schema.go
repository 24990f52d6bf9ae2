package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/countersign/countersign/migrations"
	"github.com/countersign/countersign/sqlc"
)

// SchemaIsCurrent refuses, in a sentence, a database that is behind this program. One that is ahead is
// served: a newer program migrated it, and takes over from this one. db is the owner's.
func SchemaIsCurrent(ctx context.Context, db sqlc.DBTX) error {
	needed, err := newest()
	if err != nil {
		return err
	}
	var there bool
	if err := db.QueryRow(ctx, `SELECT to_regclass('countersign.goose_db_version') IS NOT NULL`).Scan(&there); err != nil {
		return fmt.Errorf("look for the schema: %w", err)
	}
	if !there {
		return errors.New("the database has no schema of Countersign yet: run `countersign migrate`")
	}
	var version int64
	if err := db.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM countersign.goose_db_version WHERE is_applied`).Scan(&version); err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if version < needed {
		return fmt.Errorf("the schema is at version %d and this program needs version %d: run `countersign migrate`", version, needed)
	}
	return nil
}

// newest gives the version of the last migration.
func newest() (version int64, err error) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if found, err := strconv.ParseInt(number, 10, 64); err == nil {
			version = max(version, found)
		}
	}
	return version, err
}
