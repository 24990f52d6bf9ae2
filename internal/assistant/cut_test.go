package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/sqlc"
)

// TestATurnThatEndsBadlyLeavesNothingToConfirm has a model propose and then go wrong in every way.
func TestATurnThatEndsBadlyLeavesNothingToConfirm(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  func(ctx context.Context, leave func()) (string, error)
		limit time.Duration
		want  sqlc.TurnFailureCode
		ended string
	}{
		{"an error", func(context.Context, func()) (string, error) { return "half an", errors.New("overloaded") }, 0, sqlc.TurnFailureCodeModelUnavailable, "failed"},
		{"text that cannot be stored", func(context.Context, func()) (string, error) { return "a\x00b", nil }, 0, sqlc.TurnFailureCodeModelUnavailable, "failed"},
		{"a panic", func(context.Context, func()) (string, error) { panic("nil map") }, 0, sqlc.TurnFailureCodeInternal, "failed"},
		{"the client left", func(ctx context.Context, leave func()) (string, error) { leave(); <-ctx.Done(); return "", ctx.Err() }, 0, sqlc.TurnFailureCodeCutShort, "cut_short"},
		{"the client left, and it answers all the same", func(ctx context.Context, leave func()) (string, error) { leave(); <-ctx.Done(); return "done", nil }, 0, sqlc.TurnFailureCodeCutShort, "cut_short"},
		{"the client left, and it hangs", func(_ context.Context, leave func()) (string, error) { leave(); select {} }, 0, sqlc.TurnFailureCodeCutShort, "cut_short"},
		{"its time is over", func(ctx context.Context, _ func()) (string, error) { <-ctx.Done(); return "", ctx.Err() }, 500 * time.Millisecond, sqlc.TurnFailureCodeCutShort, "cut_short"},
		{"its time is over, and it hangs", func(context.Context, func()) (string, error) { select {} }, 500 * time.Millisecond, sqlc.TurnFailureCodeCutShort, "cut_short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			w := newWorld(t, script(func(own context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
				rename(t, call, "reviewer")
				rename(t, call, "corrector")
				return c.then(own, leave)
			}))
			if c.limit > 0 {
				w.SetTimes(c.limit, 30*time.Second, 10*time.Second)
			}
			w.endedBadly(w.sendIn(ctx, "Rename role 4", "key"), c.want, c.ended)
			w.endedBadly(w.send("Rename role 4", "key"), c.want, c.ended)
		})
	}
}

// endedBadly checks a reply, the rows and the business row of a turn that proposed twice.
func (w *world) endedBadly(reply *assistant.Reply, code sqlc.TurnFailureCode, status string) {
	w.t.Helper()
	if reply.Message != nil || reply.Failure == nil || reply.Failure.Code != code || reply.UserMessage == nil {
		w.t.Fatalf("the reply is %+v, %+v", reply, reply.Failure)
	}
	if got := one[string](w, `SELECT status::text FROM turns`); got != status {
		w.t.Errorf("the turn is %s, not %s", got, status)
	}
	if w.statuses() != "withdrawn withdrawn" {
		w.t.Errorf("the proposals are %s", w.statuses())
	}
	shown := one[string](w, `SELECT status::text || ': ' || content FROM messages WHERE role = 'assistant'`)
	if shown != status+": "+reply.Failure.Message {
		w.t.Errorf("the conversation shows %q", shown)
	}
	if n := one[int](w, `SELECT count(*)::int FROM tool_calls WHERE status = 'started'`); n != 0 {
		w.t.Errorf("%d tool calls have no end", n)
	}
	w.untouched()
}

func TestAModelThatGoesOnAfterItsTimeProposesNothing(t *testing.T) {
	release, late := make(chan struct{}), make(chan error)
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		<-release
		_, err := call("core_role_update", json.RawMessage(`{"id":"7","changes":{"name":"late"}}`))
		late <- err
		return "done", nil
	}))
	w.SetTimes(500*time.Millisecond, 30*time.Second, 10*time.Second)
	reply := w.send("Rename role 4", "")
	close(release)
	if err := <-late; err == nil {
		t.Error("the late call was made")
	}
	if reply.Failure == nil || w.statuses() != "withdrawn" {
		t.Errorf("%+v; the proposals are %s", reply.Failure, w.statuses())
	}
}

