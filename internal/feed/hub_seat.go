package feed

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
)

// Connection is what has a seat. Neither of its methods waits.
type Connection interface {
	// Ended is called once where the hub takes the seat away: with identity's reason, ErrScope, ErrSlow, ErrGone,
	// ErrUnread or ErrLeaving, and where events were lost with the position after which to resume.
	Ended(reason error, resume *Position)
	// Pulse is called about every second.
	Pulse(now time.Time)
}

// holding is what seats are held by: a credential, in the workspace where it acted when it took them.
type holding struct {
	credential identity.Credential
	workspace  id.Workspace
}

func holdingOf(who identity.Actor) holding {
	return holding{identity.CredentialOf(who), who.Workspace().ID}
}

// holder is somebody with seats.
type holder struct {
	key   holding
	who   atomic.Pointer[identity.Actor] // as they were when that was last looked at
	seats []*Seat
}

// Seat is one connection of somebody who follows. Their rights are looked at as long as they have it.
type Seat struct {
	hub    *Hub
	holder *holder
	conn   Connection
	over   bool
	follow []*Follower
}

// Take gives somebody a seat, or the reason of Refuses. It is to be given back by Leave.
func (h *Hub) Take(who identity.Actor, conn Connection) (*Seat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.refuses(who); err != nil {
		return nil, err
	}
	key := holdingOf(who)
	at := h.holders[key]
	if at == nil {
		at = &holder{key: key}
		h.holders[key] = at
	}
	at.who.Store(&who)
	h.seated[key.credential]++
	seat := &Seat{hub: h, holder: at, conn: conn}
	at.seats = append(at.seats, seat)
	delete(h.guests, conn)
	return seat, nil
}

// Refuses tells why somebody would get no seat now: ErrTooMany or ErrLeaving.
func (h *Hub) Refuses(who identity.Actor) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refuses(who)
}

func (h *Hub) refuses(who identity.Actor) error {
	switch {
	case h.closed:
		return ErrLeaving
	case h.seated[identity.CredentialOf(who)] >= h.limits.Seats:
		return ErrTooMany
	}
	return nil
}

// Who gives whose seat it is, with the rights they had when these were last looked at.
func (s *Seat) Who() identity.Actor { return *s.holder.who.Load() }

// Now gives whose seat it is, with the rights they have now; where they have none the seat is taken away.
func (s *Seat) Now(ctx context.Context) (identity.Actor, error) {
	before := s.Who()
	now, err := s.hub.standing(ctx, []identity.Actor{before})
	if err != nil {
		return nil, err
	}
	mine := now[holdingOf(before)]
	if mine.Err != nil {
		s.end(mine.Err, nil)
	}
	return mine.Who, mine.Err
}

// Leave gives the seat back; its followers are told nothing more. It may be called again.
func (s *Seat) Leave() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.leave()
}

// leave is called with the hub's lock; false where the seat was given back before.
func (s *Seat) leave() bool {
	if s.over {
		return false
	}
	s.over = true
	for _, f := range s.follow {
		s.hub.drop(f)
	}
	s.follow = nil
	s.holder.seats = without(s.holder.seats, s)
	if len(s.holder.seats) == 0 {
		delete(s.hub.holders, s.holder.key)
	}
	if s.hub.seated[s.holder.key.credential]--; s.hub.seated[s.holder.key.credential] == 0 {
		delete(s.hub.seated, s.holder.key.credential)
	}
	return true
}

// end takes the seat away.
func (s *Seat) end(reason error, resume *Position) {
	s.hub.mu.Lock()
	first := s.leave()
	s.hub.mu.Unlock()
	if first {
		s.conn.Ended(reason, resume)
	}
}
