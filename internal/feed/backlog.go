package feed

import "time"

// overdue is how long the queue may hold something before that is said.
const overdue = 30 * time.Second

// backlog is since when the queue has not been empty. It is said once, and once more when that is over.
type backlog struct {
	empty time.Time
	said  bool
}

// look takes whether the queue is empty now. late is for how long it has not been, where that is to be said;
// over says that it was said before and is past.
func (b *backlog) look(now time.Time, empty bool) (late time.Duration, over bool) {
	if empty {
		over = b.said
		b.empty, b.said = now, false
		return 0, over
	}
	if late = now.Sub(b.empty); b.said || late < overdue {
		return 0, false
	}
	b.said = true
	return late, false
}
