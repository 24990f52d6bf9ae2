package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/sqlc"
)

// counting answers with the number of the answer, and fails the messages that ask for it.
func counting(calls *atomic.Int32) script {
	return func(_ context.Context, p assistant.Prompt, _ assistant.Call) (string, error) {
		n := calls.Add(1)
		if p.Message == "fail" {
			return "", errors.New("503 from the provider")
		}
		return fmt.Sprintf("answer %d", n), nil
	}
}

func TestARepeatedKeyAnswersTheFirstAnswer(t *testing.T) {
	var calls atomic.Int32
	w := newWorld(t, counting(&calls))
	first, again := w.send("list roles", "key"), w.send("list roles", "key")
	if first.Message.ID != again.Message.ID || first.UserMessage.ID != again.UserMessage.ID || calls.Load() != 1 {
		t.Errorf("the repeat answers %+v after %d calls", again.Message, calls.Load())
	}
	if _, err := w.Send(t.Context(), w.maria, w.conversation, "list users", "key"); !errors.Is(err, assistant.ErrIdempotencyMismatch) {
		t.Errorf("another message under the key: %v", err)
	}
	other, err := w.Send(t.Context(), w.maria, w.open(w.maria), "list users", "key")
	if err != nil || other.Message.Content != "answer 2" {
		t.Errorf("the key in another conversation: %+v, %v", other, err)
	}
	if one, two := w.send("list roles", ""), w.send("list roles", ""); one.Message.ID == two.Message.ID {
		t.Error("two messages without a key have one answer")
	}
}

func TestARepeatedKeyAnswersTheFirstFailure(t *testing.T) {
	var calls atomic.Int32
	w := newWorld(t, counting(&calls))
	first, again := w.send("fail", "key"), w.send("fail", "key")
	if first.Message != nil || first.Failure.Code != sqlc.TurnFailureCodeModelUnavailable {
		t.Fatalf("the first answer is %+v", first)
	}
	if again.Message != nil || *again.Failure != *first.Failure || again.UserMessage.ID != first.UserMessage.ID || calls.Load() != 1 {
		t.Errorf("the repeat answers %+v after %d calls", again, calls.Load())
	}
}

// answer is what a Send in another goroutine came to.
type answer struct {
	reply *assistant.Reply
	err   error
}

// sending sends under the key "key", in another goroutine.
func (w *world) sending(ctx context.Context, by *assistant.Assistant, content string) <-chan answer {
	sent := make(chan answer, 1)
	go func() {
		reply, err := by.Send(ctx, w.maria, w.conversation, content, "key")
		sent <- answer{reply, err}
	}()
	return sent
}

// held is a model that waits to be released, and says when it has begun.
func held(begun, release chan struct{}) script {
	return func(ctx context.Context, _ assistant.Prompt, _ assistant.Call) (string, error) {
		close(begun)
		select {
		case <-release:
			return "at last", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func TestARepeatWaitsForTheTurnThatRuns(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, held(begun, release))
	elsewhere := newServer(t, w.db, w.db.OpenPools(t), says("not me"))
	first := w.sending(t.Context(), w.Assistant, "hello")
	<-begun
	here := w.sending(t.Context(), w.Assistant, "hello")
	there := w.sending(t.Context(), elsewhere, "hello")
	until(t, "the repeat to attend", func() bool { return w.Waiting() == 2 })
	close(release)
	want := <-first
	for name, sent := range map[string]<-chan answer{"on this server": here, "on another": there} {
		if got := <-sent; got.err != nil || got.reply.Message.ID != want.reply.Message.ID || got.reply.Message.Content != "at last" {
			t.Errorf("the repeat %s: %+v, %v", name, got.reply, got.err)
		}
	}
	if n := one[int](w, `SELECT count(*)::int FROM turns`); n != 1 {
		t.Errorf("%d turns", n)
	}
}

func TestATurnGoesOnWhileARepeatWaits(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, held(begun, release))
	gone, leave := context.WithCancel(t.Context())
	first := w.sending(gone, w.Assistant, "hello")
	<-begun
	repeat := w.sending(t.Context(), w.Assistant, "hello")
	until(t, "the repeat to attend", func() bool { return w.Waiting() == 2 })
	leave()
	if got := <-first; !errors.Is(got.err, context.Canceled) {
		t.Errorf("who left got %+v, %v", got.reply, got.err)
	}
	close(release)
	if got := <-repeat; got.err != nil || got.reply.Message.Content != "at last" {
		t.Errorf("who stayed got %+v, %v", got.reply, got.err)
	}
}

func TestWhoWaitsForAnotherServersTurnCutsNothing(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, held(begun, release))
	elsewhere := newServer(t, w.db, w.db.OpenPools(t), says("not me"))
	first := w.sending(t.Context(), w.Assistant, "hello")
	<-begun
	hasty, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := <-w.sending(hasty, elsewhere, "hello"); got.err == nil {
		t.Errorf("the hasty repeat got %+v", got.reply)
	}
	close(release)
	if got := <-first; got.err != nil || got.reply.Message.Content != "at last" {
		t.Errorf("the first got %+v, %v", got.reply, got.err)
	}
}
