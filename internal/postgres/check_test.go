package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

var (
	harbor = []postgres.Source{{Name: "harbor", ReadAs: "harbor_read", WriteAs: "harbor_write"}}
	tables = []string{"core.roles", "core.users", "mrp.production_orders", "mrp.work_centers", "crp.operations", "crp.calendar_days"}
)

func TestTheRightsOfTheDemoAreInOrder(t *testing.T) {
	t.Parallel()
	if err := postgres.CheckRoles(t.Context(), pgtest.New(t).Owner, harbor, tables); err != nil {
		t.Fatal(err)
	}
}

// A right that a login must not have, or lacks: how an administrator might have come to it, and what is said.
var wrongRights = []struct{ name, given, said string }{
	{"superuser", `ALTER ROLE countersign_reader SUPERUSER`, `countersign_reader must not have SUPERUSER: ALTER ROLE countersign_reader NOSUPERUSER`},
	{"past row-level security", `ALTER ROLE countersign_agent BYPASSRLS`, `countersign_agent must not have BYPASSRLS: ALTER ROLE countersign_agent NOBYPASSRLS`},
	{"makes roles", `ALTER ROLE countersign_gate CREATEROLE`, `countersign_gate must not have CREATEROLE: ALTER ROLE countersign_gate NOCREATEROLE`},
	{"agent writes as the host", `GRANT harbor_write TO countersign_agent`, `countersign_agent may become harbor_write: REVOKE harbor_write FROM countersign_agent`},
	{"identity writes as the host", `GRANT harbor_write TO countersign_identity`, `countersign_identity may become harbor_write: REVOKE harbor_write FROM countersign_identity`},
	{"through a role in between", `CREATE ROLE staff; GRANT harbor_write TO staff; GRANT staff TO countersign_worker`,
		`countersign_worker may become harbor_write (through staff): REVOKE staff FROM countersign_worker`},
	{"readers may write", `GRANT harbor_write TO harbor_read`, `countersign_agent may become harbor_write (through harbor_read): REVOKE harbor_read FROM countersign_agent
countersign_reader may become harbor_write (through harbor_read): REVOKE harbor_read FROM countersign_reader`},
	{"reader may be the gate", `GRANT countersign_gate TO countersign_reader`, `countersign_reader may become countersign_gate: REVOKE countersign_gate FROM countersign_reader
countersign_reader may become harbor_write (through countersign_gate): REVOKE countersign_gate FROM countersign_reader`},
	{"agent may be the definer", `GRANT countersign_definer TO countersign_agent`, `countersign_agent may become countersign_definer: REVOKE countersign_definer FROM countersign_agent`},
	{"gate may be the owner", `GRANT countersign_owner TO countersign_gate`, `countersign_gate may become countersign_definer (through countersign_owner): REVOKE countersign_owner FROM countersign_gate
countersign_gate may become countersign_owner: REVOKE countersign_owner FROM countersign_gate`},
	{"a predefined role", `GRANT pg_write_all_data TO countersign_agent`, `countersign_agent may become pg_write_all_data: REVOKE pg_write_all_data FROM countersign_agent`},
	{"lacks read_as", `REVOKE harbor_read FROM countersign_agent`, `countersign_agent may not become harbor_read, which it reads or writes a source as: GRANT harbor_read TO countersign_agent`},
	{"gate lacks write_as", `REVOKE harbor_write FROM countersign_gate`, `countersign_gate may not become harbor_write, which it reads or writes a source as: GRANT harbor_write TO countersign_gate`},
	{"a table, of its own", `GRANT UPDATE ON mrp.production_orders TO countersign_worker`, `countersign_worker may UPDATE mrp.production_orders: REVOKE UPDATE ON mrp.production_orders FROM countersign_worker`},
	{"a table, as the host", `GRANT DELETE ON core.roles TO harbor_read`, `countersign_agent may DELETE core.roles: REVOKE DELETE ON core.roles FROM harbor_read
countersign_reader may DELETE core.roles: REVOKE DELETE ON core.roles FROM harbor_read`},
	{"a column", `GRANT UPDATE (name) ON core.roles TO countersign_reader`, `countersign_reader may UPDATE core.roles: REVOKE UPDATE (name) ON core.roles FROM countersign_reader`},
	{"a table, for everyone", `GRANT TRUNCATE ON crp.operations TO PUBLIC`, `countersign_agent may TRUNCATE crp.operations: REVOKE TRUNCATE ON crp.operations FROM PUBLIC
countersign_identity may TRUNCATE crp.operations: REVOKE TRUNCATE ON crp.operations FROM PUBLIC
countersign_reader may TRUNCATE crp.operations: REVOKE TRUNCATE ON crp.operations FROM PUBLIC
countersign_worker may TRUNCATE crp.operations: REVOKE TRUNCATE ON crp.operations FROM PUBLIC`},
	{"owns a table", `ALTER TABLE core.users OWNER TO countersign_identity`, `countersign_identity may DELETE core.users: ALTER TABLE core.users OWNER TO another role
countersign_identity may INSERT core.users: ALTER TABLE core.users OWNER TO another role
countersign_identity may TRUNCATE core.users: ALTER TABLE core.users OWNER TO another role
countersign_identity may UPDATE core.users: ALTER TABLE core.users OWNER TO another role`},
	{"decides", `GRANT INSERT ON countersign.proposal_decisions TO countersign_agent`, `countersign_agent may INSERT countersign.proposal_decisions: REVOKE INSERT ON countersign.proposal_decisions FROM countersign_agent`},
	{"moves a proposal", `GRANT UPDATE (status) ON countersign.proposals TO countersign_reader`, `countersign_reader may UPDATE countersign.proposals: REVOKE UPDATE (status) ON countersign.proposals FROM countersign_reader`},
	{"makes itself a member", `GRANT INSERT ON countersign.memberships TO countersign_agent`, `countersign_agent may INSERT countersign.memberships: REVOKE INSERT ON countersign.memberships FROM countersign_agent`},
}

