package assistant

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/id"
)

// SetTimes lets a test have a turn's time run out.
func (a *Assistant) SetTimes(limit, lease, renewal time.Duration) {
	a.times.limit, a.times.lease, a.times.renewal = limit, lease, renewal
}

// Waiting is how many wait for the turns that run here.
func (a *Assistant) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, t := range a.running {
		n += t.waiting
	}
	return n
}

// End ends a turn badly, as if its answer had been cut short.
func (a *Assistant) End(ctx context.Context, workspace id.Workspace, conversation id.Conversation, which id.Turn) error {
	return a.end(ctx, workspace, conversation, which, failureOf(errNobodyWaits))
}
