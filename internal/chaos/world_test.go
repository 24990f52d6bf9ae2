//go:build failpoints

package chaos

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/pgtest"
)

// world is a database with servers on it, and records that nobody else changes.
type world struct {
	t        testing.TB
	db       *pgtest.DB
	registry string
	nodes    []*node
	records  int // used

	maria, paolo, jonas, aiko, rosa, agent string // credentials
}

// poolSize is how many connections the gate's and the agent's pools have: so few that they can be filled.
const poolSize = 3

// perWorld is how many records of each kind there are for proposals to be about.
const perWorld = 60

func newWorld(t testing.TB, nodes int) *world {
	t.Helper()
	w := &world{t: t, db: pgtest.New(t), registry: registry(t)}
	w.superuser(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = on'; END $$`) // what is answered outlives the server
	w.superuser(changeLog)
	w.superuser(`INSERT INTO core.roles (id, site, name, description) SELECT 1000 + i, 'harbor-mill', 'role ' || i, 'new' FROM generate_series(1, $1) i`, perWorld)
	w.superuser(`INSERT INTO mrp.production_orders (id, site, order_number, item, quantity, unit, priority, planned_start, planned_finish, due_date, notes)
		SELECT 1000 + i, 'harbor-mill', 'PO-' || 5000 + i, 'FG-LAGER-20L', 10, 'keg', 5, '2026-06-08', '2026-06-09', '2026-06-12', 'new' FROM generate_series(1, $1) i`, perWorld)
	w.maria, w.paolo = w.db.Bearer(t, "maria@harbor.example"), w.db.Bearer(t, "paolo@harbor.example")
	w.jonas, w.aiko = w.db.Bearer(t, "jonas@harbor.example"), w.db.Bearer(t, "aiko@harbor.example")
	w.rosa, w.agent = w.db.Bearer(t, "rosa@harbor.example"), w.db.APIToken(t, "maria@harbor.example", "read", "propose")
	t.Cleanup(func() { tally.decisions.Add(w.decisions()) })
	for range nodes {
		w.nodes = append(w.nodes, w.node())
	}
	return w
}

// node is one more server on the database.
func (w *world) node(environment ...string) *node {
	w.t.Helper()
	small := "&pool_max_conns=" + string(rune('0'+poolSize))
	login := func(name string) string {
		return strings.Replace(w.db.OwnerURL, "countersign_owner", "countersign_"+name, 1) + small
	}
	return newNode(w.t, append([]string{"DATABASE_URL=" + w.db.OwnerURL, "COUNTERSIGN_CONFIG=" + w.registry,
		"COUNTERSIGN_GATE_URL=" + login("gate"), "COUNTERSIGN_AGENT_URL=" + login("agent")}, environment...)...)
}

// registry is the demo's, with an approval to every change of a role.
func registry(t testing.TB) string {
	t.Helper()
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "      update:\n      delete: { approval: 1 }", "      update: { approval: 1 }\n      delete: { approval: 1 }"
	if !strings.Contains(string(yaml), from) {
		t.Fatalf("countersign.yaml does not hold %q", from)
	}
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(yaml), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// decisions is how many were taken.
func (w *world) decisions() (n int64) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := w.db.Owner.QueryRow(context.WithoutCancel(w.t.Context()), `SELECT count(*) FROM proposal_decisions`).Scan(&n); err == nil {
			break
		}
	}
	return n
}
