//go:build failpoints

package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/failpoint"
)

// often is how often each fault is chosen.
var often = map[string]int{"error": 24, "panic": 16, "kill": 14, "gone": 16, "terminate": 14, "hold": 8, "restart": 5}

// People and assistants at work on two servers, while one thing after another fails. After each fault all is
// answering again, and nothing is in the database that may not be; in the end every proposal's history is one
// that may have been.
func TestAtRandom(t *testing.T) {
	n, seed := asked(t)
	t.Logf("COUNTERSIGN_FAULTS=%d COUNTERSIGN_SEED=%d", n, seed)
	w := newWorld(t, 2)
	began := time.Now()
	people, stop := w.crowd(8, seed)
	defer stop()
	i := &injector{w: w, crowd: people, rand: rand.New(rand.NewPCG(seed, 1<<32)), of: map[string]int{}, at: map[string]int{}, missed: map[string]int{}}
	violations := 0
	w.superuser(`ANALYZE`)
	for i.faults < n && !t.Failed() {
		if !i.inject() {
			continue
		}
		violations += w.lately(fmt.Sprintf("after fault %d, %s", i.faults, i.last))
		if i.faults%250 == 0 {
			w.superuser(`ANALYZE`)
			t.Logf("%4d faults in %v", i.faults, time.Since(began).Round(time.Second))
		}
	}
	stop()
	for _, one := range w.nodes {
		one.answering()
	}
	w.settle()
	violations += w.invariants("at the end")
	deeds, wrong := people.history.check(t)
	tally.violations.Add(int64(wrong))
	t.Logf("%d faults injected %v at %d points; %d decisions on %s proposals, %d deeds of %d histories; %d violations; %v, seed %d", i.faults, i.of, len(i.at),
		w.decisions(), w.sql(`SELECT count(*) FROM proposals`), deeds, len(people.history.of), violations+wrong, time.Since(began).Round(time.Second), seed)
	if thorough() && n >= 2000 {
		i.everywhere(t)
	}
}

// injector has things fail.
type injector struct {
	w      *world
	crowd  *crowd
	rand   *rand.Rand
	faults int
	last   string
	of, at map[string]int // faults, points
	missed map[string]int
}

// inject has one thing fail; false where nobody came by the point that was chosen.
func (i *injector) inject() bool {
	point, fault := i.point(), i.fault()
	n := i.w.nodes[i.rand.IntN(len(i.w.nodes))]
	life := n.now()
	for len(life.hits) > 0 {
		<-life.hits
	}
	for _, other := range along(point) {
		n.tell("arm %s error", other)
	}
	word, ok := faults[fault]
	if !ok {
		word = fault
	}
	n.tell("arm %s %s", point, word)
	hit := i.wait(life, 1000*time.Millisecond, point)
	if hit {
		i.happen(n, life, fault, point)
	}
	n.tell("go")
	for _, one := range i.w.nodes {
		one.answering()
	}
	if !hit {
		i.missed[point]++
		return false
	}
	i.missed[point] = 0
	i.faults++
	i.of[fault]++
	i.at[point]++
	i.last = point + " " + fault
	return true
}

// wait waits until somebody passes the point.
func (i *injector) wait(life *running, most time.Duration, point string) bool {
	late := time.After(most)
	for {
		select {
		case got := <-life.hits:
			if got == point {
				return true
			}
		case <-life.gone:
			return false
		case <-late:
			return false
		}
	}
}

func (i *injector) happen(n *node, life *running, fault, point string) {
	switch fault {
	case "hold": // until the pool is full, where so many come by
		tally.faults.Add(1)
		for range poolSize - 1 {
			if !i.wait(life, 300*time.Millisecond, point) {
				break
			}
		}
	default:
		i.w.happen(n, fault, func() { i.crowd.leave(n) })
	}
}

// along are the points that have to fail so that somebody comes by this one.
func along(point string) []string {
	switch verb, _, _ := strings.Cut(point, "/"); {
	case verb == "cutmet":
		return []string{"turn/answered", "turn/ended"}
	case verb == "cutshort", point == "turn/ending", point == "turn/ended":
		return []string{"turn/answered"}
	}
	return nil
}

// point chooses one, not often where nobody came by lately.
func (i *injector) point() string {
	points := failpoint.Points()
	for {
		p := string(points[i.rand.IntN(len(points))])
		if i.rand.IntN(1+i.missed[p]) == 0 {
			return p
		}
	}
}

func (i *injector) fault() string {
	n := 0
	for _, weight := range often {
		n += weight
	}
	n = i.rand.IntN(n)
	for _, name := range slices.Sorted(maps.Keys(often)) {
		if n -= often[name]; n < 0 {
			return name
		}
	}
	return "error"
}

// everywhere wants every point to have failed.
func (i *injector) everywhere(t *testing.T) {
	t.Helper()
	for _, p := range failpoint.Points() {
		if i.at[string(p)] == 0 {
			t.Logf("nothing failed at %s", p)
		}
	}
}
