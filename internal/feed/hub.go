package feed

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
)

// Why the hub ends a seat, beside the reasons that identity gives.
var (
	// ErrLeaving says that this server stops: another one, or this one soon, takes the follower.
	ErrLeaving = errors.New("this server is going away")
	// ErrTooMany says that a credential has as many seats as it may have.
	ErrTooMany = errors.New("too many streams are open with this credential")
	// ErrUnread says that an event could not be read for a follower just now.
	ErrUnread = errors.New("an event could not be read just now")
	// ErrScope says that a token is not for following.
	ErrScope = &identity.Error{Code: "FORBIDDEN", Message: "This token has no scope to subscribe."}
)

// Limits bound what followers may ask of a server.
type Limits struct {
	// Seats is how many connections one credential may have at a time.
	Seats int
	// Check is how often rights are looked at again where nothing happens.
	Check time.Duration
}

// DefaultLimits are those of a server.
var DefaultLimits = Limits{Seats: 100, Check: 3 * time.Second}

const (
	// page is how many events are told in one go.
	page = 100
	// behind is how far back a follower may begin and be told by the hub; one from further back catches up on
	// its own first.
	behind = 1000
	// replays is how many followers catch up at a time.
	replays = 4
	// telling is how many groups are told at a time.
	telling = 4
)

// Hub tells the followers of one server what happens: each event is read once a workspace, made once for all
// who are told the same, and told to nobody whose rights were not looked at since it was read.
type Hub struct {
	feed   *Feed
	reader *pgxpool.Pool
	people *identity.Service
	limits Limits
	log    *slog.Logger
	joined chan struct{}
	replay chan struct{}

	mu      sync.Mutex
	ctx     context.Context // Run's, for what runs for followers
	running sync.WaitGroup
	closed  bool
	holders map[identity.Credential]*holder
	guests  map[Connection]struct{} // greeted, and without a seat
	rooms   map[id.Workspace]*room
}

// room is a workspace that is followed: where to read on from, and up to where anyone was told.
type room struct {
	read    Position
	told    Position
	current bool // there was nothing more to read
	groups  map[any]*group
	joining []*Follower
}

// group is followers who are told the same of an event.
type group struct {
	key     any
	members []*Follower
}

// holder is somebody with seats.
type holder struct {
	who   identity.Actor
	seats []*Seat
}

// NewHub makes a hub; it tells nothing until Run. reader is the pool under the login that only reads.
func NewHub(feed *Feed, reader *pgxpool.Pool, people *identity.Service, limits Limits, log *slog.Logger) *Hub {
	return &Hub{feed: feed, reader: reader, people: people, limits: limits, log: log, joined: make(chan struct{}, 1), replay: make(chan struct{}, replays),
		holders: map[identity.Credential]*holder{}, guests: map[Connection]struct{}{}, rooms: map[id.Workspace]*room{}}
}

// Run tells followers until ctx ends, and then leaves. A database that does not answer is asked
// again, and nothing is missed.
func (h *Hub) Run(ctx context.Context) {
	h.mu.Lock()
	h.ctx = ctx
	h.mu.Unlock()
	h.running.Go(func() { h.pulse(ctx) })
	defer h.running.Wait()
	defer h.Leave()
	idle := time.NewTicker(h.limits.Check)
	defer idle.Stop()
	pause := shortestPause
	for {
		changed, _ := h.feed.Changed()
		err := h.turn(ctx)
		wait := (<-chan time.Time)(nil)
		if err == nil {
			pause = shortestPause
		} else {
			if pause == shortestPause && ctx.Err() == nil {
				h.log.WarnContext(ctx, "followers were not told", "error", err)
			}
			wait, changed, pause = time.After(pause), nil, min(2*pause, longestPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-wait:
		case <-h.joined:
		case <-idle.C:
			if err := h.check(ctx, nil); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "the followers' rights were not looked at", "error", err)
			}
		}
	}
}

// turn tells everybody everything there is.
func (h *Hub) turn(ctx context.Context) error {
	failed := error(nil)
	for _, workspace := range h.followed() {
		for {
			more, err := h.tellRoom(ctx, workspace)
			if err != nil {
				failed = err
			}
			if !more || err != nil {
				break
			}
		}
	}
	return failed
}

func (h *Hub) followed() []id.Workspace {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]id.Workspace, 0, len(h.rooms))
	for workspace := range h.rooms {
		list = append(list, workspace)
	}
	return list
}

// check looks at rights again: those of a workspace's holders, or of all. Who has lost them is ended here.
func (h *Hub) check(ctx context.Context, in *id.Workspace) error {
	before := h.present(in)
	if len(before) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	now, err := h.standing(ctx, before)
	if err != nil {
		return err
	}
	h.mu.Lock()
	over := map[*Seat]error{}
	for _, who := range before {
		at := h.holders[identity.CredentialOf(who)]
		standing := now[identity.CredentialOf(who)]
		switch {
		case at == nil:
		case standing.Err == nil:
			at.who = standing.Who
		default:
			for _, seat := range at.seats {
				over[seat] = standing.Err
			}
		}
	}
	h.mu.Unlock()
	for seat, reason := range over {
		seat.end(reason, nil)
	}
	return nil
}

func (h *Hub) present(in *id.Workspace) []identity.Actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]identity.Actor, 0, len(h.holders))
	for _, holder := range h.holders {
		if in == nil || holder.who.Workspace().ID == *in {
			list = append(list, holder.who)
		}
	}
	return list
}

// pulse lets connections keep themselves alive.
func (h *Hub) pulse(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			for _, seat := range h.seats() {
				seat.conn.Pulse(now)
			}
		}
	}
}

func (h *Hub) seats() []*Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []*Seat{}
	for _, holder := range h.holders {
		list = append(list, holder.seats...)
	}
	return list
}

// wake makes Run look at who has joined.
func (h *Hub) wake() {
	select {
	case h.joined <- struct{}{}:
	default:
	}
}

func without[T comparable](list []T, one T) []T {
	i := slices.Index(list, one)
	if i < 0 {
		return list
	}
	list[i] = list[len(list)-1]
	clear(list[len(list)-1:])
	return list[:len(list)-1]
}
