package server_test

import (
	"strconv"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// nth says yes to the nth exchange it is asked about.
func nth(n int) func([]byte) bool {
	return func([]byte) bool { n--; return n == 0 }
}

// The gate's connection breaks at every one of a confirm's exchanges, before it arrives and before its
// answer does: then the proposal is PENDING with the record as it was, or APPLIED with the change, once;
// and confirming again says which.
func TestAConfirmCutAtAnyStep(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	wire := w.db.Wire(t, "countersign_gate")
	w.url = w.serve(func(c *server.Config) { c.OwnerURL, c.TimersOff = wire.URL, true })
	w.logWrites()
	maria := w.signIn("maria@harbor.example")
	for name, lost := range map[string]pgtest.Lost{"what is sent": pgtest.Question, "the answer": pgtest.Answer} {
		steps := 0
		for cut := true; cut; steps++ {
			cut = w.confirmCut(maria, wire, name+" "+strconv.Itoa(steps+1), steps+1, lost)
		}
		if steps < 5 {
			t.Errorf("%s was lost %d times only", name, steps-1)
		}
	}
	w.invariants()
}

// confirmCut confirms a proposal of its own and tells whether the wire was cut at that step.
func (w *world) confirmCut(maria *client, wire *pgtest.Wire, name string, step int, lost pgtest.Lost) bool {
	w.t.Helper()
	id, fingerprint := maria.rename("4", name)
	done := wire.Cut(nth(step), lost, nil)
	first := maria.confirm(id, fingerprint)
	cut := false
	select {
	case <-done:
		cut = true
	default:
	}
	left := w.sql(`SELECT status || ' ' || ((SELECT name FROM core.roles WHERE id = 4) = $1) || ' ' || (SELECT count(*) FROM public.change_log WHERE name = $1)
		|| ' ' || (SELECT count(*) FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id) FROM countersign.proposals p ORDER BY number DESC LIMIT 1`, name)
	if left != "pending false 0 0" && left != "applied true 1 1" {
		w.t.Errorf("%s: left %s", name, left)
	}
	w.t.Logf("%s: cut %v, left %s, answered %.200s", name, cut, left, first.raw)
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	return cut
}
