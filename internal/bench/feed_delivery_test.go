package bench_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// delivered is how many events are measured, one at a time.
const delivered = 40

// audience is everyone who follows one server, and what became of it.
type audience struct {
	name                 string
	process              *process
	band                 int
	empty, full, after   int64 // bytes resident: before they came, while they only follow, when all was told
	used                 [2]int64
	began                []time.Time
	cpu, database, crowd time.Duration // of the server, of its sessions, of those who follow, for all deliveries
	medians, slow, lasts float64       // of all deliveries, in ms
}

// delivery measures how long it takes from the commit of a proposal until its followers are told, and what a
// follower keeps of memory; beside graphql-ws on Node, which has no rights and no database to look at, in
// turns.
func (s *stage) delivery(b *testing.B) {
	r := s.begin(b)
	n := manyFollowers
	ours := &audience{name: "Countersign", process: s.served}
	s.served.call("Serving.Tidy", 0, &ours.used)
	used := ours.used
	ours.admit(s, s.address, n)
	all := []*audience{ours}
	p, missing := newPeer(b)
	var theirs *audience
	if p != nil {
		theirs = &audience{name: "graphql-ws on Node " + p.version, process: p.process}
		theirs.admit(s, p.address, n)
		p.attended(n)
		all = append(all, theirs)
	}
	for _, a := range all {
		a.full = a.process.resident()
	}
	fresh := s.toPropose(r.first, delivered, feedVisitors)
	propose, sample := r.propose(fresh), ""
	s.served.call("Serving.Profile", "delivery", new(int))
	for i := range fresh {
		ours.take(s, i+1, func() {
			if err := propose(b.Context(), i); err != nil {
				b.Fatal(err)
			}
		})
		if sample == "" {
			sample = s.sample()
		}
		if theirs != nil {
			theirs.take(s, i+1, func() { theirs.began = append(theirs.began, p.emit(sample)) })
		}
	}
	s.served.call("Serving.Profile", "", new(int))
	ours.began = s.written(delivered)
	for _, a := range all {
		a.after = a.process.resident()
		a.judge(s)
	}
	s.served.call("Serving.Tidy", 0, &ours.used)
	ours.used[0], ours.used[1] = ours.used[0]-used[0], ours.used[1]-used[1]
	s.printDelivery(n, all, missing)
	b.ReportMetric(0, "ns/op")
}

// admit connects the audience.
func (a *audience) admit(s *stage, address string, n int) {
	a.empty = a.process.resident()
	a.band = s.follow(address, followed, delivered, s.hellos[:n])
}

// take lets one event happen and waits until all were told.
func (a *audience) take(s *stage, events int, happen func()) {
	cpu, database, crowd := a.process.cpu(), s.databaseCPU(), s.crowd.cpu()
	happen()
	s.told(a.band, events)
	a.cpu += a.process.cpu() - cpu
	a.database += s.databaseCPU() - database
	a.crowd += s.crowd.cpu() - crowd
}

// judge finds out how long the deliveries took.
func (a *audience) judge(s *stage) {
	var came [][]int64
	s.crowd.call("Crowd.Came", a.band, &came)
	var every, lasts []float64
	for i, times := range came {
		last := 0.0
		for _, at := range times {
			took := float64(at-a.began[i].UnixNano()) / 1e6
			every, last = append(every, took), max(last, took)
		}
		lasts = append(lasts, last)
	}
	a.medians, a.slow, a.lasts = quantile(every, 0.5), quantile(every, 0.99), middle(lasts)
}

// written is when the last events were, which is within the transactions: before they committed.
func (s *stage) written(n int) []time.Time {
	s.t.Helper()
	rows, err := s.db.Owner.Query(s.t.Context(), `SELECT at FROM (SELECT e.at, f.position FROM feed f JOIN events e ON e.id = f.event_id ORDER BY f.position DESC LIMIT $1) AS newest ORDER BY position`, n)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var list []time.Time
	for rows.Next() {
		var at time.Time
		if err := rows.Scan(&at); err != nil {
			s.t.Fatal(err)
		}
		list = append(list, at)
	}
	if err := rows.Err(); err != nil || len(list) != n {
		s.t.Fatalf("%d of %d events: %v", len(list), n, err)
	}
	return list
}

// sample is an event as followers are told it, for a peer to tell the same.
func (s *stage) sample() string {
	s.t.Helper()
	var proposal, headline string
	var number int
	if err := s.db.Owner.QueryRow(s.t.Context(), `SELECT id::text, number, headline FROM proposals ORDER BY number DESC LIMIT 1`).Scan(&proposal, &number, &headline); err != nil {
		s.t.Fatal(err)
	}
	event, err := json.Marshal(map[string]any{"cursor": "ZmVlZDoxMjM0NQ", "type": "PROPOSED", "at": time.Now().UTC().Format(time.RFC3339Nano), "proposalId": proposal, "status": "PENDING",
		"proposal": map[string]any{"id": proposal, "number": number, "status": "PENDING", "headline": headline}})
	if err != nil {
		s.t.Fatal(fmt.Errorf("an event: %w", err))
	}
	return string(event)
}
