package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/migrations"
)

const roleNames = "countersign_owner countersign_gate countersign_agent countersign_reader countersign_worker countersign_identity countersign_definer"

// Source is where a host's records are: the roles through which they are read and written.
type Source struct{ Name, ReadAs, WriteAs string }

// CreateRoles makes the roles that the migrations grant rights to, as a superuser. It can be run again,
// and by several at once.
func CreateRoles(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('countersign roles'))`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, migrations.Roles); err != nil {
			return fmt.Errorf("create the roles: %w", err)
		}
		return nil
	})
}

// Grants is what an administrator runs, as a superuser in the database to be used, before the first
// migration and after the sources changed: the roles, and what they need besides what migrations grant.
func Grants(sources []Source) string {
	var text strings.Builder
	text.WriteString(migrations.Roles)
	text.WriteString(`
-- The owner creates the schema countersign.
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO countersign_owner', current_database()); END $$;
`)
	for _, source := range sources {
		fmt.Fprintf(&text, "\n-- Source %s: its records are read and written with the rights of these roles.\n", strings.Join(strings.Fields(source.Name), " "))
		for _, grant := range source.memberships() {
			fmt.Fprintf(&text, "%s;\n", grant)
		}
	}
	return text.String()
}

// readers become a source's read_as.
var readers = []string{"countersign_gate", "countersign_agent", "countersign_reader"}

func (s Source) memberships() (grants []string) {
	if s.ReadAs != "" {
		grants = append(grants, "GRANT "+pgx.Identifier{s.ReadAs}.Sanitize()+" TO "+strings.Join(readers, ", "))
	}
	if s.WriteAs != "" {
		grants = append(grants, "GRANT "+pgx.Identifier{s.WriteAs}.Sanitize()+" TO countersign_gate")
	}
	return grants
}
