package gate_test

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// slow keeps whoever writes a role but the fourth until the lock of the test is free, whatever their time limits.
const slow = `
	CREATE FUNCTION core.wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN
		IF NEW.id <> 4 THEN
			BEGIN PERFORM pg_advisory_xact_lock(4711); EXCEPTION WHEN query_canceled THEN PERFORM pg_advisory_xact_lock(4711); END;
		END IF;
		RETURN NEW; END $$;
	CREATE TRIGGER wait BEFORE UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION core.wait()`

func TestRehearsalsThatAreSlowLeaveConnectionsForDecisions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	config := db.Pools.Gate.Config()
	config.MaxConns = 4
	few, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(few.Close)
	registry, log := db.Registry(t), slog.New(slog.DiscardHandler)
	g := gate.New(gate.Pools{Gate: few, Agent: db.Pools.Agent, Worker: db.Pools.Worker}, registry, gate.Limits{Lock: 2 * time.Second, Statement: 10 * time.Second}, func() {}, log)
	tools := toolcall.New(g, registry, actions.All(), db.Pools.Agent, log)
	maria := db.Person(t, "maria@harbor.example")
	rename := func(role int) *sqlc.Proposal {
		input := json.RawMessage(`{"id": "` + strconv.Itoa(role) + `", "changes": {"name": "another"}}`)
		result, err := tools.Run(t.Context(), maria, toolcall.Origin{Channel: sqlc.ChannelApi}, "core_role_update", input)
		if err != nil || !result.OK {
			t.Errorf("role %d: %v %+v", role, err, result)
			return &sqlc.Proposal{}
		}
		return result.Proposal
	}
	card := rename(4)
	held, err := db.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, statement := range []string{slow, `SELECT pg_advisory_lock(4711)`} {
		if _, err := held.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var proposing sync.WaitGroup
	roles := []int{1, 2, 3, 5, 6, 7}
	made := make(chan *sqlc.Proposal, len(roles))
	for _, role := range roles {
		proposing.Go(func() { made <- rename(role) })
	}
	pgtest.WaitBlocked(t, db, 2)

	answer, err := g.Confirm(t.Context(), maria, card.ID, card.Fingerprint)
	if err != nil || answer.Proposal.Status != sqlc.ProposalStatusApplied {
		t.Errorf("the confirm: %v %+v", err, answer)
	}
	if n := few.Stat().AcquiredConns(); n > 2 {
		t.Errorf("%d of 4 connections rehearse", n)
	}
	proposing.Wait()
	for range roles {
		if p := <-made; !strings.Contains(string(p.Rehearsal), "NO_LOCK") {
			t.Errorf("a rehearsal that had no place, or never ended: %s", p.Rehearsal)
		}
	}
}
