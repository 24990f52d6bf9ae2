package retention

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/countersign/countersign/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// rejected makes so many proposals that were rejected so many days ago, with so many records said of each, and
// an event, and keeps a log of how many a transaction deletes.
func rejected(t *testing.T, db *pgtest.DB, count, days, records int) {
	t.Helper()
	for _, statement := range []string{
		`ALTER TABLE countersign.proposals DISABLE TRIGGER proposals_guard`,
		`INSERT INTO countersign.proposals (id, workspace_id, status, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id, channel, approvals_needed, preview_only, lifetime, expires_at, resolved_at, record_count)
			SELECT gen_random_uuid(), w.id, 'rejected', 'core_role_update', 'core.role', 'update', 'record_update', 'Rename', repeat('a', 64), decode(repeat('00', 16), 'hex'), u.id, 'api', 0, false, interval '30 minutes', now(), now() - make_interval(days => $2, secs => n), $3
			FROM countersign.workspaces w, countersign.users u, generate_series(1, $1) AS n WHERE w.slug = 'harbor-mill' AND u.email = 'maria@harbor.example'`,
		`ALTER TABLE countersign.proposals ENABLE TRIGGER proposals_guard`,
		`CREATE TABLE IF NOT EXISTS public.deleted (transaction bigint, count bigint)`,
		`GRANT INSERT ON public.deleted TO PUBLIC`,
		`CREATE OR REPLACE FUNCTION public.log_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.deleted SELECT txid_current(), count(*) FROM gone; RETURN NULL; END $$`,
		`CREATE OR REPLACE TRIGGER log_deleted AFTER DELETE ON countersign.proposals REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.log_deleted()`,
	} {
		args := []any{count, days, records}
		if !strings.HasPrefix(statement, "INSERT") {
			args = nil
		}
		if _, err := db.Owner.Exec(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func one[T any](t *testing.T, db *pgtest.DB, query string) (value T) {
	t.Helper()
	if err := db.Owner.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func TestATransactionDeletesFew(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ count, records, most, transactions int }{
		"many proposals":           {450, 1, proposalsAtOnce, 3},
		"a full batch and no more": {200, 1, proposalsAtOnce, 1},
		"large ones":               {7, 2000, 2, 4},
		"each more than a batch":   {3, 10000, 1, 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			rejected(t, db, c.count, 31, c.records)
			rejected(t, db, 5, 29, 1)
			deleted, err := New(db.Pools.Worker, 30, silent).Sweep(t.Context())
			if err != nil || deleted != c.count {
				t.Errorf("%d deleted, %v", deleted, err)
			}
			if most := one[int](t, db, `SELECT max(count) FROM public.deleted`); most != c.most {
				t.Errorf("a transaction deleted %d, want at most %d", most, c.most)
			}
			if n := one[int](t, db, `SELECT count(DISTINCT transaction) FROM public.deleted WHERE count > 0`); n != c.transactions {
				t.Errorf("%d transactions, want %d", n, c.transactions)
			}
			if left := one[int](t, db, `SELECT count(*) FROM countersign.proposals`); left != 5 {
				t.Errorf("%d are left", left)
			}
		})
	}
}

// What is old is found by an index, however much there is that is not: the statements are those of queries/.
func TestTheOldestAreFoundByTheirIndex(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	rejected(t, db, 3000, 1, 1)
	for _, statement := range []string{
		`INSERT INTO countersign.tool_calls (id, workspace_id, tool, proposal_id, status, finished_at) SELECT gen_random_uuid(), workspace_id, tool, id, 'succeeded', now() FROM countersign.proposals`,
		`INSERT INTO countersign.usage (workspace_id, user_id, measure, amount) SELECT workspace_id, acting_user_id, 'tool_calls', 1 FROM countersign.proposals`,
		`ANALYZE countersign.proposals, countersign.tool_calls, countersign.usage`,
	} {
		if _, err := db.Owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, index := range map[string]string{"LockOldProposals": "proposals_oldest", "DeleteOldToolCalls": "tool_calls_oldest", "DeleteOldUsage": "usage_of_workspace"} {
		plan := planned(t, db, name)
		_, scan, _ := strings.Cut(plan, " using "+index+" on ")
		_, condition, _ := strings.Cut(scan, "Index Cond: ")
		if condition, _, _ = strings.Cut(condition, "\n"); !strings.Contains(condition, "statement_timestamp()") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}

// planned is how the worker's statement of that name is run.
func planned(t *testing.T, db *pgtest.DB, name string) string {
	t.Helper()
	file, err := os.ReadFile("../../queries/retention.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, _ := strings.Cut(string(file), "-- name: "+name+" ")
	_, statement, _ = strings.Cut(statement, "\n")
	statement, _, _ = strings.Cut(statement, "-- name: ")
	workspace := one[string](t, db, `SELECT id::text FROM countersign.workspaces WHERE slug = 'harbor-mill'`)
	statement = strings.NewReplacer("@workspace_id", "'"+workspace+"'", "@days", "30", "@passed_over", "'{}'", "@most", "200").Replace(statement)
	var plan []string
	err = pgx.BeginFunc(t.Context(), db.Pools.Worker, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('countersign.workspace', $1, true)`, workspace); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), "EXPLAIN (COSTS OFF) "+statement)
		if err != nil {
			return err
		}
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// However often the runs are called for, one waits at most; one that has ended is in nobody's way.
func TestOneRunIsCalledForAtATime(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	client, err := New(db.Pools.Worker, 30, silent).client()
	if err != nil {
		t.Fatal(err)
	}
	for i, doubled := range []bool{false, true, false} {
		args, options := next()
		put, err := client.Insert(t.Context(), args, options)
		if err != nil || put.UniqueSkippedAsDuplicate != doubled {
			t.Errorf("%d: %+v, %v", i, put, err)
		}
		if doubled {
			ended, err := db.Owner.Exec(t.Context(), `UPDATE countersign.river_job SET state = 'discarded', finalized_at = now()`)
			if err != nil || ended.RowsAffected() != 1 {
				t.Fatalf("%v, %v", ended, err)
			}
		}
	}
}

// What is stored with a job that failed says nothing of what failed.
func TestAFailedRunIsToldInTheLogAlone(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	rejected(t, db, 1, 31, 1)
	if _, err := db.Owner.Exec(t.Context(), `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret'; END $$; CREATE TRIGGER refuse BEFORE DELETE ON countersign.proposals FOR EACH ROW EXECUTE FUNCTION public.refuse()`); err != nil {
		t.Fatal(err)
	}
	s := &sweeper{retention: New(db.Pools.Worker, 30, silent)}
	if err := s.Work(t.Context(), &river.Job[sweep]{}); err != errSeeLog { //nolint:errorlint // this one and no other
		t.Errorf("%v", err)
	}
	if left := one[int](t, db, `SELECT count(*) FROM countersign.proposals`); left != 1 {
		t.Errorf("%d are left", left)
	}
}

// A job is found by polling: nobody is told of it, for which a commit would stand in line.
func TestNobodyIsNotifiedOfAJob(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	listener, err := db.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Release()
	if _, err := listener.Exec(t.Context(), `LISTEN "countersign.river_insert"`); err != nil {
		t.Fatal(err)
	}
	client, err := New(db.Pools.Worker, 30, silent).client()
	if err != nil {
		t.Fatal(err)
	}
	args, options := next()
	if _, err := client.Insert(t.Context(), args, options); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), `NOTIFY "countersign.river_insert", 'the first'`); err != nil {
		t.Fatal(err)
	}
	if told, err := listener.Conn().WaitForNotification(t.Context()); err != nil || told.Payload != "the first" {
		t.Errorf("%+v, %v", told, err)
	}
}
