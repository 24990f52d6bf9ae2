package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// open are the queries that row-level security does not divide by workspace, with the reason. Those of identity.sql
// and standing.sql ask for who someone is, before there is a workspace; their tables are users, memberships,
// sign_ins, api_tokens, sessions and sign_in_failures.
var open = map[string]string{
	"BeginDecision":            "reads no table",
	"Lapsed":                   "the worker finds what has lapsed in every workspace, by id alone",
	"LapsedTurnsAnywhere":      "the worker finds turns in every workspace, by id alone",
	"NextExpiry":               "the worker is told a time, of all workspaces",
	"EndStaleToolCalls":        "the worker ends the calls of servers that are gone, in every workspace, and reads none",
	"SequenceFeed":             "the worker puts the events of all workspaces into one order",
	"FeedWriters":              "reads no table of ours",
	"FeedHolder":               "reads no table of ours",
	"FeedLast":                 "the worker is told the last position of all workspaces",
	"WithdrawAsAgent":          "runs as the definer, whoever calls: TestWithdrawIsForWhoProposed",
	"FinishToolCall":           "runs as the definer, whoever calls: TestACallEndsInItsWorkspace",
	"RecordRevision":           "writes into the workspace of the setting, and names no other",
	"RecordToolCallRedactedBy": "writes into the workspace of the setting; what it compares decides only whether it does",
	"FulfilToolCall":           "runs as the definer, whoever calls: TestACallEndsInItsWorkspace",
	"Propose":                  "writes into the workspace of the setting, and names no other: TestProposeRefusesWhoMayNot",
	"CreateConversation":       "inserts: TestARowForAnotherWorkspaceIsRefused",
	"StartTurn":                "inserts: TestARowForAnotherWorkspaceIsRefused",
	"InsertMessage":            "inserts: TestARowForAnotherWorkspaceIsRefused",
	"InsertDecision":           "inserts: TestARowForAnotherWorkspaceIsRefused",
	"RecordExpiry":             "inserts: TestARowForAnotherWorkspaceIsRefused",
	"ListPatterns":             "the command line's, under the owner's login, in the workspace of the setting",
	"InsertPattern":            "the command line's, under the owner's login, in the workspace of the setting",
	"CountPatterns":            "the command line's, under the owner's login, in the workspace of the setting",
	"DeletePattern":            "the command line's, under the owner's login, in the workspace of the setting",
	"AllWorkspaces":            "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"LockOldProposals":         "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"HeldByReference":          "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"AuditLapsed":              "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"DeleteProposals":          "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"DeleteOldToolCalls":       "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"DeleteOldUsage":           "the worker's alone, which deletes what is over: TestTheWorkerDeletesOnlyWhatIsOver",
	"OtherApprovers":           "counts memberships, which are exempt, of the workspace that it names",
	"KeepCreated":              "inserts: TestARowForAnotherWorkspaceIsRefused",
	"RecordUsage":              "inserts: TestARowForAnotherWorkspaceIsRefused",
	"SaveBudget":               "the command line's, under the owner's login, in the workspace of the setting",
	"ClearBudget":              "the command line's, under the owner's login, in the workspace of the setting",
	"ListBudgets":              "the command line's, under the owner's login, in the workspace of the setting",
	"SavePolicy":               "the command line's, under the owner's login, in the workspace of the setting",
	"RaiseApprovals":           "the command line's, under the owner's login, in the workspace of the setting",
	"ShortenLives":             "the command line's, under the owner's login, in the workspace of the setting",
	"ClearPolicy":              "the command line's, under the owner's login, in the workspace of the setting",
	"ListPolicies":             "the command line's, under the owner's login, in the workspace of the setting",
	"AuditPolicy":              "the command line's, under the owner's login, in the workspace of the setting",
}

// predicate is where a query names the workspace.
var predicate = regexp.MustCompile(`(\w+\.)?workspace_id = (@workspace_id|sqlc\.n?arg\(workspace_id\)|\w+\.workspace_id)`)

// With a workspace predicate taken out of a query, each in turn, every login that may run it is answered what it
// would be if the other workspace had nothing: row-level security stands behind the predicate. Past row-level
// security the other workspace's rows do come out, so that there is something to hide.
func TestWithoutItsPredicateAQueryShowsNoOtherWorkspace(t *testing.T) {
	t.Parallel()
	p := peekingAt(t)
	stripped := 0
	for _, q := range allQueries(t) {
		if reason, ok := open[q.name]; ok {
			t.Logf("%s: %s", q.name, reason)
			continue
		}
		bare := predicate.ReplaceAllString(q.text, "true")
		for i, text := range q.variants() {
			stripped += min(i, 1)
			for _, login := range q.logins() {
				if there, alone := p.both(t, q, text, login); there != alone {
					t.Errorf("%s, as %s, shows another workspace:\n%s\nwith it  %s\nwithout  %s", q.name, login, text, there, alone)
				}
			}
		}
		if there, alone := p.both(t, q, bare, ""); there == alone {
			t.Errorf("%s shows nothing of another workspace past row-level security either, so this proves nothing: give it rows to find\n%s", q.name, there)
		}
	}
	if stripped < 15 {
		t.Errorf("only %d predicates were found and taken out", stripped)
	}
}

