//go:build failpoints

package chaos

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
)

// rounds is how often they meet: a few times, and as often as COUNTERSIGN_ROUNDS says in the slow suite.
func rounds(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("COUNTERSIGN_ROUNDS")
	if asked == "" {
		return 6
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// confirmers is how many confirm at once, on two servers.
const confirmers = 4

// A turn is cut short at the moment at which what it proposed is confirmed: one of them it is, and one alone.
func TestConfirmAgainstACutShortTurn(t *testing.T) {
	w := newWorld(t, 2)
	ended := map[string]int{}
	for round := range rounds(t) {
		s := w.said(w.nodes[0])
		status := w.meet(s, round%2 == 0)
		ended[status]++
		written := w.sql(`SELECT count(*) FROM public.change_log WHERE became = $1`, s.value)
		finals := w.sql(`SELECT string_agg(d.kind::text, ' ') FROM proposal_decisions d JOIN proposal_records r ON r.proposal_id = d.proposal_id WHERE r.changes -> 0 -> 'to' ->> 'json' = $1`, s.value)
		if got := status + " " + finals + " " + written; got != "applied confirm 1" && got != "withdrawn withdraw 0" && got != "failed confirm 0" {
			t.Errorf("round %d: %s", round, got)
		}
		w.lately("round " + strconv.Itoa(round))
	}
	w.settle()
	w.invariants("at the end")
	t.Logf("rounds by how they ended: %v", ended)
	if rounds(t) >= 100 && (ended["applied"] == 0 || ended["withdrawn"] == 0) {
		t.Error("they did not meet: one of them was always first")
	}
}

// meet has a turn make its proposal and come to its end, parks who confirms it at the proposal's row and who cuts
// it short at the turn's, and lets them go, the one or the other first.
func (w *world) meet(s scenario, turnFirst bool) (status string) {
	w.t.Helper()
	home := w.nodes[0]
	life := home.now()
	home.tell("arm turn/answered late")
	var all sync.WaitGroup
	all.Go(func() { s.act(w.t.Context()) })
	<-life.hits
	p := w.again(func(ctx context.Context) reply { return (&client{home, w.maria}).show(ctx, w.id(s.value)) })
	proposal := w.holding(`SELECT FROM proposals WHERE status = 'pending' FOR UPDATE`)
	turn := w.holding(`SELECT FROM turns WHERE status = 'running' FOR UPDATE`)
	for i := range confirmers {
		all.Go(func() { w.decision(w.nodes[i%2], w.maria, "confirm", p)(w.t.Context()) })
	}
	home.tell("go")
	pgtest.WaitBlocked(w.t, w.db, confirmers+1)
	if turnFirst {
		proposal, turn = turn, proposal
	}
	proposal()
	turn()
	all.Wait()
	for deadline := time.Now().Add(10 * time.Second); w.status(s.value) == "pending" && time.Now().Before(deadline); { // it is withdrawn in the background
		time.Sleep(time.Millisecond)
	}
	return w.status(s.value)
}

// holding runs a statement in a transaction that stays open until it is let go.
func (w *world) holding(statement string) (let func()) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Owner.BeginTx(ctx, pgx.TxOptions{})
	if err == nil {
		_, err = tx.Exec(ctx, statement)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := tx.Commit(ctx); err != nil {
			w.t.Error(err)
		}
	}
}
