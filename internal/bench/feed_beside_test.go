package bench_test

import (
	"fmt"
	"testing"
	"time"
)

const (
	besideRounds = 3
	// A deed so often is what a large company does; as fast as it goes is not what anybody does.
	paceEvery = 100 * time.Millisecond
	paced     = 20
)

// level is who follows while there are proposals and decisions.
type level struct {
	name string
	few  bool // the first of the followers
	many bool // the others too
	sees bool // what happens
	pace bool // measured at a pace also
}

var levels = []level{
	{"nobody", false, false, true, true},
	{fmt.Sprint(fewFollowers), true, false, true, true},
	{fmt.Sprintf("%d who may not see it", manyFollowers), true, true, false, false},
	{fmt.Sprint(manyFollowers), true, true, true, true},
}

// visit is what one visit of a level gave.
type visit struct {
	propose, confirm               float64 // a second
	server, database, crowd        float64 // CPU of a deed, in µs
	behind                         float64 // from the last answer to the last delivery, in ms
	proposed, confirmed            float64 // median time of a deed at a pace, in ms
	proposedSlowest, confirmedSlow float64 // 9 of 10
}

// witness is the band that sees what happens at every level, so that it is known when the feed has come to its end.
const witness = "witness"

// attendance is which bands are there, and how much they were told.
type attendance struct {
	s     *stage
	bands map[string]int // their numbers
	told  map[string]int
}

// beside measures propose and confirm while others follow, as fast as it goes and at a pace. The levels are
// visited up and then down, so that what grows with time tells for none.
func (s *stage) beside(b *testing.B) {
	r := s.begin(b)
	a := &attendance{s: s, bands: map[string]int{}, told: map[string]int{}}
	visits := map[string][]visit{}
	for round := range besideRounds {
		for i := range levels {
			l := levels[i]
			if round%2 == 1 {
				l = levels[len(levels)-1-i]
			}
			a.arrange(l)
			s.served.call("Serving.Profile", fmt.Sprintf("beside-%d-%d-%t", len(a.bands), round, l.sees), new(int))
			visits[l.name] = append(visits[l.name], a.visit(l, r))
			s.served.call("Serving.Profile", "", new(int))
		}
	}
	a.arrange(levels[0])
	s.printBeside(visits)
	b.ReportMetric(0, "ns/op")
}

// arrange has those follow who are to.
func (a *attendance) arrange(l level) {
	a.band(witness, l.few, a.s.hellos[:1])
	a.band("few", l.few, a.s.hellos[1:fewFollowers])
	a.band("many", l.many, a.s.hellos[fewFollowers:])
	a.s.see(l.sees)
}

func (a *attendance) band(name string, there bool, hellos []string) {
	number, is := a.bands[name]
	switch {
	case there && !is:
		a.bands[name], a.told[name] = a.s.follow(a.s.address, followed, 0, hellos), 0
	case !there && is:
		a.s.leave(number)
		delete(a.bands, name)
	}
}

// visit measures one level; whoever sees what happens has been told of all of it when it returns.
func (a *attendance) visit(l level, r *route) (v visit) {
	s, before := a.s, a.s.events()
	server, crowd := s.served.cpu(), s.crowd.cpu()
	proposed, confirmed := r.run(s.mill, feedVisitors)
	answered := time.Now()
	if last := a.toldSince(before, l.sees); last > 0 {
		v.behind = float64(time.Unix(0, last).Sub(answered).Microseconds()) / 1000
	}
	done := float64(proposed.done + confirmed.done)
	v.propose, v.confirm = float64(proposed.done)/proposed.took.Seconds(), float64(confirmed.done)/confirmed.took.Seconds()
	v.server, v.crowd = float64((s.served.cpu()-server).Microseconds())/done, float64((s.crowd.cpu()-crowd).Microseconds())/done
	v.database = float64((proposed.database + confirmed.database).Microseconds()) / done
	if l.pace {
		before = s.events()
		proposing, confirming := s.pace(r)
		v.proposed, v.proposedSlowest = quantile(proposing, 0.5), quantile(proposing, 0.9)
		v.confirmed, v.confirmedSlow = quantile(confirming, 0.5), quantile(confirming, 0.9)
		a.toldSince(before, l.sees)
	}
	return v
}

// toldSince waits until all who see it were told of what happened.
func (a *attendance) toldSince(before int, sees bool) (last int64) {
	happened := a.s.events() - before
	for name, number := range a.bands {
		if sees || name == witness {
			a.told[name] += happened
		}
		last = max(last, a.s.told(number, a.told[name]))
	}
	return last
}

// pace proposes, and confirms what it proposed, a deed at a time and not faster than so often.
func (s *stage) pace(r *route) (proposing, confirming []float64) {
	fresh := s.toPropose(r.first, paced, feedVisitors)
	proposing = s.steadily(len(fresh), r.propose(fresh))
	made := s.toConfirm(r.first, feedVisitors)
	confirming = s.steadily(len(made), r.confirm(made))
	if n := s.applied(); n != len(confirming) || n != paced {
		s.t.Fatalf("%d were confirmed, and the database has %d", len(confirming), n)
	}
	return proposing, confirming
}

func (s *stage) steadily(n int, do job) (took []float64) {
	beat := time.NewTicker(paceEvery)
	defer beat.Stop()
	for i := range n {
		<-beat.C
		began := time.Now()
		if err := do(s.t.Context(), i); err != nil {
			s.t.Fatal(err)
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
	}
	return took
}
