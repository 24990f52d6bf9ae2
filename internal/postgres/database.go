package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Database is the one database of a cluster of ours.
const Database = "countersign"

// CreateDatabase makes a database that is the owner's where it is missing, as a superuser; url is the
// superuser's there. The owner may make things in its schema public, and finds ours after those.
func CreateDatabase(ctx context.Context, conn *pgx.Conn, url, name string) (err error) {
	quoted := pgx.Identifier{name}.Sanitize()
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1)", name).Scan(&there)
	if err == nil && !there {
		_, err = conn.Exec(ctx, "CREATE DATABASE "+quoted+" OWNER countersign_owner")
	}
	if err != nil {
		return fmt.Errorf("create the database %s: %w", name, err)
	}
	inside, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inside.Close(context.WithoutCancel(ctx))) }()
	_, err = inside.Exec(ctx, "ALTER SCHEMA public OWNER TO countersign_owner; ALTER ROLE countersign_owner IN DATABASE "+quoted+" SET search_path = public, countersign")
	return err
}
