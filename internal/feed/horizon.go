package feed

import (
	"slices"
	"time"
)

// horizon is how far the queue is known to be empty. It is there because rows that were deleted are walked
// over until they are vacuumed, and cannot be vacuumed while anyone in the server has an old transaction
// open. A seq may be skipped only when its transaction has ended, or an event would be left behind its
// proposal's later ones. So: whoever had taken a seq up to the highest seen was writing to the queue then;
// when all of those have ended, the next look that sees the queue's whole rest leaves nothing there.
type horizon struct {
	empty   int64    // nothing is at or below, nor will be
	ended   int64    // those at or below have ended; not all were looked for since
	top     int64    // the highest seen
	next    int64    // becomes ended when writers have
	writers []string // of those who wrote when next was the highest, who still do

	looked, whole time.Time
}

const (
	// walk is how many deleted rows are walked over without a thought.
	walk = 1000
	// every so often, at most, it is asked who writes.
	everySo = 250 * time.Millisecond
	// now and then the queue is read from its beginning, whatever is known of it.
	nowAndThen = time.Minute
)

// due says that it is worth asking who writes.
func (h *horizon) due(now time.Time) bool {
	if h.top-h.empty < walk || now.Sub(h.looked) < everySo {
		return false
	}
	h.looked = now
	return true
}

// look takes who writes to the queue now.
func (h *horizon) look(writers []string) {
	h.writers = slices.DeleteFunc(h.writers, func(one string) bool { return !slices.Contains(writers, one) })
	if len(h.writers) > 0 {
		return
	}
	h.ended, h.next, h.writers = h.next, h.top, writers
}

// from gives the seq after which the queue is to be read.
func (h *horizon) from(now time.Time) int64 {
	if now.Sub(h.whole) < nowAndThen {
		return h.empty
	}
	h.whole = now
	return 0
}

// took says what a look at the queue, from there on, took out: up to which seq, and whether that was all.
func (h *horizon) took(top int64, all bool) {
	h.top = max(h.top, top)
	if all {
		h.empty = max(h.empty, h.ended)
	}
}
