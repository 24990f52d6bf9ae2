//go:build failpoints

package chaos

import (
	"context"
	"testing"
	"time"
)

// The disk of the database is full while people decide and assistants propose: what is answered is true, and once
// there is room again all goes on. The database may have stopped meanwhile; then it is started, as its keeper would.
func TestAFullDisk(t *testing.T) {
	if theCluster.mounted != nil {
		t.Skipf("no disk of its own could be mounted for the database, which root can: %v", theCluster.mounted)
	}
	w := newWorld(t, 1)
	n := w.nodes[0]
	var ready []reply
	for range 20 {
		p, _ := w.order(n)
		ready = append(ready, p)
	}
	refused := 0
	times := 1
	if thorough() {
		times = 3
	}
	for round := range times {
		empty, err := theCluster.fill()
		if err != nil {
			t.Fatal(err)
		}
		tally.faults.Add(1)
		for i := 0; i < 200 && refused <= round; i++ { // what is allocated already is used up first
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if r := w.proposing(n, w.maria, newValue())(ctx); !r.answered() {
				refused++
			}
			cancel()
		}
		tried := ready[round*5 : round*5+5]
		for _, p := range tried {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			w.decision(n, w.maria, "confirm", p)(ctx)
			cancel()
		}
		empty()
		if err := theCluster.revive(); err != nil {
			t.Fatal(err)
		}
		n.answering()
		w.invariants("after a full disk")
		for _, p := range tried {
			if again := w.again(w.decision(n, w.maria, "confirm", p)); again.status != "APPLIED" && again.status != "FAILED" {
				t.Errorf("confirmed again, it is %+v", again)
			}
		}
	}
	if refused < times {
		t.Errorf("the disk was full %d times, and %d proposals were refused", times, refused)
	}
	w.settle()
	w.invariants("at the end")
}
