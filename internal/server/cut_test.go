package server_test

import (
	"strconv"
	"strings"
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
		step := 1
		for w.confirmCut(maria, wire, name+" "+strconv.Itoa(step), step, lost) {
			step++
		}
		if step < 5 {
			t.Errorf("%s was lost at %d steps only", name, step-1)
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
	cut := closed(done)
	wire.Cut(nth(0), lost, nil)
	left := w.sql(`SELECT status || ' ' || ((SELECT name FROM core.roles WHERE id = 4) = $1) || ' ' || (SELECT count(*) FROM public.change_log WHERE name = $1)
		|| ' ' || (SELECT count(*) FROM countersign.proposal_decisions d WHERE d.proposal_id = p.id) FROM countersign.proposals p ORDER BY number DESC LIMIT 1`, name)
	if left != "pending false 0 0" && left != "applied true 1 1" {
		w.t.Errorf("%s: left %s", name, left)
	}
	if cut && len(first.Errors) == 0 { // it met another of the gate's sessions, one that the pool was opening
		maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
		return w.confirmCut(maria, wire, name+"'", step, lost)
	}
	if cut {
		first.refused("UNAVAILABLE")
	}
	if strings.Contains(first.raw, "nothing was changed") && !strings.HasPrefix(left, "pending") {
		w.t.Errorf("%s: left %s and told %s", name, left, first.raw)
	}
	maria.confirm(id, fingerprint).want(vars{"confirmProposal.result.status": "APPLIED"})
	return cut
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