// TestATurnThatEndedRefusesProposals ends the row under a server that does not know it yet.
func TestATurnThatEndedRefusesProposals(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		close(begun)
		<-release
		refused, err := call("core_role_update", json.RawMessage(`{"id":"4","changes":{"name":"late"}}`))
		if err != nil || refused.OK || refused.Code != "TURN_ENDED" {
			t.Errorf("proposing in a turn that ended: %+v, %v", refused, err)
		}
		return "done", nil
	}))
	sent := w.sending(t.Context(), w.Assistant, "Rename role 4")
	<-begun
	if err := w.End(t.Context(), w.maria.Workspace().ID, w.conversation, w.turn()); err != nil {
		t.Error(err)
	}
	close(release)
	reply := (<-sent).reply
	if reply.Message != nil || reply.Failure == nil || reply.Failure.Code != sqlc.TurnFailureCodeCutShort || w.statuses() != "withdrawn" {
		t.Errorf("%+v; the proposals are %s", reply, w.statuses())
	}
}

func (w *world) turn() id.Turn {
	w.t.Helper()
	return one[id.Turn](w, `SELECT id FROM turns ORDER BY id DESC LIMIT 1`)
}

// lapse is what a server leaves that was killed after it proposed: a running turn whose lease runs out.
func lapse(t *testing.T) (w *world, ended <-chan answer, wake func()) {
	t.Helper()
	begun, release := make(chan struct{}), make(chan struct{})
	w = newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		close(begun)
		<-release
		return "done", nil
	}))
	ended = w.sending(t.Context(), w.Assistant, "Rename role 4")
	<-begun
	w.exec(`UPDATE turns SET lease_until = clock_timestamp() - interval '1 second'`)
	wake = sync.OnceFunc(func() { close(release) })
	t.Cleanup(wake)
	return w, ended, wake
}

func TestALapsedTurnIsCutShortByWhoeverSeesIt(t *testing.T) {
	for name, see := range map[string]func(w *world, elsewhere *assistant.Assistant) error{
		"a repeat of its key": func(w *world, elsewhere *assistant.Assistant) error {
			reply, err := elsewhere.Send(w.t.Context(), w.maria, w.conversation, "Rename role 4", "key")
			if err == nil && (reply.Message != nil || reply.Failure.Code != sqlc.TurnFailureCodeCutShort) {
				w.t.Errorf("the repeat answers %+v", reply)
			}
			return err
		},
		"the next message": func(w *world, elsewhere *assistant.Assistant) error {
			reply, err := elsewhere.Send(w.t.Context(), w.maria, w.conversation, "hello", "")
			if err == nil && reply.Message == nil {
				w.t.Errorf("the next message was answered %+v", reply.Failure)
			}
			return err
		},
		"whoever asks": func(w *world, elsewhere *assistant.Assistant) error {
			return elsewhere.CutLapsed(w.t.Context(), w.maria.Workspace().ID, w.turn())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, ended, wake := lapse(t)
			elsewhere := newServer(t, w.db, w.db.OpenPools(t), says("hello"))
			if err := see(w, elsewhere); err != nil {
				t.Fatal(err)
			}
			if w.statuses() != "withdrawn" {
				t.Errorf("the proposal is %s", w.statuses())
			}
			wake()
			if got := <-ended; got.err != nil || got.reply.Message != nil || got.reply.Failure.Code != sqlc.TurnFailureCodeCutShort {
				t.Errorf("the turn's own server answers %+v, %v", got.reply, got.err)
			}
			w.untouched()
		})
	}
}

func TestALapsedTurnNobodySawIsCutShortByItsOwnServer(t *testing.T) {
	w, ended, wake := lapse(t)
	wake()
	if got := <-ended; got.err != nil || got.reply.Failure == nil || got.reply.Failure.Code != sqlc.TurnFailureCodeCutShort || w.statuses() != "withdrawn" {
		t.Errorf("%+v, %v; the proposal is %s", got.reply, got.err, w.statuses())
	}
}

