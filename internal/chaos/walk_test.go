//go:build failpoints

package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/failpoint"
)

// asked is how many faults there are to be; seed is where chance begins. Both are printed.
func asked(t testing.TB) (n int, seed uint64) {
	t.Helper()
	n, seed = 40, 1
	if text := os.Getenv("COUNTERSIGN_FAULTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("COUNTERSIGN_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return n, seed
}

// thorough: each point with each fault, and not with one of them.
func thorough() bool { return os.Getenv("COUNTERSIGN_FAULTS") != "" }

// Each step of each verb fails in each way. What is left is what there was, or what was wanted; nothing that was
// said to be undone was done; and the same again answers what is stored, or does it now.
func TestEachPointWithEachFault(t *testing.T) {
	w := newWorld(t, 1)
	n, counted := w.nodes[0], map[string]int{}
	names := slices.Sorted(maps.Keys(faults))
	for i, point := range failpoint.Points() {
		for j, fault := range names {
			if !thorough() && (fault == "restart" || j != i%len(names)) && (fault != "error" || names[i%len(names)] != "restart") {
				continue
			}
			if w.walk(n, string(point), fault) {
				counted[fault]++
			}
		}
	}
	w.settle()
	w.invariants("at the end")
	t.Logf("faults: %v at %d points", counted, len(failpoint.Points()))
}

func (w *world) walk(n *node, point, fault string) (hit bool) {
	w.t.Helper()
	verb, _, _ := strings.Cut(point, "/")
	begin, ok := scenarios[verb]
	if !ok {
		w.t.Fatalf("no scenario passes %s", point)
	}
	for try := 0; try < 3 && !hit; try++ { // what works in the background may have come first
		s := begin(w, n, point)
		for _, other := range s.also {
			n.tell("arm %s error", other)
		}
		var answer reply
		life := n.now()
		answer, hit = w.strike(n, point, fault, s.act)
		if hit && fault == "panic" && life.ended() && !inBackground[verb] {
			w.wrong("%s: a panic in what one has asked for ended the server for all:\n%s", point, life.wrong)
		}
		if hit {
			w.after(s, point+" "+fault, answer)
		}
	}
	if !hit {
		w.wrong("%s was never passed, for %s", point, fault)
	}
	return hit
}

// inBackground are the verbs that nobody asks for: a panic there ends the server, and its keeper starts it again.
var inBackground = map[string]bool{"feed": true, "expire": true}

// after looks at what a fault left, and does the same again.
func (w *world) after(s scenario, when string, answer reply) {
	w.t.Helper()
	left := w.status(s.value)
	if !is(left, s.before) && !is(left, s.after) {
		w.wrong("%s: left %q, neither %q nor %q", when, left, s.before, s.after)
	}
	if answer.undone() && !is(left, s.before) {
		w.wrong("%s: said %q, and left %q", when, answer.message, left)
	}
	w.invariants(when)
	again := w.again(s.act)
	if now := w.status(s.value); !is(now, s.after) {
		w.wrong("%s: repeated, it is %q and not %q: %+v", when, now, s.after, again)
	}
	if s.answers != "" && again.status != s.answers {
		w.wrong("%s: repeated, it answers %+v and not %s", when, again, s.answers)
	}
	w.invariants(when + ", repeated")
}

// again does the same until it is answered.
func (w *world) again(act func(context.Context) reply) (answer reply) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if answer = act(w.t.Context()); answer.answered() {
			return answer
		}
	}
	w.t.Fatalf("it is not answered any more: %+v\n%s", answer, w.nodes[0].now().wrong)
	return answer
}

// status is that of the proposals of a value, as they are stored, the oldest first.
func (w *world) status(value string) string {
	w.t.Helper()
	return w.sql(`SELECT coalesce(string_agg(p.status::text || CASE WHEN p.extended_at IS NULL THEN '' ELSE '+' END, ' ' ORDER BY p.number), '') FROM proposals p
		JOIN proposal_records r ON r.proposal_id = p.id WHERE r.changes -> 0 -> 'to' ->> 'json' = $1`, value)
}

var values atomic.Int64

func newValue() string { return fmt.Sprintf("v%d", values.Add(1)) }
