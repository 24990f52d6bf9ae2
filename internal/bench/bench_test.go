package bench_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// How much is measured: each cell this often, each time so many requests, or as many as there is time for.
const (
	repeats  = 5
	requests = 400
	most     = 2 * time.Second
)

var connections = []int{1, 8, 32}

// target is of the ratio to the bare loop; with 1 connection there is none.
const target = 0.7

// BenchmarkProposeAndConfirm sends proposals, and confirms what it proposed, through the server over HTTP and
// through the bare loop in turns, and prints what came of it. It takes the time it takes, whatever -benchtime says.
func BenchmarkProposeAndConfirm(b *testing.B) {
	m := newMill(b, connections[len(connections)-1])
	proposes, confirms := m.record()
	defer m.serve(false)()
	routes := []*route{m.http(), m.bare(newLoop(b, m.db.OwnerURL), proposes, confirms)}
	for _, one := range routes { // a new connection is slow for a while
		one.run(m, connections[len(connections)-1])
	}
	m.exec(`ANALYZE`)
	r := &results{proposes: proposes, confirms: confirms, samples: map[string][]sample{}}
	for repeat := range repeats {
		for _, n := range connections {
			for i := range routes {
				one := routes[(i+repeat)%len(routes)]
				proposed, confirmed := one.run(m, n)
				r.add("propose", n, one.name, proposed)
				r.add("confirm", n, one.name, confirmed)
			}
		}
	}
	r.print(b, m)
	b.ReportMetric(0, "ns/op")
}

// route is one way to get proposals made and confirmed. It prepares what is sent before the clock runs.
type route struct {
	name    string
	first   int // of its roles
	propose func([]subject) job
	confirm func([]subject) job
}

// job does the work of one subject.
type job func(ctx context.Context, which int) error

// http goes through the server.
func (m *mill) http() *route {
	sends := func(request func(*visitor, subject) []byte, want string) func([]subject) job {
		return func(subjects []subject) job {
			made := each(subjects, func(s subject) []byte { return request(s.visitor, s) })
			return func(_ context.Context, i int) error { return subjects[i].visitor.send(made[i], want) }
		}
	}
	return &route{"HTTP", httpRoles, sends((*visitor).proposing, `"PENDING"`), sends((*visitor).confirming, `"APPLIED"`)}
}

// bare goes past it.
func (m *mill) bare(l loop, proposes, confirms *script) *route {
	sends := func(s *script) func([]subject) job {
		return func(subjects []subject) job {
			made := each(subjects, s.onBehalf)
			return func(ctx context.Context, i int) error { return l.send(ctx, made[i]) }
		}
	}
	return &route{"bare", bareRoles, sends(proposes), sends(confirms)}
}

func each[T any](subjects []subject, one func(subject) T) []T {
	list := make([]T, len(subjects))
	for i, s := range subjects {
		list[i] = one(s)
	}
	return list
}

// run proposes for some visitors at once, and confirms what was proposed. The database has the last word on
// what was done.
func (r *route) run(m *mill, visitors int) (proposed, confirmed sample) {
	m.t.Helper()
	fresh := m.toPropose(r.first, requests, visitors)
	proposed = m.drive(fresh, r.propose(fresh))
	made := m.toConfirm(r.first, visitors)
	if len(made) != proposed.done {
		m.t.Fatalf("%s: %d proposals were answered, and the database has %d", r.name, proposed.done, len(made))
	}
	confirmed = m.drive(made, r.confirm(made))
	if n := m.applied(); n != confirmed.done {
		m.t.Fatalf("%s: %d confirms were answered, and the database has %d", r.name, confirmed.done, n)
	}
	return proposed, confirmed
}

// sample is what one run of a cell gave.
type sample struct {
	done     int
	took     time.Duration
	cpu      time.Duration // of this process, which sends and serves
	database time.Duration // CPU of the database's sessions
}

// drive lets the visitors do the jobs of their subjects, each one after the other, until all are done or the time is up.
func (m *mill) drive(subjects []subject, do job) sample {
	m.t.Helper()
	jobs := map[*visitor][]int{}
	for i, s := range subjects {
		jobs[s.visitor] = append(jobs[s.visitor], i)
	}
	var done atomic.Int64
	failed := make(chan error, len(jobs))
	database, cpu, began := m.databaseCPU(), ownCPU(), time.Now()
	for _, mine := range jobs {
		go func() {
			failed <- m.work(mine, do, began.Add(most), &done)
		}()
	}
	var err error
	for range jobs {
		err = errors.Join(err, <-failed)
	}
	s := sample{done: int(done.Load()), took: time.Since(began), cpu: ownCPU() - cpu}
	s.database = m.databaseCPU() - database
	if err != nil || s.done == 0 {
		m.t.Fatalf("%d done in %s: %v", s.done, s.took, err)
	}
	return s
}

func (m *mill) work(jobs []int, do job, until time.Time, done *atomic.Int64) error {
	for _, i := range jobs {
		if time.Now().After(until) {
			break
		}
		if err := do(m.t.Context(), i); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}
