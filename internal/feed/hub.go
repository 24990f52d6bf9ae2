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
	// Slow is how long those who are told together wait for what one group of them is told to be made. A group
	// that takes longer goes on by itself.
	Slow time.Duration
}

// DefaultLimits are those of a server.
var DefaultLimits = Limits{Seats: 100, Check: 3 * time.Second, Slow: 500 * time.Millisecond}

const (
	// page is how many events are told in one go; solo to a group that is slow.
	page, solo = 100, 10
	// replays is how many followers catch up at a time, and reads how many rooms read.
	replays, reads = 2, 2
	// making is for how many groups something is made at a time, and slowly for how many slow ones.
	making, slowly = 4, 2
)

// Hub tells the followers of one server what happens: each event is read once a workspace, made once for all
// who are told the same, and told to nobody whose rights were not looked at since it was made.
type Hub struct {
	feed   *Feed
	reader *pgxpool.Pool
	people *identity.Service
	limits Limits
	log    *slog.Logger
	replay chan struct{} // taken by who does it, as those below
	read   chan struct{}
	make   chan struct{}
	slowly chan struct{}

	ctx     context.Context // for what runs for followers; it ends with Run
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	holders map[holding]*holder
	seated  map[identity.Credential]int
	guests  map[Connection]struct{} // greeted, and without a seat
	rooms   map[id.Workspace]*room
	slow    map[slowKey]*room
}

// NewHub makes a hub; it ends nothing and leaves nobody until Run. reader is a pool under the login that only
// reads, whose connections those who follow may all take.
func NewHub(feed *Feed, reader *pgxpool.Pool, people *identity.Service, limits Limits, log *slog.Logger) *Hub {
	h := &Hub{feed: feed, reader: reader, people: people, limits: limits, log: log,
		replay: make(chan struct{}, replays), read: make(chan struct{}, reads), make: make(chan struct{}, making), slowly: make(chan struct{}, slowly),
		holders: map[holding]*holder{}, seated: map[identity.Credential]int{}, guests: map[Connection]struct{}{},
		rooms: map[id.Workspace]*room{}, slow: map[slowKey]*room{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Run tells followers until ctx ends, and then leaves. A database that does not answer is asked
// again, and nothing is missed.
func (h *Hub) Run(ctx context.Context) {
	h.running.Go(func() { h.pulse(h.ctx) })
	h.running.Go(func() { h.watch(h.ctx) })
	<-ctx.Done()
	h.Leave()
	h.stop()
	h.running.Wait()
}

// watch looks at rights now and then, whatever else goes on.
func (h *Hub) watch(ctx context.Context) {
	idle := time.NewTicker(h.limits.Check)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-idle.C:
		}
		if err := h.check(ctx, nil); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "the followers' rights were not looked at", "error", err)
		}
	}
}

// take waits for a place in a channel that is as large as there are places; it is given back by receiving.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
	for seat, reason := range h.judge(before, now) {
		seat.end(reason, nil)
	}
	return nil
}

// judge gives the seats that are lost, and notes what the others may now.
func (h *Hub) judge(before []identity.Actor, now map[holding]identity.Standing) map[*Seat]error {
	h.mu.Lock()
	defer h.mu.Unlock()
	over := map[*Seat]error{}
	for _, who := range before {
		at, standing := h.holders[holdingOf(who)], now[holdingOf(who)]
		switch {
		case at == nil:
		case standing.Err == nil:
			at.who.Store(&standing.Who)
		default:
			for _, seat := range at.seats {
				over[seat] = standing.Err
			}
		}
	}
	return over
}

func (h *Hub) present(in *id.Workspace) []identity.Actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]identity.Actor, 0, len(h.holders))
	for key, holder := range h.holders {
		if in == nil || key.workspace == *in {
			list = append(list, *holder.who.Load())
		}
	}
	return list
}

// standing is identity's, for followers: a token that may no longer subscribe is over too. Identity tells of a
// credential once: one that follows in two workspaces, after a change between them, is asked about twice.
func (h *Hub) standing(ctx context.Context, before []identity.Actor) (map[holding]identity.Standing, error) {
	now := make(map[holding]identity.Standing, len(before))
	for len(before) > 0 {
		some, rest, asked := []identity.Actor{}, []identity.Actor{}, map[identity.Credential]bool{}
		for _, who := range before {
			if c := identity.CredentialOf(who); asked[c] {
				rest = append(rest, who)
			} else {
				some, asked[c] = append(some, who), true
			}
		}
		found, err := h.people.Standing(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, who := range some {
			one := found[identity.CredentialOf(who)]
			if one.Err == nil && !one.Who.May(identity.ScopeSubscribe) {
				one = identity.Standing{Err: ErrScope}
			}
			now[holdingOf(who)] = one
		}
		before = rest
	}
	return now, nil
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

func without[T comparable](list []T, one T) []T {
	i := slices.Index(list, one)
	if i < 0 {
		return list
	}
	list[i] = list[len(list)-1]
	clear(list[len(list)-1:])
	return list[:len(list)-1]
}
