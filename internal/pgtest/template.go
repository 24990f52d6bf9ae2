package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/migrations"
)

// makeTemplate gives the name of a migrated database with Harbor Mill in it, making it where there is
// none of this state of the sources. Processes that share a server take turns.
func makeTemplate(ctx context.Context, s *server) (string, error) {
	digest, err := sources()
	if err != nil {
		return "", err
	}
	name := "cs_template_" + digest[:16]
	err = s.admin.AcquireFunc(ctx, func(held *pgxpool.Conn) error {
		conn := held.Conn()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('countersign template'))`); err != nil {
			return err
		}
		defer func() {
			_, _ = conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(hashtext('countersign template'))`)
		}()
		var there bool
		err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1)`, name).Scan(&there)
		if err != nil || there {
			return err
		}
		return s.build(ctx, conn, name)
	})
	if err != nil {
		return "", fmt.Errorf("make the database that tests copy: %w", err)
	}
	return name, nil
}

// build makes the template under another name first: half of one is never copied.
func (s *server) build(ctx context.Context, conn *pgx.Conn, name string) error {
	if err := postgres.CreateRoles(ctx, conn); err != nil {
		return err
	}
	making := name + "_making"
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+making+" WITH (FORCE)"); err != nil {
		return err
	}
	if err := postgres.CreateDatabase(ctx, conn, s.url("", making), making); err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, s.url("countersign_owner", making)); err != nil {
		return err
	}
	if err := demo.Load(ctx, s.url("", making)); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "ALTER DATABASE "+making+" RENAME TO "+name)
	return err
}

// sources is another text when the migrations or Harbor Mill are others.
func sources() (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, demo.Digest(), migrations.Roles)
	err := fs.WalkDir(migrations.FS, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		content, err := fs.ReadFile(migrations.FS, path)
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// within gives the URL of a database on the server that a superuser's URL names; no user is that one.
func within(superuserURL string) func(user, database string) string {
	return func(user, database string) string {
		parsed, err := url.Parse(superuserURL)
		if err != nil {
			return superuserURL
		}
		if user != "" {
			parsed.User = url.User(user)
		}
		parsed.Path = "/" + database
		return parsed.String()
	}
}
