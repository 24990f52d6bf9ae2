package feed_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// hub starts one that ends with the test.
func (w *world) hub(f *feed.Feed, limits feed.Limits) *feed.Hub {
	h := feed.NewHub(f, w.db.Pools.Streams, identity.New(w.db.Pools.Identity, identity.Cookie{}), limits, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	w.t.Cleanup(func() { stop(); running.Wait() })
	return h
}

// seldom looks at rights only where something is told, and waits for groups that are slow.
var seldom = feed.Limits{Seats: 100, Check: time.Hour, Slow: patience}

// ear is a follower and its connection. made, where it is there, is called before anything is made for it, and ready
// before it is told more of what happened before.
type ear struct {
	t     testing.TB
	made  func(items []*feed.Item)
	ready func()
	full  int // how often it takes no more
	size  int
	told  chan feed.Position
	ended chan error
}

func (w *world) ear() *ear {
	return &ear{t: w.t, told: make(chan feed.Position, 100_000), ended: make(chan error, 1), size: 1}
}

func (e *ear) Group() any                            { return e }
func (e *ear) Wants(identity.Actor, *feed.Item) bool { return true }
func (e *ear) Expired()                              { e.ended <- feed.ErrExpired }
func (e *ear) Ended(reason error, _ *feed.Position)  { e.ended <- reason }
func (e *ear) Pulse(time.Time)                       {}
func (e *ear) Make(_ context.Context, _ identity.Actor, items []*feed.Item) ([][]byte, error) {
	if e.made != nil {
		e.made(items)
	}
	bodies := make([][]byte, len(items))
	for i := range bodies {
		bodies[i] = make([]byte, e.size)
	}
	return bodies, nil
}

func (e *ear) Tell(told []*feed.Told) error {
	if e.full--; e.full >= 0 {
		return feed.ErrSlow
	}
	for _, t := range told {
		e.told <- t.Position
	}
	return nil
}

func (e *ear) Ready(context.Context) error {
	if e.ready != nil {
		e.ready()
	}
	return nil
}

// hears wants it to be told so many, one after the other.
func (e *ear) hears(n int) (last feed.Position) {
	e.t.Helper()
	late := time.After(patience)
	for range n {
		select {
		case at := <-e.told:
			if at <= last {
				e.t.Fatalf("told of %d after %d", at, last)
			}
			last = at
		case err := <-e.ended:
			e.t.Fatalf("ended: %v", err)
		case <-late:
			e.t.Fatal("it is not told")
		}
	}
	return last
}

func (e *ear) ends(want error) {
	e.t.Helper()
	select {
	case err := <-e.ended:
		if !errors.Is(err, want) {
			e.t.Errorf("ended with %v, not with %v", err, want)
		}
	case <-time.After(patience):
		e.t.Fatal("it goes on")
	}
	if len(e.told) > 0 {
		e.t.Errorf("told of %d events", len(e.told))
	}
}

func follows(h *feed.Hub, who identity.Actor, e *ear, after *feed.Position) {
	e.t.Helper()
	seat, err := h.Take(who, e)
	if err == nil {
		_, err = seat.Follow(e.t.Context(), e, after)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// blocked has it say when something is about to be made for it, and wait until the test has ended or lets it go on.
func (e *ear) blocked() (begun chan struct{}, goOn func()) {
	begun, open := make(chan struct{}, 1), make(chan struct{})
	goOn = sync.OnceFunc(func() { close(open) })
	e.t.Cleanup(goOn)
	e.made = func([]*feed.Item) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-open
	}
	return begun, goOn
}

// What is made takes a while. A right that is lost meanwhile is lost for it too.
func TestNothingIsToldOnceTheRightIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, p := w.run(w.db.Pools), w.proposal(w.mill, 0)
	for name, back := range map[string]bool{"live": false, "catching up": true} {
		t.Run(name, func(t *testing.T) {
			h := w.hub(f, feed.Limits{Seats: 100, Check: time.Hour, Slow: patience})
			sam := w.db.Agent(t, "sam@harbor.example", "subscribe")
			e, after := w.ear(), (*feed.Position)(nil)
			e.t = t
			begun, goOn := e.blocked()
			if back {
				head, err := f.Head(t.Context(), w.mill)
				if err != nil {
					t.Fatal(err)
				}
				after = &head
				w.event(w.mill, p)
				w.drained(f)
			}
			follows(h, sam, e, after)
			if !back {
				w.event(w.mill, p)
			}
			<-begun
			if _, err := w.db.Owner.Exec(t.Context(), `UPDATE api_tokens SET revoked_at = clock_timestamp() WHERE id = $1`, sam.Token()); err != nil {
				t.Fatal(err)
			}
			goOn()
			e.ends(identity.ErrUnauthenticated)
		})
	}
}

// Rights are looked at while something is made, and by whichever follower it takes long.
func TestRightsAreLookedAtWhateverElseGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, p := w.run(w.db.Pools), w.proposal(w.mill, 0)
	h := w.hub(f, feed.Limits{Seats: 100, Check: time.Millisecond, Slow: patience})
	stuck, idle := w.ear(), w.ear()
	begun, _ := stuck.blocked()
	sam := w.db.Agent(t, "sam@harbor.example", "subscribe")
	follows(h, w.db.Agent(t, "maria@harbor.example", "subscribe"), stuck, nil)
	w.event(w.mill, p)
	<-begun
	follows(h, sam, idle, nil)
	if _, err := w.db.Owner.Exec(t.Context(), `UPDATE api_tokens SET revoked_at = clock_timestamp() WHERE id = $1`, sam.Token()); err != nil {
		t.Fatal(err)
	}
	idle.ends(identity.ErrUnauthenticated)
}

