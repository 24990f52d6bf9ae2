package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/server"
)

// attempt is something that a login tries. Where what counts is whether it has the right, any other error than a
// refusal shows that it does.
type attempt struct {
	name, statement string
	right           bool
}

// attacker is a login and what has come of what it tried.
type attacker struct {
	t       *testing.T
	w       *world
	login   string
	conn    *pgx.Conn
	succeed map[string]bool
}

var logins = []string{"agent", "reader", "worker", "gate", "identity"} // identity removes memberships, so it comes last

// Each login tries everything on every table there is, as every role it can become, and on the server. What succeeds
// is on a list, with its reason, and nothing of it is a business record, a decision or a status, but what the gate
// is there for.
func TestEachLoginTriesEverything(t *testing.T) {
	t.Parallel()
	w, before := besieged(t)
	for _, login := range logins {
		a := w.attacker(t, login)
		for _, role := range append([]string{""}, a.becomes()...) {
			a.everythingOnTables(role)
		}
		a.everythingOnTheServer()
		a.everyFunction()
		a.onlyWhatIsListed()
		after := w.state()
		switch moved := differing(before, after); login {
		case "identity":
			continue
		case "worker": // deletes what is over, and nothing else
			if moved != "decisions, proposals, records" {
				t.Errorf("%s moved %s", login, moved)
			}
			before = after
		default:
			if moved != "" {
				t.Errorf("%s moved %s", login, moved)
			}
		}
	}
	if moved := differing(before, w.state()); moved != "people" {
		t.Errorf("moved: %s, where identity alone removes members", moved)
	}
}

func TestNobodySignsInAsTheDefiner(t *testing.T) {
	t.Parallel()
	w := start(t)
	config := w.db.Pools.Agent.Config().ConnConfig.Copy()
	config.User = "countersign_definer"
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		_ = conn.Close(context.WithoutCancel(t.Context()))
		t.Error("countersign_definer signs in")
	}
}

// besieged is a world with proposals in several states, a server that does nothing by itself, and how things are.
func besieged(t *testing.T) (*world, map[string]string) {
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria, olu := w.signIn("maria@harbor.example"), w.signIn("olu@othersite.example")
	maria.confirm(maria.rename("4", "reviewer")).want(vars{"confirmProposal.result.status": "APPLIED"})
	maria.rename("5", "onlooker")
	maria.waiting("7")
	olu.rename("10", "buyer")
	w.exec(`UPDATE core.users SET role_id = 4 WHERE role_id = 7`)
	return w, w.state()
}

// first is the number of the last proposal that besieged makes.
const first = "4"

