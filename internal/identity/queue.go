package identity

import "context"

// queue lets one sign-in of an account through at a time, on this server: each then sees what became of
// the one before, so that right passwords sent all at once do not count as guesses. Accounts share its
// places by their hash.
type queue [64]chan struct{}

func newQueue() *queue {
	q := &queue{}
	for i := range q {
		q[i] = make(chan struct{}, 1)
	}
	return q
}

// enter waits for the account's place; leave gives it back.
func (q *queue) enter(ctx context.Context, account []byte) (leave func(), err error) {
	place := q[int(account[0])%len(q)]
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
}
