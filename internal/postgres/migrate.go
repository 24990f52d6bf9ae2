package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/countersign/countersign/migrations"
)

// Migrate brings the schema up to this program's version. It can be run again, and by several at once:
// the others wait.
func Migrate(ctx context.Context, ownerURL string) error {
	db, err := asOwner(ownerURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := rolesExist(ctx, db); err != nil {
		return err
	}
	if err := createSchema(ctx, db); err != nil {
		return fmt.Errorf("create the schema countersign (the owner needs CREATE on the database; `countersign migrate --grants` prints all grants): %w", err)
	}
	provider, err := provide(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// ConnectOwner connects as the owner, to whom the names of our tables are as in queries.
func ConnectOwner(ctx context.Context, ownerURL string) (*pgx.Conn, error) {
	config, err := ownerConfig(ownerURL)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return conn, nil
}

// ownerConfig pins the schema that the migrations, and goose's own table, live in.
func ownerConfig(ownerURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL is no PostgreSQL URL: %w", err)
	}
	config.RuntimeParams["search_path"] = "countersign, pg_catalog, pg_temp"
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["application_name"] = "countersign owner"
	return config, nil
}

func asOwner(ownerURL string) (*sql.DB, error) {
	config, err := ownerConfig(ownerURL)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

func provide(db *sql.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
}

// createSchema takes a lock: two that create it at once would otherwise fail, IF NOT EXISTS or not.
func createSchema(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtext('countersign schema'))`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS countersign`); err != nil {
		return err
	}
	return tx.Commit()
}

func rolesExist(ctx context.Context, db *sql.DB) error {
	var missing sql.NullString
	err := db.QueryRowContext(ctx, `SELECT string_agg(name, ', ') FROM unnest(string_to_array($1, ' ')) AS name
		WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name)`, roleNames).Scan(&missing)
	if err != nil {
		return fmt.Errorf("look for the roles: %w", err)
	}
	if missing.Valid {
		return errors.New("roles are missing: " + missing.String + "; have an administrator run what `countersign migrate --grants` prints")
	}
	return nil
}
