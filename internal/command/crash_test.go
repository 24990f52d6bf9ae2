package command

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
)

// slowWrite makes every write of a role sleep until the table public.awake has a row.
const slowWrite = `
	CREATE TABLE public.awake ();
	GRANT SELECT ON public.awake TO PUBLIC;
	CREATE FUNCTION public.dream() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM public.awake) LOOP PERFORM pg_sleep(0.02); END LOOP;
		RETURN NEW;
	END $$;
	CREATE TRIGGER dream BEFORE UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.dream()`

const wakeUp = `INSERT INTO public.awake DEFAULT VALUES`

type confirmed struct {
	proposal
	err error
}

// confirming confirms in the background.
func (c *caller) confirming(p proposal) <-chan confirmed {
	answered := make(chan confirmed, 1)
	go func() {
		result, err := c.confirm(p)
		answered <- confirmed{result, err}
	}()
	return answered
}

func serveOn(t *testing.T, url string, more ...string) *program {
	t.Helper()
	return serving(t, append([]string{"DATABASE_URL=" + url, "COUNTERSIGN_CONFIG=" + registryFile(t), "COUNTERSIGN_ADDR=127.0.0.1:0"}, more...), "serve")
}

// kill -9 while the record is being written: nothing is decided. Confirming again, at a new server, waits
// for what the dead one left behind, and applies.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	first := serveOn(t, db.OwnerURL)
	maria := signIn(t, first.ready, "maria@harbor.example")
	p := maria.rename("reviewer")
	change(t, db.OwnerURL, slowWrite)
	answered := maria.confirming(p)
	pgtest.WaitSleeping(t, db, 1)
	_ = first.end(syscall.SIGKILL)
	if a := <-answered; a.err == nil {
		t.Errorf("a killed server answered %+v", a.proposal)
	}
	if got := ask(t, db.OwnerURL, left); got != stillPending {
		t.Errorf("left %s", got)
	}
	maria.origin = serveOn(t, db.OwnerURL).ready
	answered = maria.confirming(p)
	pgtest.WaitBlocked(t, db, 1)
	change(t, db.OwnerURL, wakeUp)
	if a := <-answered; a.err != nil || a.Status != "APPLIED" {
		t.Errorf("confirmed again: %+v", a)
	}
	if got := ask(t, db.OwnerURL, left); got != nowApplied {
		t.Errorf("left %s", got)
	}
}

// kill -9 while the transaction commits, before and after PostgreSQL has heard of it.
func TestKilledWhileCommitting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost pgtest.Lost
		left string
	}{"before": {pgtest.Question, stillPending}, "after": {pgtest.Answer, nowApplied}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			wire := db.Wire(t, "countersign_gate")
			first := serveOn(t, wire.URL)
			maria := signIn(t, first.ready, "maria@harbor.example")
			p := maria.rename("reviewer")
			cut := wire.Cut(afterPreparing("COMMIT"), c.lost, func() { _ = first.end(syscall.SIGKILL) })
			if a := <-maria.confirming(p); a.err == nil {
				t.Errorf("a killed server answered %+v", a.proposal)
			}
			<-cut
			if got := ask(t, db.OwnerURL, left); got != c.left {
				t.Errorf("left %s, want %s", got, c.left)
			}
			maria.origin = serveOn(t, db.OwnerURL).ready
			if again, err := maria.confirm(p); err != nil || again.Status != "APPLIED" {
				t.Errorf("confirmed again: %+v, %v", again, err)
			}
			if got := ask(t, db.OwnerURL, left); got != nowApplied {
				t.Errorf("left %s", got)
			}
		})
	}
}

// afterPreparing says yes to the exchange that runs a statement for the first time: the one after it is prepared.
func afterPreparing(sql string) func(sent []byte) bool {
	prepared := false
	return func(sent []byte) bool {
		now := prepared
		prepared = prepared || bytes.Contains(sent, []byte(sql+"\x00"))
		return now
	}
}

// The database ends the session that writes: the server stays, says so, and the next confirm applies.
func TestTheWritersSessionIsTerminated(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	maria := signIn(t, serveOn(t, db.OwnerURL).ready, "maria@harbor.example")
	p := maria.rename("reviewer")
	change(t, db.OwnerURL, slowWrite)
	answered := maria.confirming(p)
	pgtest.WaitSleeping(t, db, 1)
	change(t, db.SuperuserURL, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`)
	if a := <-answered; a.err == nil || !strings.Contains(a.err.Error(), `"UNAVAILABLE"`) {
		t.Errorf("answered %+v", a)
	}
	if got := ask(t, db.OwnerURL, left); got != stillPending {
		t.Errorf("left %s", got)
	}
	change(t, db.OwnerURL, wakeUp)
	if again, err := maria.confirm(p); err != nil || again.Status != "APPLIED" {
		t.Errorf("confirmed again: %+v, %v", again, err)
	}
	if got := ask(t, db.OwnerURL, left); got != nowApplied {
		t.Errorf("left %s", got)
	}
}

// kill -9 of the demo and of its PostgreSQL while the record is being written; both start again.
func TestADemoKilledWithItsDatabase(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0")
	url := environmentFile(t, data)
	superuser := strings.Replace(url, "countersign_owner", "postgres", 1)
	maria := signIn(t, first.ready, "maria@harbor.example")
	p := maria.rename("reviewer")
	change(t, url, slowWrite)
	answered := maria.confirming(p)
	waitAsleep(t, superuser)
	postmaster := ask(t, superuser, `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)`)
	if err := exec.CommandContext(t.Context(), "kill", "-KILL", postmaster).Run(); err != nil {
		t.Fatal(err)
	}
	_ = first.end(syscall.SIGKILL)
	if a := <-answered; a.err == nil {
		t.Errorf("a killed server answered %+v", a.proposal)
	}
	again := serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0")
	if got := ask(t, url, left); got != stillPending {
		t.Errorf("left %s", got)
	}
	change(t, url, wakeUp)
	maria.origin = again.ready
	if a, err := maria.confirm(p); err != nil || a.Status != "APPLIED" {
		t.Errorf("confirmed again: %+v, %v", a, err)
	}
	if got := ask(t, url, left); got != nowApplied {
		t.Errorf("left %s", got)
	}
	if err := again.end(syscall.SIGTERM); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, again.wrong)
	}
}

// waitAsleep returns when a session of the database sleeps.
func waitAsleep(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `SET statement_timeout = '10s';
		DO $$ BEGIN
			WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid <> pg_backend_pid()) LOOP
				PERFORM pg_sleep(0.005), pg_stat_clear_snapshot();
			END LOOP;
		END $$`)
	if closed := conn.Close(t.Context()); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}
