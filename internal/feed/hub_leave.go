package feed

import (
	"maps"
	"slices"
)

// Greet has a connection that has no seat yet told where this server goes away; false where it goes already.
// It holds until Take gives the connection a seat, or until Forget.
func (h *Hub) Greet(conn Connection) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.guests[conn] = struct{}{}
	}
	return !h.closed
}

// Forget is for a connection that was greeted and has gone. It may have a seat.
func (h *Hub) Forget(conn Connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.guests, conn)
}

// Leave ends every seat with ErrLeaving, and gives no more of them. It may be called again.
func (h *Hub) Leave() {
	h.mu.Lock()
	h.closed = true
	guests := slices.Collect(maps.Keys(h.guests))
	clear(h.guests)
	h.mu.Unlock()
	for _, conn := range guests {
		conn.Ended(ErrLeaving, nil)
	}
	for _, seat := range h.seats() {
		seat.end(ErrLeaving, nil)
	}
}