// state is a digest of each thing that only the gate moves. Proposals may come, which are pending.
func (w *world) state() map[string]string {
	w.t.Helper()
	host := w.sql(`SELECT string_agg(format('SELECT %L AS name, t::text AS row FROM %I.%I t', n.nspname || '.' || c.relname, n.nspname, c.relname), ' UNION ALL ')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^(pg_|information_schema|countersign)'`)
	digests := map[string]string{"business records": `SELECT count(*) || md5(string_agg(name || row, '|' ORDER BY name, row)) FROM (` + host + `) AS host`,
		"rights": `SELECT md5(concat(
			(SELECT string_agg(c.oid || c.relname || coalesce(c.relacl::text, '') || c.relowner || c.relrowsecurity || c.relforcerowsecurity, '|' ORDER BY c.oid) FROM pg_class c WHERE c.relnamespace::regnamespace::text !~ '^pg_'),
			(SELECT string_agg(p.oid || p.prosrc || coalesce(p.proacl::text, '') || p.proowner, '|' ORDER BY p.oid) FROM pg_proc p WHERE p.pronamespace::regnamespace::text !~ '^(pg_|information_schema)'),
			(SELECT string_agg(g.oid || g.tgenabled::text, '|' ORDER BY g.oid) FROM pg_trigger g WHERE NOT g.tgisinternal), (SELECT string_agg(p.oid::text, '|' ORDER BY p.oid) FROM pg_policy p),
			(SELECT string_agg(m.member::text || m.roleid, '|' ORDER BY m.member, m.roleid) FROM pg_auth_members m), (SELECT string_agg(n.nspname, '|' ORDER BY n.oid) FROM pg_namespace n WHERE n.nspname !~ '^pg_')))`,
		"proposals": `SELECT md5(string_agg(p::text, '|' ORDER BY number)) FROM countersign.proposals p WHERE number <= ` + first + ` OR status <> 'pending'`,
		"open":      `SELECT md5(string_agg(concat(p::text, (SELECT string_agg(d::text, '|' ORDER BY d.id) FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id)), '|' ORDER BY number)) FROM countersign.proposals p WHERE number <= ` + first + ` AND status IN ('pending', 'awaiting_approval')`,
		"decisions": `SELECT md5(string_agg(d::text, '|' ORDER BY d.id)) FROM countersign.proposal_decisions d`,
		"records":   `SELECT md5(string_agg(r::text, '|' ORDER BY r.proposal_id, r.position)) FROM countersign.proposal_records r JOIN countersign.proposals p ON p.id = r.proposal_id WHERE p.number <= ` + first,
		"past":      `SELECT md5(string_agg(e::text, '|' ORDER BY e.id)) FROM countersign.audit_events e WHERE verb <> 'propose'`,
		"people":    `SELECT md5(concat((SELECT string_agg(u::text, '|' ORDER BY u.id) FROM countersign.users u), (SELECT string_agg(m::text, '|' ORDER BY m.user_id, m.workspace_id) FROM countersign.memberships m)))`}
	for name, query := range digests {
		digests[name] = w.sql(query)
	}
	return digests
}

func differing(before, after map[string]string) string {
	var list []string
	for name := range before {
		if before[name] != after[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (w *world) attacker(t *testing.T, login string) *attacker {
	t.Helper()
	pools := w.db.Pools
	config := map[string]*pgx.ConnConfig{"agent": pools.Agent.Config().ConnConfig, "reader": pools.Reader.Config().ConnConfig, "worker": pools.Worker.Config().ConnConfig,
		"gate": pools.Gate.Config().ConnConfig, "identity": pools.Identity.Config().ConnConfig}[login]
	conn, err := pgx.ConnectConfig(t.Context(), config.Copy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	a := &attacker{t: t, w: w, login: login, conn: conn, succeed: map[string]bool{}}
	a.must(`SET app.site = 'harbor-mill'; SET countersign.workspace = '` + w.workspace("harbor-mill") + `'; SET lock_timeout = '1s'; SET statement_timeout = '10s'`)
	return a
}

func (a *attacker) must(statement string) {
	a.t.Helper()
	if _, err := a.conn.Exec(a.t.Context(), statement); err != nil {
		a.t.Fatalf("%s: %s: %v", a.login, statement, err)
	}
}

// tries makes attempts as a role, each for good, but those of the gate, whose writes may be rightful, and notes
// which succeed.
func (a *attacker) tries(role string, list ...attempt) {
	a.t.Helper()
	for _, one := range list {
		begin := `BEGIN; `
		if role != "" {
			begin += `SET LOCAL ROLE ` + pgx.Identifier{role}.Sanitize() + `; `
		}
		_, err := a.conn.Exec(a.t.Context(), begin+one.statement, pgx.QueryExecModeSimpleProtocol)
		end := `COMMIT`
		if err != nil || a.login == "gate" || strings.HasPrefix(one.statement, "ALTER ROLE") { // roles are the whole server's
			end = `ROLLBACK`
		}
		if _, broken := a.conn.Exec(a.t.Context(), end); broken != nil && err == nil {
			err = broken
		}
		if one.name != "" && (err == nil || one.right && !refuses(err)) {
			a.succeed[as(role)+one.name] = true
		}
	}
}

func as(role string) string {
	if role == "" {
		return ""
	}
	return fmt.Sprintf("as %s: ", role)
}

// refuses: it is no right of the login's, or nothing that can be done with such a thing at all. Who is refused by
// row-level security has the right, within it.
func refuses(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && !strings.Contains(refused.Message, "row-level security") && slices.Contains([]string{"42501", "42809", "55000", "0A000", "428C9"}, refused.Code)
}