// named is one query of queries/.
type named struct{ name, text string }

func allQueries(t *testing.T) []named {
	t.Helper()
	files, err := filepath.Glob("../../queries/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var list []named
	for _, file := range files {
		if base := filepath.Base(file); base == "identity.sql" || base == "standing.sql" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(content), "-- name: ")[1:] {
			name, text, _ := strings.Cut(block, " ")
			_, text, _ = strings.Cut(text, "\n")
			list = append(list, named{name, strings.TrimSpace(text)})
		}
	}
	if len(list) < 40 {
		t.Fatalf("only %d queries found", len(list))
	}
	return list
}

// variants are the query as it is, without each of its predicates, and without all.
func (q named) variants() []string {
	list := []string{q.text}
	places := predicate.FindAllStringIndex(q.text, -1)
	for _, at := range places {
		list = append(list, q.text[:at[0]]+"true"+q.text[at[1]:])
	}
	if len(places) > 1 {
		list = append(list, predicate.ReplaceAllString(q.text, "true"))
	}
	return list
}

// logins are those that may run it: all that read the same. The worker finds what has lapsed in every workspace, and
// stores that in the one it found.
func (q named) logins() []string {
	if q.name == "SetExpired" || q.name == "LockLapsed" {
		return []string{"gate", "agent", "reader", "worker"}
	}
	return []string{"gate", "agent", "reader"}
}

// peek runs queries of Harbor Mill's with what belongs to Other Site.
type peek struct {
	admin          *pgx.Conn
	harbor, theirs string
	values         map[string]string
}

// both gives the answer while the other workspace has rows, and when it has none. No login is a superuser.
func (p *peek) both(t *testing.T, q named, text, login string) (there, alone string) {
	t.Helper()
	tx, err := p.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `SET LOCAL search_path = countersign, pg_catalog, pg_temp; SET LOCAL countersign.workspace = '`+p.harbor+`'`); err != nil {
		t.Fatal(err)
	}
	statement := p.filled(t, q, text)
	there = p.answer(t, tx, login, statement)
	gone := `SET LOCAL session_replication_role = replica`
	for _, table := range append(slices.Clone(fenced), "feed", "feed_queue", "feed_floor") {
		gone += `; DELETE FROM ` + table + ` WHERE workspace_id = '` + p.theirs + `'`
	}
	if _, err := tx.Exec(t.Context(), gone+`; SET LOCAL session_replication_role = origin`); err != nil {
		t.Fatal(err)
	}
	return there, p.answer(t, tx, login, statement)
}

// answer is what a statement gives, as text; it is undone.
func (p *peek) answer(t *testing.T, tx pgx.Tx, login, statement string) string {
	t.Helper()
	savepoint, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = savepoint.Rollback(context.WithoutCancel(t.Context())) }()
	if login != "" {
		if _, err := savepoint.Exec(t.Context(), `SET LOCAL ROLE countersign_`+login); err != nil {
			t.Fatal(err)
		}
	}
	rows, _ := savepoint.Query(t.Context(), statement, pgx.QueryExecModeSimpleProtocol) // its error is the rows'
	var out strings.Builder
	for rows.Next() {
		for _, value := range rows.RawValues() {
			fmt.Fprintf(&out, "%q ", value)
		}
		out.WriteString("\n")
	}
	// 42501: the login may not, or row-level security refuses. 22012: see MoveProposal. 21000: the one row of the
	// workspace is no longer one. CS002: the diagram refuses.
	if refused := (*pgconn.PgError)(nil); errors.As(rows.Err(), &refused) && slices.Contains([]string{"42501", "22012", "21000", "CS002"}, refused.Code) {
		return refused.Code
	} else if rows.Err() != nil {
		t.Fatalf("%v\n%s", rows.Err(), statement)
	}
	return out.String() + rows.CommandTag().String()
}

var argument = regexp.MustCompile(`@(\w+)|sqlc\.n?arg\((\w+)\)`)

// filled puts values in the place of names: of the query's own, or of all queries.
func (p *peek) filled(t *testing.T, q named, text string) string {
	t.Helper()
	text = regexp.MustCompile(`sqlc\.embed\((\w+)\)`).ReplaceAllString(text, "$1.*")
	text = strings.ReplaceAll(text, "clock_timestamp()", "now()") // the same in both answers
	return argument.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(regexp.MustCompile(`^@|^sqlc\.n?arg\(|\)$`).ReplaceAllString(found, ""), " ")
		value, ok := p.values[q.name+"."+name]
		if !ok {
			value, ok = p.values[name]
		}
		if !ok {
			t.Fatalf("%s: give @%s a value in peekingAt: what another workspace has", q.name, name)
		}
		return value
	})
}
