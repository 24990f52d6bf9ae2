package policy_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/policy"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestAPatternIsTriedBeforeItIsSaved(t *testing.T) {
	db := pgtest.New(t)
	orders := policy.Pattern{Workspace: "harbor-mill", Name: "order numbers", Expression: `PO-[0-9]+`, Matches: []string{"see PO-1042"}, Leaves: []string{"see PO-box"}, By: "Maria@harbor.example"}
	with := func(change func(*policy.Pattern)) policy.Pattern {
		p := orders
		change(&p)
		return p
	}
	expression := func(e string) policy.Pattern { return with(func(p *policy.Pattern) { p.Expression = e }) }
	for why, p := range map[string]policy.Pattern{
		"at character 4: error parsing regexp: missing closing ]": expression(`PO-[0-9`),
		"at character 4: error parsing regexp: missing closing )": expression(`PO-([0-9]+`),
		"at character 9: error parsing regexp: unexpected )":      expression(`PO-[0-9])`),
		"at character 3: error parsing regexp: invalid or uns":    expression(`PO(?=-)`),
		"at character 3: error parsing regexp: invalid escape":    expression(`äö\1`),
		"at character 4: error parsing regexp: missing argument":  expression(`PO|*`),
		"at character 3: error parsing regexp: trailing back":     expression(`PO\`),
		"the pattern is empty":                                    expression(``),
		"longer than 1000":                                        expression(strings.Repeat("a", 1001)),
		"matches the empty text":                                  expression(`(PO-[0-9]+)?`),
		"matches the empty text: ":                                expression(`\b`),
		"matches ordinary text":                                   expression(`.`),
		"matches ordinary text: ":                                 expression(`\w+`),
		"matches ordinary text: it would":                         expression(`(?s).+`),
		"matches ordinary text: it would leave":                   expression(`[^0-9]`),
		"finds nothing in the sample":                             expression(`PX-[0-9]+`),
		"it is to leave":                                          expression(`PO-.+`),
		"give a sample":                                           with(func(p *policy.Pattern) { p.Matches = nil }),
		"more than 20 samples":                                    with(func(p *policy.Pattern) { p.Leaves = make([]string, 20) }),
		"a sample is longer":                                      with(func(p *policy.Pattern) { p.Leaves = []string{strings.Repeat("a", 1001)} }),
		"a name is of letters":                                    with(func(p *policy.Pattern) { p.Name = "a) b" }),
		"there is no workspace \"nowhere\"":                       with(func(p *policy.Pattern) { p.Workspace = "nowhere" }),
	} {
		if err := policy.AddPattern(t.Context(), db.Owner, p); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(why)) {
			t.Errorf("%q is answered %v, want %s", p.Expression, err, why)
		}
	}
	if err := policy.AddPattern(t.Context(), db.Owner, orders); err != nil {
		t.Fatal(err)
	}
	if err := policy.AddPattern(t.Context(), db.Owner, orders); err == nil || !strings.Contains(err.Error(), "there is a pattern") {
		t.Errorf("the same name again: %v", err)
	}
	for workspace, n := range map[string]int{"": 1, "harbor-mill": 1, "other-site": 0} {
		if list, err := policy.Patterns(t.Context(), db.Owner, workspace); err != nil || len(list) != n || n > 0 && (list[0].Pattern != `PO-[0-9]+` || list[0].CreatedBy != "maria@harbor.example") {
			t.Errorf("in %q there are %d: %v", workspace, len(list), err)
		}
	}
	if _, err := db.Owner.Exec(t.Context(), `UPDATE countersign.redaction_patterns SET pattern = 'x'`); err == nil {
		t.Error("a pattern was changed: its id says no more what it is")
	}
	for _, want := range []string{"", "there is no pattern"} {
		if err := policy.RemovePattern(t.Context(), db.Owner, "harbor-mill", "order numbers"); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("removed: %v, want %q", err, want)
		}
	}
}

func TestAWorkspaceHasAtMostFiftyPatterns(t *testing.T) {
	db := pgtest.New(t)
	if _, err := db.Owner.Exec(t.Context(), `INSERT INTO countersign.redaction_patterns (workspace_id, id, name, pattern)
		SELECT w.id, gen_random_uuid(), 'n' || i, 'x' || i FROM countersign.workspaces w, generate_series(1, 50) i WHERE slug = 'harbor-mill'`); err != nil {
		t.Fatal(err)
	}
	for workspace, want := range map[string]string{"harbor-mill": "at most 50 patterns", "other-site": ""} {
		err := policy.AddPattern(t.Context(), db.Owner, policy.Pattern{Workspace: workspace, Name: "one more", Expression: `PO-[0-9]+`, Matches: []string{"PO-1"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", workspace, err)
		}
	}
}

// Whoever writes rows of tool calls reads the patterns of the workspace it is in, without their samples, and
// nobody but the owner writes one.
func TestWhoReadsAndWritesPatterns(t *testing.T) {
	db := pgtest.New(t)
	for _, workspace := range []string{"harbor-mill", "other-site"} {
		if err := policy.AddPattern(t.Context(), db.Owner, policy.Pattern{Workspace: workspace, Name: "orders", Expression: `PO-[0-9]+`, Matches: []string{"PO-1"}}); err != nil {
			t.Fatal(err)
		}
	}
	for login, c := range map[string]struct {
		pool  *pgxpool.Pool
		reads bool
	}{"agent": {db.Pools.Agent, true}, "gate": {db.Pools.Gate, true}, "reader": {db.Pools.Reader, false}, "worker": {db.Pools.Worker, false}, "identity": {db.Pools.Identity, false}} {
		for statement, want := range map[string]string{
			`SELECT count(*) FROM (SELECT name, pattern FROM redaction_patterns) AS p`:            map[bool]string{true: "1", false: "42501"}[c.reads],
			`SELECT count(samples) FROM redaction_patterns`:                                       "42501",
			`WITH gone AS (DELETE FROM redaction_patterns RETURNING 1) SELECT count(*) FROM gone`: "42501",
			`WITH made AS (INSERT INTO redaction_patterns (workspace_id, id, name, pattern) SELECT id, gen_random_uuid(), 'x', 'x' FROM workspaces RETURNING 1) SELECT count(*) FROM made`: "42501",
			`WITH changed AS (UPDATE redaction_patterns SET pattern = 'x' RETURNING 1) SELECT count(*) FROM changed`:                                                                       "42501",
		} {
			if got := answer(t, c.pool, "harbor-mill", statement); got != want {
				t.Errorf("%s: %s is answered %s, want %s", login, statement, got, want)
			}
		}
		if got := answer(t, c.pool, "", `SELECT count(id) FROM redaction_patterns`); c.reads && got != "0" {
			t.Errorf("%s sees %s without a workspace", login, got)
		}
	}
}

// answer is what a statement answers in a workspace, or the SQLSTATE it is refused with.
func answer(t *testing.T, pool *pgxpool.Pool, workspace, statement string) (got string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		var n int
		if _, err := tx.Exec(t.Context(), `SELECT set_config('countersign.workspace', coalesce((SELECT id::text FROM workspaces WHERE slug = $1), ''), true)`, workspace); err != nil {
			return err
		}
		err := tx.QueryRow(t.Context(), statement).Scan(&n)
		got = strconv.Itoa(n)
		return err
	})
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return pg.Code
	} else if err != nil {
		t.Fatal(err)
	}
	return got
}
