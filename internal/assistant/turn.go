package assistant

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// turn is one message being answered on this server.
type turn struct {
	id       id.Turn
	who      identity.Actor
	question question
	cancel   context.CancelCauseFunc // ends its own life, which is not that of the request that began it
	done     chan struct{}
	waiting  int // who waits for it; under the assistant's lock

	mu        sync.Mutex
	over      bool
	calls     sync.WaitGroup
	citations []toolcall.Citation
	proposals int
	broken    error
}

// newTurn makes a turn known on this server. Its life begins with one who waits for it.
func (a *Assistant) newTurn(which id.Turn, who identity.Actor, q question, cancel context.CancelCauseFunc) *turn {
	t := &turn{id: which, who: who, question: q, cancel: cancel, done: make(chan struct{}), waiting: 1}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[which] = t
	return t
}

// attach is one more who waits for a turn; nil where it does not run here, or is being cut short already.
func (a *Assistant) attach(which id.Turn) *turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.running[which]
	if t == nil || t.waiting == 0 {
		return nil
	}
	t.waiting++
	return t
}

// leave is one less. True: it was the last.
func (a *Assistant) leave(t *turn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.waiting--
	return t.waiting == 0
}

func (a *Assistant) forget(t *turn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, t.id)
	t.cancel(errOver)
	close(t.done)
}

// call runs a tool of the turn, in its name and for its person, and keeps what the answer will rest on.
func (a *Assistant) call(ctx context.Context, t *turn) Call {
	return func(tool string, input json.RawMessage) (*toolcall.Result, error) {
		if !t.begin() {
			return nil, errOver
		}
		defer t.calls.Done()
		from := toolcall.Origin{Channel: sqlc.ChannelChat, Conversation: t.question.conversation, Turn: t.id}
		result, err := a.tools.Run(ctx, t.who, from, tool, input)
		t.keep(result, err)
		return result, err
	}
}

func (t *turn) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.calls.Add(1)
	return true
}

func (t *turn) keep(result *toolcall.Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if t.broken == nil {
			t.broken = internalError{err}
		}
		return
	}
	if result.Proposal != nil {
		t.proposals++
	}
	for _, c := range result.Citations() {
		if !slices.Contains(t.citations, c) {
			t.citations = append(t.citations, c)
		}
	}
}

// close lets no further call begin, and waits for those that have.
func (t *turn) close(ctx context.Context) {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	ended := make(chan struct{})
	go func() { defer close(ended); t.calls.Wait() }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