func TestALeaseThatCannotBeRenewedStopsTheModel(t *testing.T) {
	begun, never := make(chan struct{}), make(chan struct{})
	w := newWorld(t, held(begun, never))
	w.SetTimes(time.Minute, 30*time.Second, 10*time.Millisecond)
	ended := w.sending(t.Context(), w.Assistant, "hello")
	<-begun
	w.exec(`UPDATE turns SET lease_until = clock_timestamp() - interval '1 second'`)
	if got := <-ended; got.err != nil || got.reply.Failure == nil || got.reply.Failure.Code != sqlc.TurnFailureCodeCutShort {
		t.Errorf("%+v, %v", got.reply, got.err)
	}
}

func TestALeaseIsRenewedWhileTheModelThinks(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, held(begun, release))
	w.SetTimes(time.Minute, 30*time.Second, 10*time.Millisecond)
	ended := w.sending(t.Context(), w.Assistant, "hello")
	<-begun
	first := one[time.Time](w, `SELECT lease_until FROM turns`)
	until(t, "the lease to be renewed", func() bool { return one[time.Time](w, `SELECT lease_until FROM turns`).After(first) })
	close(release)
	if got := <-ended; got.err != nil || got.reply.Message == nil {
		t.Errorf("%+v, %v", got.reply, got.err)
	}
}

func TestWhatCouldNotBeWithdrawnIsByWhoeverSeesTheTurnNext(t *testing.T) {
	down := true
	w := newWorld(t, nil)
	w.Assistant = newServerThat(t, w.db, w.db.Pools, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		return "", errors.New("overloaded")
	}), func(withdraw assistant.Withdraw) assistant.Withdraw {
		return func(ctx context.Context, workspace id.Workspace, proposal id.Proposal, reason string) error {
			if down {
				return errors.New("the database is away")
			}
			return withdraw(ctx, workspace, proposal, reason)
		}
	})
	if reply := w.send("Rename role 4", "key"); reply.Failure == nil || w.statuses() != "pending" {
		t.Errorf("%+v; the proposal is %s", reply, w.statuses())
	}
	down = false
	if reply := w.send("Rename role 4", "key"); reply.Failure == nil || w.statuses() != "withdrawn" {
		t.Errorf("%+v; the proposal is %s", reply, w.statuses())
	}
}

func TestATurnThatEndedWellIsNotCut(t *testing.T) {
	w := newWorld(t, script(func(_ context.Context, _ assistant.Prompt, call assistant.Call) (string, error) {
		rename(t, call, "reviewer")
		return "ok", nil
	}))
	w.send("Rename role 4", "")
	for _, which := range []id.Turn{w.turn(), id.NewTurn()} {
		if err := w.CutLapsed(t.Context(), w.maria.Workspace().ID, which); err != nil {
			t.Error(err)
		}
	}
	if w.statuses() != "pending" {
		t.Errorf("the proposal is %s", w.statuses())
	}
}

// TestEndingATurnWaitsForAProposalBeingCommitted holds a proposal of the turn open in a transaction: the
// turn ends after it, and so finds it.
func TestEndingATurnWaitsForAProposalBeingCommitted(t *testing.T) {
	w, ended, wake := lapse(t)
	w.exec(`UPDATE turns SET lease_until = clock_timestamp() + interval '1 minute'`)
	tx, err := w.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id,
			channel, conversation_id, turn_id, approvals_needed, preview_only, lifetime, expires_at, record_count)
		SELECT gen_random_uuid(), workspace_id, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id,
			channel, conversation_id, turn_id, approvals_needed, preview_only, lifetime, expires_at, record_count FROM proposals`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.End(t.Context(), w.maria.Workspace().ID, w.conversation, w.turn()) }()
	pgtest.WaitBlocked(t, w.db, 1)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || w.statuses() != "withdrawn withdrawn" {
		t.Errorf("%v; the proposals are %s", err, w.statuses())
	}
	wake()
	<-ended
}
