package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/server"
	"github.com/countersign/countersign/sqlc"
)

// budget stores one as the command line does.
func (w *world) budget(b policy.Budget) {
	w.t.Helper()
	harbor := w.harbor()
	err := pgx.BeginFunc(w.t.Context(), w.db.Owner, func(tx pgx.Tx) error { return policy.SaveBudget(w.t.Context(), tx, harbor, b) })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) used(measure string) string {
	w.t.Helper()
	return w.sql(`SELECT coalesce(sum(amount), 0) FROM countersign.usage WHERE measure = $1`, measure)
}

// resets is when a period that there is now ends, as refusals say it.
func (w *world) resets(period string) string {
	w.t.Helper()
	return w.sql(`SELECT to_char(date_trunc($1, clock_timestamp() AT TIME ZONE 'UTC') + ('1 ' || $1)::interval, 'YYYY-MM-DD HH24:MI "UTC"')`, period)
}

func TestTheCallAfterTheLastOneIsRefused(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"workspace", "user", "token", "one user", "one token"} {
		for _, measure := range []string{"tool_calls", "proposals"} {
			for _, period := range []string{"day", "month"} {
				t.Run(subject+" "+measure+" "+period, func(t *testing.T) {
					t.Parallel()
					w := start(t, func(c *server.Config) { c.TimersOff = true })
					maria, paolo := &wish{client: w.signIn("maria@harbor.example")}, &wish{client: w.signIn("paolo@harbor.example"), n: 100}
					tokens := []*wish{{client: w.as(w.db.APIToken(t, "maria@harbor.example", "propose", "read")), n: 200}, {client: w.as(w.db.APIToken(t, "maria@harbor.example", "propose", "read")), n: 300}}
					b := policy.Budget{Subject: subject, Measure: measure, Period: period, Hard: new(int64(2))}
					spender, whose := maria, "You have"
					other := paolo // has some left
					switch subject {
					case "workspace":
						whose, other = "This workspace has", nil
					case "one user":
						b.Subject, b.User = "user", w.db.Person(t, "maria@harbor.example").User().ID
					case "token":
						spender, other, whose = tokens[0], tokens[1], "This token has"
					case "one token":
						spender, other, whose, b.Subject = tokens[1], tokens[0], "This token has", "token"
						if err := w.db.Owner.QueryRow(t.Context(), `SELECT id FROM countersign.api_tokens ORDER BY created_at DESC LIMIT 1`).Scan(&b.Token); err != nil {
							t.Fatal(err)
						}
					}
					w.budget(b)
					w.exec(`INSERT INTO countersign.usage (workspace_id, user_id, token_id, measure, amount, at) SELECT m.workspace_id, m.user_id, t.id, $1, 100, date_trunc($2, clock_timestamp(), 'UTC') - interval '1 microsecond'
						FROM countersign.memberships m LEFT JOIN countersign.api_tokens t ON t.user_id = m.user_id`, measure, period) // of the period before
					before := w.used(measure)
					for range 2 {
						spender.update().want(vars{made + "status": "PENDING"})
					}
					for range 2 {
						a := spender.update()
						a.refusedAs("BUDGET_SPENT", nil)
						says := fmt.Sprintf("%s used the 2 %s there are for a %s. There are new ones from %s.", whose, strings.ReplaceAll(measure, "_", " "), period, w.resets(period))
						if got := a.text(made + "message"); got != says {
							t.Errorf("it says %q, want %q", got, says)
						}
					}
					if after := w.used(measure); after != strconv.Itoa(2+atoi(t, before)) {
						t.Errorf("used are %s, and were %s: what is refused counts nothing", after, before)
					}
					for what, query := range map[string]string{
						"rows of refused calls": `SELECT count(*) FROM countersign.tool_calls WHERE status = 'refused' AND code = 'BUDGET_SPENT' AND finished_at IS NOT NULL`,
						"audit entries":         `SELECT count(*) FROM countersign.audit_events WHERE verb = 'call' AND outcome = 'budget_spent' AND tool = 'core_role_update' AND actor_id IS NOT NULL AND num_nonnulls(sign_in_id, token_id) = 1 AND policy_version IS NOT NULL`,
						"cards":                 `SELECT count(*) FROM countersign.proposals`,
					} {
						if n := w.sql(query); n != "2" {
							t.Errorf("%s %s, want 2", n, what)
						}
					}
					if other != nil {
						other.update().want(vars{made + "status": "PENDING"})
					} else {
						paolo.update().refusedAs("BUDGET_SPENT", nil)
					}
					w.exec(`UPDATE countersign.usage SET at = at - ('1 ' || $1)::interval`, period) // the next period
					spender.update().want(vars{made + "status": "PENDING"})
					w.exec(`UPDATE countersign.budgets SET hard_limit = 0`)
					spender.update().refusedAs("BUDGET_SPENT", nil)
					if got := w.sql(`SELECT name FROM core.roles WHERE id = 4`); got != "editor" {
						t.Errorf("the role is called %s", got)
					}
					w.invariants()
				})
			}
		}
	}
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What a model uses is counted after its answer, so a spent budget refuses the next one.
func TestModelTokensAreSpent(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria, paolo := w.db.Person(t, "maria@harbor.example"), w.db.Person(t, "paolo@harbor.example")
	agent := postgres.As(w.db.Pools.Agent, maria.Workspace().ID)
	spent := func(user id.User) gate.Spent {
		t.Helper()
		raw, err := sqlc.New().SpentBudget(t.Context(), agent, sqlc.SpentBudgetParams{WorkspaceID: maria.Workspace().ID, Measure: "model_tokens", UserID: user.UUID()})
		var s gate.Spent
		if err == nil {
			err = json.Unmarshal(raw, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	w.budget(policy.Budget{Subject: "user", Measure: "model_tokens", Period: "month", Hard: new(int64(1000))})
	for _, use := range []int64{600, 399, 1, 500} {
		if s := spent(maria.User().ID); (s.Measure != "") != (use == 500) {
			t.Errorf("before %d more: %+v", use, s)
		}
		if err := sqlc.New().RecordUsage(t.Context(), agent, sqlc.RecordUsageParams{WorkspaceID: maria.Workspace().ID, UserID: maria.User().ID, Measure: "model_tokens", Amount: use}); err != nil {
			t.Fatal(err)
		}
	}
	if s := spent(maria.User().ID); s.Refusal().Message != "You have used the 1000 model tokens there are for a month. There are new ones from "+w.resets("month")+"." {
		t.Errorf("it says %s", s.Refusal().Message)
	}
	if s := spent(paolo.User().ID); s.Measure != "" {
		t.Errorf("another's: %+v", s)
	}
}

// Twenty at once at the edge of a budget: no more pass than there are left.
func TestNobodyGetsPastTheEdgeOfABudget(t *testing.T) {
	t.Parallel()
	for _, measure := range []string{"tool_calls", "proposals"} {
		for _, subject := range []string{"workspace", "user"} {
			t.Run(measure+" "+subject, func(t *testing.T) {
				t.Parallel()
				w := start(t, func(c *server.Config) { c.TimersOff = true })
				urls, maria := []string{w.url, w.serve()}, w.signIn("maria@harbor.example")
				w.budget(policy.Budget{Subject: subject, Measure: measure, Period: "day", Hard: new(int64(5))})
				_, release := w.hold(`LOCK TABLE countersign.usage IN ACCESS EXCLUSIVE MODE`)
				passed := 0
				for _, a := range w.together(20, 8, release, func(i int) *answer {
					return (&client{w: w, url: urls[i%2], token: maria.token}).gql(propose, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": name(i)}}})
				}) {
					switch {
					case len(a.Errors) > 0:
						t.Errorf("neither passed nor refused: %s", a.raw)
					case a.at(made+"__typename") == "Proposal":
						passed++
					default:
						a.refusedAs("BUDGET_SPENT", nil)
					}
				}
				if cards := w.sql(`SELECT count(*) FROM countersign.proposals`); passed != 5 || cards != "5" || w.used(measure) != "5" {
					t.Errorf("%d passed, %s cards were made, %s are used; want 5", passed, cards, w.used(measure))
				}
				if n := w.sql(`SELECT count(*) FROM countersign.tool_calls WHERE code = 'BUDGET_SPENT'`); n != "15" {
					t.Errorf("%s calls have a row that says so", n)
				}
				w.invariants()
			})
		}
	}
}

// heard is a log that a test reads.
type heard struct {
	mu sync.Mutex
	bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Buffer.Write(p)
}

func (h *heard) lines(with string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for _, line := range strings.Split(h.String(), "\n") {
		if strings.Contains(line, with) {
			list = append(list, line)
		}
	}
	return list
}

func TestASoftLimitIsToldOfAndStopsNothing(t *testing.T) {
	t.Parallel()
	for _, measure := range []string{"tool_calls", "proposals"} {
		log := &heard{}
		w := start(t, func(c *server.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		maria := &wish{client: w.signIn("maria@harbor.example")}
		w.budget(policy.Budget{Subject: "user", Measure: measure, Period: "day", Soft: new(int64(2))})
		for i := range 4 {
			maria.update().want(vars{made + "status": "PENDING"})
			if n := len(log.lines("a budget is nearly spent")); n != max(0, i-1) {
				t.Errorf("%s: after %d calls it was told of %d times", measure, i+1, n)
			}
		}
		for _, line := range log.lines("a budget is nearly spent") {
			if !regexp.MustCompile(`level=WARN msg="a budget is nearly spent" call=\S+ measure=` + measure + ` of=user period=day soft_limit=2$`).MatchString(line) {
				t.Errorf("the log says %s", line)
			}
		}
	}
}

// plans are what PostgreSQL says of the statements that functions run.
type plans struct{ said []string }

func (p *plans) naming(table string) []string {
	var list []string
	for _, plan := range p.said {
		if strings.Contains(plan, table) {
			list = append(list, plan)
		}
	}
	return list
}

// explained connects as the agent, and hears the plans.
func (w *world) explained() (*pgx.Conn, *plans) {
	w.t.Helper()
	config, err := pgx.ParseConfig(w.db.SuperuserURL)
	if err != nil {
		w.t.Fatal(err)
	}
	p := &plans{}
	config.RuntimeParams["search_path"] = "countersign, pg_catalog, pg_temp"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { p.said = append(p.said, n.Message) }
	conn, err := pgx.ConnectConfig(w.t.Context(), config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) })
	for _, s := range []string{`LOAD 'auto_explain'`, `SET auto_explain.log_min_duration = 0`, `SET auto_explain.log_analyze = on`, `SET auto_explain.log_nested_statements = on`, `SET client_min_messages = log`, `SET SESSION AUTHORIZATION countersign_agent`} {
		if _, err := conn.Exec(w.t.Context(), s); err != nil {
			w.t.Skipf("this PostgreSQL does not explain what functions do: %s: %v", s, err)
		}
	}
	return conn, p
}

// usageRows are in the table when a budget is summed; make slow-usage has ten million.
func usageRows(t testing.TB) int {
	if s := os.Getenv("COUNTERSIGN_USAGE_ROWS"); s != "" {
		return atoi(t, s)
	}
	return 200_000
}

func TestABudgetIsSummedOnceOverTheIndexAlone(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	w.db.APIToken(t, "maria@harbor.example", "propose")
	rows := usageRows(t)
	w.exec(`INSERT INTO countersign.usage (workspace_id, user_id, token_id, measure, amount, at)
		SELECT m.workspace_id, m.user_id, CASE WHEN i % 3 = 0 THEN t.id END, (ARRAY['tool_calls', 'proposals', 'model_tokens'])[1 + i % 3], 1 + i % 7,
			date_trunc('month', clock_timestamp(), 'UTC') - i % 24 * interval '1 month' + i % 1000 * interval '1 second'
		FROM generate_series(1, $1) i JOIN (SELECT *, row_number() OVER (ORDER BY user_id) - 1 AS n FROM countersign.memberships) m ON m.n = i % (SELECT count(*) FROM countersign.memberships)
			LEFT JOIN countersign.api_tokens t ON t.user_id = m.user_id`, rows)
	for visible := "false"; visible != "true"; visible = w.sql(`SELECT relallvisible >= relpages FROM pg_class WHERE oid = 'countersign.usage'::regclass`) {
		w.exec(`VACUUM ANALYZE countersign.usage`) // again, where another's transaction kept it from saying so
	}
	maria := w.db.Person(t, "maria@harbor.example")
	conn, explained := w.explained()
	var token id.Token
	if err := w.db.Owner.QueryRow(t.Context(), `SELECT id FROM countersign.api_tokens`).Scan(&token); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		of   []policy.Budget
		by   any
		uses []string // indexes
	}{
		{"none", nil, nil, nil},
		{"the workspace's", []policy.Budget{{Subject: "workspace", Period: "month"}}, nil, []string{"usage_of_workspace"}},
		{"the user's", []policy.Budget{{Subject: "user", Period: "month"}}, nil, []string{"usage_of_user"}},
		{"the token's", []policy.Budget{{Subject: "token", Period: "month"}}, token.UUID(), []string{"usage_of_token"}},
		{"a token's, of a person", []policy.Budget{{Subject: "token", Period: "month"}}, nil, nil},
		{"of all, in each period", []policy.Budget{{Subject: "workspace", Period: "month"}, {Subject: "user", Period: "month"}, {Subject: "user", Period: "day"}, {Subject: "token", Period: "month"}}, token.UUID(),
			[]string{"usage_of_workspace", "usage_of_user", "usage_of_user", "usage_of_token"}},
	} {
		w.exec(`DELETE FROM countersign.budgets`)
		for _, b := range c.of {
			b.Measure, b.Hard = "tool_calls", new(int64(1<<40))
			w.budget(b)
		}
		for range 7 { // a plan of a prepared statement is a generic one at last
			explained.said = nil
			signIn := any(maria.SignIn().UUID())
			if c.by != nil {
				signIn = nil
			}
			begun := time.Now()
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				if err := postgres.Enter(t.Context(), tx, maria.Workspace().ID); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `SELECT record_tool_call(gen_random_uuid(), $1, $2, $3, NULL, NULL, 'core_role_get', 'core.role', '{}', true)`, maria.User().ID.UUID(), signIn, c.by)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); os.Getenv("COUNTERSIGN_USAGE_ROWS") != "" {
				t.Logf("%s, of %d rows: %v", c.name, rows, took.Round(time.Microsecond))
			}
		}
		sums := explained.naming("sum(u.amount)")
		if len(sums) != len(c.uses) {
			t.Errorf("%s: %d aggregates, want %d:\n%s", c.name, len(sums), len(c.uses), strings.Join(sums, "\n"))
		}
		all := strings.Join(sums, "\n")
		for _, index := range c.uses {
			if n := strings.Count(all, "Index Only Scan using "+index); n != strings.Count(strings.Join(c.uses, " "), index) {
				t.Errorf("%s: %d sums over %s:\n%s", c.name, n, index, all)
			}
		}
		if strings.Contains(all, "Seq Scan on usage") || strings.Contains(all, "Bitmap Heap") || strings.Contains(all, "Index Scan using usage") {
			t.Errorf("%s: rows of the table are read:\n%s", c.name, all)
		}
		for _, read := range regexp.MustCompile(`Heap Fetches: (\d+)`).FindAllStringSubmatch(all, -1) {
			if atoi(t, read[1]) > 200 { // what was just added stands on pages that are not yet known to be visible
				t.Errorf("%s: %s rows were looked at in the table", c.name, read[1])
			}
		}
	}
}
