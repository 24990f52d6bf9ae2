package feed_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience is how long a test waits for what has to come.
const patience = time.Minute

// world is a database with two workspaces.
type world struct {
	t           testing.TB
	db          *pgtest.DB
	mill, other id.Workspace
	maria       id.User
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, db: pgtest.New(t)}
	w.scan(`SELECT id FROM workspaces WHERE slug = 'harbor-mill'`, &w.mill)
	w.scan(`SELECT id FROM workspaces WHERE slug = 'other-site'`, &w.other)
	w.scan(`SELECT id FROM users WHERE email = 'maria@harbor.example'`, &w.maria)
	return w
}

func (w *world) scan(sql string, into ...any) {
	w.t.Helper()
	if err := w.db.Owner.QueryRow(w.t.Context(), sql).Scan(into...); err != nil {
		w.t.Fatal(err)
	}
}

// run starts a feed, as a server of its own would, that ends with the test.
func (w *world) run(pools *postgres.Pools) *feed.Feed {
	f := feed.New(pools.Worker, pools.Dial, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	w.t.Cleanup(func() { stop(); running.Wait() })
	return f
}

// proposal stores a pending proposal of Maria's, with no event.
func (w *world) proposal(workspace id.Workspace, approvals int) id.Proposal {
	w.t.Helper()
	p := id.NewProposal()
	_, err := w.db.Owner.Exec(w.t.Context(), `
		INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id, channel, approvals_needed, preview_only, lifetime, expires_at, record_count)
		VALUES ($1, $2, 'core_role_update', 'core.role', 'update', 'record_update', 'Role 4', repeat('0', 64), decode(repeat('00', 16), 'hex'), $3, 'api', $4, false, '30 minutes', clock_timestamp() + interval '30 minutes', 1)`,
		p, workspace, w.maria, approvals)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// begin begins a deed's transaction, as the gate.
func (w *world) begin(workspace id.Workspace) pgx.Tx {
	w.t.Helper()
	tx, err := w.db.Pools.Gate.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := postgres.Enter(w.t.Context(), tx, workspace); err != nil {
		w.t.Fatal(err)
	}
	return tx
}

const insertEvent = `INSERT INTO events (id, workspace_id, proposal_id, type, status) VALUES ($1, $2, $3, 'extended', 'pending')`

// write writes an event in a deed's transaction.
func (w *world) write(tx pgx.Tx, workspace id.Workspace, p id.Proposal) id.Event {
	w.t.Helper()
	e := id.NewEvent()
	if _, err := tx.Exec(w.t.Context(), insertEvent, e, workspace, p); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// event writes an event and commits.
func (w *world) event(workspace id.Workspace, p id.Proposal) id.Event {
	w.t.Helper()
	tx := w.begin(workspace)
	e := w.write(tx, workspace, p)
	w.commit(tx)
	return e
}

func (w *world) commit(tx pgx.Tx) {
	w.t.Helper()
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) as(workspace id.Workspace) sqlc.DBTX {
	return postgres.As(w.db.Pools.Reader, workspace)
}

// next reads on until something is there.
func (w *world) next(f *feed.Feed, workspace id.Workspace, after feed.Position) []feed.Item {
	w.t.Helper()
	late := time.After(patience)
	for {
		changed, _ := f.Changed()
		items, err := f.Since(w.t.Context(), w.as(workspace), after, 1000)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(items) > 0 {
			return items
		}
		select {
		case <-changed:
		case <-late:
			w.t.Fatalf("nothing came after %d", after)
		}
	}
}

// only reads on and expects exactly one event.
func (w *world) only(f *feed.Feed, workspace id.Workspace, after feed.Position, want id.Event) feed.Item {
	w.t.Helper()
	items := w.next(f, workspace, after)
	if len(items) != 1 || items[0].Event != want {
		w.t.Fatalf("after %d came %+v, not %s alone", after, items, want)
	}
	return items[0]
}
