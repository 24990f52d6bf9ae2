package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Database is a pool, a connection or a transaction to read the catalog with.
type Database interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Load reads countersign.yaml and binds it to the tables of the database. Where the file and the database
// do not go together the error is a *Problems, which names every line and says what to write instead.
func Load(ctx context.Context, db Database, path string) (*Registry, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	return load(ctx, db, path, content)
}

func load(ctx context.Context, db Database, path string, content []byte) (registry *Registry, err error) {
	problems := &Problems{File: path}
	d := parse(content, problems)
	if err := problems.err(); err != nil {
		return nil, err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	defer func() {
		if rolledBack := tx.Rollback(ctx); rolledBack != nil && !errors.Is(rolledBack, pgx.ErrTxClosed) {
			err = errors.Join(err, rolledBack)
		}
	}()
	b := &binder{problems: problems, registry: &Registry{assistant: d.assistant, keepDays: d.keepDays, byName: map[string]*Entity{}, file: path}}
	b.catalog, err = readCatalog(ctx, tx, d.names)
	if err != nil {
		return nil, err
	}
	b.registry.tables = len(b.catalog.relations)
	b.bind(d)
	if err := b.bindReferences(ctx, tx, d); err != nil {
		return nil, err
	}
	if err := b.bindHomes(ctx, tx); err != nil {
		return nil, err
	}
	return b.registry, problems.err()
}

// names tells whether the file has an entity on the relation.
func (d *document) names(r *relation) bool {
	return slices.ContainsFunc(d.entities, func(e *entitySpec) bool {
		schema, name, ok := splitTable(e.table.text)
		return ok && schema == r.Schema && name == r.Name
	})
}

// splitTable reads schema.table; a part with a dot or a quote in it stands in double quotes, as in SQL.
// Capital letters are meant as they are.
func splitTable(s string) (schema, name string, ok bool) {
	schema, rest, ok := identifier(s)
	if !ok || !strings.HasPrefix(rest, ".") {
		return "", "", false
	}
	name, rest, ok = identifier(rest[1:])
	return schema, name, ok && rest == ""
}

// identifier takes one name off the front of s.
func identifier(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, `."`)
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '"':
			name += s[i : i+1]
		case strings.HasPrefix(s[i:], `""`):
			name += `"`
			i++
		default:
			return name, s[i+1:], name != ""
		}
	}
	return "", "", false
}