// Who comes back to some while ago catches up alone, however many do and however slowly.
func TestThoseWhoComeBackHoldUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, p := w.run(w.db.Pools), w.proposal(w.mill, 0)
	start := w.only(f, w.mill, feed.Oldest, w.event(w.mill, p)).Position
	w.many(p, 300)
	w.drained(f)
	h := w.hub(f, seldom)
	maria, steady := w.db.Agent(t, "maria@harbor.example", "subscribe"), w.ear()
	follows(h, maria, steady, nil)
	back, goOn := []*ear{}, []func(){}
	for i := range 8 {
		e := w.ear()
		begun, open := e.blocked()
		back, goOn = append(back, e), append(goOn, open)
		follows(h, maria, e, &start)
		if i == 0 {
			<-begun
		}
		w.event(w.mill, p)
		f.Wake()
		steady.hears(1)
	}
	for _, open := range goOn {
		open()
	}
	for _, e := range back {
		e.hears(308)
	}
	w.event(w.mill, p)
	for _, e := range append(back, steady) {
		e.hears(1)
	}
}

// A group for which it takes long is waited for once, and then goes on by itself; other workspaces never wait.
func TestASlowGroupHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, here, there := w.run(w.db.Pools), w.proposal(w.mill, 0), w.proposal(w.other, 0)
	h := w.hub(f, feed.Limits{Seats: 100, Check: time.Hour, Slow: time.Second})
	maria := w.db.Agent(t, "maria@harbor.example", "subscribe")
	slow, quick, far := w.ear(), w.ear(), w.ear()
	begun, goOn := slow.blocked()
	follows(h, maria, slow, nil)
	follows(h, maria, quick, nil)
	follows(h, w.db.Agent(t, "olu@othersite.example", "subscribe"), far, nil)
	for i := range 3 {
		w.event(w.mill, here)
		w.event(w.other, there)
		f.Wake()
		quick.hears(1)
		far.hears(1)
		if i == 0 {
			<-begun
		}
	}
	goOn()
	slow.hears(3)
	later := w.ear()
	later.made = slow.made
	follows(h, maria, later, nil)
	w.event(w.mill, here)
	for _, e := range []*ear{slow, quick, later} {
		e.hears(1)
	}
}

// Nothing is made for one that catches up before it has read what was made for it before.
func TestWhoCatchesUpHoldsLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, p := w.run(w.db.Pools), w.proposal(w.mill, 0)
	start := w.only(f, w.mill, feed.Oldest, w.event(w.mill, p)).Position
	w.many(p, 250)
	w.drained(f)
	h := w.hub(f, seldom)
	e := w.ear()
	e.size = 100_000
	made := 0
	e.made = func(items []*feed.Item) {
		if made += len(items); len(items) > 10 {
			t.Errorf("%d bodies of 100 kB are made in one go", len(items))
		}
	}
	told := make(chan feed.Position, 1000)
	e.told = told
	e.ready = func() {
		if waiting := made - len(told); waiting != 0 {
			t.Errorf("%d bodies of 100 kB are held while it is waited for", waiting)
		}
	}
	follows(h, w.db.Agent(t, "maria@harbor.example", "subscribe"), e, &start)
	for late := time.After(patience); len(told) < 250; {
		select {
		case <-late:
			t.Fatalf("told of %d", len(told))
		case <-time.After(time.Millisecond):
		}
	}
}

// Much else may be sent over its connection: it waits for that, and is not too slow.
func TestWhoCatchesUpWaitsForRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, p := w.run(w.db.Pools), w.proposal(w.mill, 0)
	start := w.only(f, w.mill, feed.Oldest, w.event(w.mill, p)).Position
	w.many(p, 20)
	w.drained(f)
	e := w.ear()
	e.full = 3
	follows(w.hub(f, seldom), w.db.Agent(t, "maria@harbor.example", "subscribe"), e, &start)
	e.hears(20)
}

// Whoever goes to another workspace and follows there is not ended for following here before.
func TestFollowingInAnotherWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, here, there := w.run(w.db.Pools), w.proposal(w.mill, 0), w.proposal(w.other, 0)
	h := w.hub(f, seldom)
	people := identity.New(w.db.Pools.Identity, identity.Cookie{})
	token := w.db.Bearer(t, "maria@harbor.example")
	who := func() identity.Actor {
		a, err := people.Authenticate((&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}}).WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	before, after := w.ear(), w.ear()
	follows(h, who(), before, nil)
	for _, statement := range []string{
		`INSERT INTO memberships (user_id, workspace_id, role) SELECT u.id, s.id, 'member' FROM users u, workspaces s WHERE u.email = 'maria@harbor.example' AND s.slug = 'other-site'`,
		`UPDATE sign_ins SET workspace_id = (SELECT id FROM workspaces WHERE slug = 'other-site')`,
	} {
		if _, err := w.db.Owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	follows(h, who(), after, nil)
	w.event(w.mill, here)
	before.ends(identity.ErrNoWorkspace)
	w.event(w.other, there)
	after.hears(1)
}