// Roles are a server's, not a database's: these tests have a server of their own and take their rights
// back by rolling back.
func TestWrongRightsAreNamedWithWhatMendsThem(t *testing.T) {
	t.Parallel()
	cluster := start(t, postgres.ClusterOptions{Data: t.TempDir(), Fast: true})
	superuser := cluster.URL("postgres", "countersign")
	if err := errors.Join(postgres.Migrate(t.Context(), cluster.URL("countersign_owner", "countersign")), demo.Load(t.Context(), superuser)); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), superuser)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, wrong := range wrongRights {
		t.Run(wrong.name, func(t *testing.T) {
			problems := problemsAfter(t, conn, wrong.given)
			if got := strings.Join(problems, "\n"); got != wrong.said {
				t.Errorf("after %s:\n%s\nwant:\n%s", wrong.given, got, wrong.said)
			}
		})
	}
	t.Run("every mend mends", func(t *testing.T) {
		for _, wrong := range wrongRights {
			if strings.Contains(wrong.said, "another role") || strings.Contains(wrong.name, "readers may write") {
				continue
			}
			mends := wrong.given
			for line := range strings.SplitSeq(wrong.said, "\n") {
				mends += "; " + line[strings.Index(line, ": ")+2:]
			}
			if problems := problemsAfter(t, conn, mends); len(problems) > 0 {
				t.Errorf("after %s: %v", mends, problems)
			}
		}
	})
}

func TestARoleThatASourceNamesMustBeThere(t *testing.T) {
	t.Parallel()
	err := postgres.CheckRoles(t.Context(), pgtest.New(t).Owner, []postgres.Source{{Name: "erp", ReadAs: "erp_read"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "There is no role erp_read") {
		t.Errorf("got %v", err)
	}
}

func TestATableThatIsNotFoundIsNotPassedOver(t *testing.T) {
	t.Parallel()
	err := postgres.CheckRoles(t.Context(), pgtest.New(t).Owner, nil, []string{"core.roles", "core.rolls"})
	if err == nil || !strings.Contains(err.Error(), "There is no table core.rolls") {
		t.Errorf("got %v", err)
	}
}

func problemsAfter(t *testing.T, conn *pgx.Conn, statements string) []string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
	err = postgres.CheckRoles(t.Context(), tx, harbor, tables)
	var wrong *postgres.RightsError
	if err != nil && !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	if wrong == nil {
		return nil
	}
	return wrong.Problems
}
