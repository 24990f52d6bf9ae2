package server_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/server"
)

// keeping is the demo's registry with a retention of 30 days.
func keeping(t testing.TB) func(*server.Config) {
	return registryWith(t, "\nsources:", "\napproval_retention_days: 30\n\nsources:")
}

// swept returns when so many runs have ended, and what they and the others are like.
func (w *world) swept(runs string) (jobs, takenBy string) {
	w.t.Helper()
	for late := time.Now().Add(2 * patience); w.sql(`SELECT count(*) FROM countersign.river_job WHERE state = 'completed'`) != runs; {
		if time.Now().After(late) {
			w.t.Fatalf("no run has ended: %s", w.sql(`SELECT string_agg(state::text || coalesce(errors::text, ''), ' ') FROM countersign.river_job`))
		}
	}
	return w.sql(`SELECT count(*) || ' ' || string_agg(DISTINCT kind, ' ') FROM countersign.river_job`), w.sql(`SELECT sum(array_length(attempted_by, 1)) FROM countersign.river_job`)
}

// said is a log that several write to.
type said struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

func TestOneOfTwoServersSweeps(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	maria := w.signIn("maria@harbor.example")
	which, _ := maria.rename("4", "reviewer")
	maria.gql(reject, vars{"in": vars{"id": which}}).want(vars{"rejectProposal.result.status": "REJECTED"})
	w.aged(31, which)
	log := &said{}
	logged := func(c *server.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) }
	w.launch(keeping(t), logged)
	w.launch(keeping(t), logged)
	if jobs, takenBy := w.swept("1"); jobs != "1 retention_sweep" || takenBy != "1" {
		t.Errorf("there are %s, taken by %s", jobs, takenBy)
	}
	maria.gql(show, vars{"id": which}).refused("NOT_FOUND")
	if got := log.String(); strings.Count(got, `msg="old proposals were deleted" proposals=1 days=30`) != 1 || strings.Contains(got, "level=WARN") || strings.Contains(got, "level=ERROR") {
		t.Errorf("the log says %s", got)
	}
	if n := w.sql(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%river%'`); n != "0" {
		t.Errorf("%s sessions listen for jobs", n)
	}
}

// Where the server that calls for the runs goes, another does.
func TestAnotherServerSweepsWhereOneGoes(t *testing.T) {
	t.Parallel()
	w := start(t, timersOff)
	first, _ := w.launch(keeping(t))
	w.swept("1")
	leader := w.sql(`SELECT leader_id FROM countersign.river_leader`)
	w.launch(keeping(t))
	first.Close()
	if jobs, _ := w.swept("2"); jobs != "2 retention_sweep" || w.sql(`SELECT leader_id FROM countersign.river_leader`) == leader {
		t.Errorf("there are %s, and %s still leads", jobs, leader)
	}
}

func TestNothingIsDeletedUnlessSaid(t *testing.T) {
	t.Parallel()
	w := start(t)
	if n := w.sql(`SELECT (SELECT count(*) FROM countersign.river_leader) + (SELECT count(*) FROM countersign.river_queue)`); n != "0" {
		t.Errorf("%s rows: retention runs, and nobody said for how long", n)
	}
}
