package feed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/postgres"
)

// A inserts, B inserts and commits, the reader reads, A commits: A's event comes, once.
func TestWhatCommitsLateIsNotReadPast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.run(w.db.Pools)
	a := w.begin(w.mill)
	early := w.write(a, w.mill, w.proposal(w.mill, 0))
	first := w.only(f, w.mill, feed.Oldest, w.event(w.mill, w.proposal(w.mill, 0)))
	w.commit(a)
	f.Wake()
	second := w.only(f, w.mill, first.Position, early)
	if items, err := f.Since(t.Context(), w.as(w.mill), second.Position, 10); err != nil || len(items) > 0 {
		t.Errorf("then came %+v, %v", items, err)
	}
}

func TestAnItemIsItsEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.run(w.db.Pools)
	p := w.proposal(w.mill, 1)
	before, err := f.Head(t.Context(), w.mill)
	if err != nil {
		t.Fatal(err)
	}
	got := w.only(f, w.mill, before, w.event(w.mill, p))
	if got.Proposal != p || got.Workspace != w.mill || got.ActingUser != w.maria || !got.RequiresApproval || got.Type != "extended" || got.Status != "pending" || got.Now != "pending" ||
		got.ApproverRole != "approver" || got.Shared || got.ActionKind != "record_update" || len(got.Deciders) > 0 || got.Entity != "core.role" || got.Operation != "update" || !got.Actor.IsZero() || !got.Conversation.IsZero() || got.At.IsZero() {
		t.Errorf("got %+v", got)
	}
	if head, err := f.Head(t.Context(), w.mill); err != nil || head != got.Position {
		t.Errorf("the head is %d, %v, not %d", head, err, got.Position)
	}
	if _, last := f.Changed(); last != got.Position {
		t.Errorf("the last known is %d, not %d", last, got.Position)
	}
}

// A rolled-back deed has no event.
func TestWhatIsRolledBackNeverCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.run(w.db.Pools)
	p := w.proposal(w.mill, 0)
	tx := w.begin(w.mill)
	w.write(tx, w.mill, p)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.only(f, w.mill, feed.Oldest, w.event(w.mill, p))
}

// What is deleted from the feed is told, exactly, to whom it concerns.
func TestWhoMissedWhatIsNotKeptIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.run(w.db.Pools)
	kept, goes, elsewhere := w.proposal(w.mill, 0), w.proposal(w.mill, 0), w.proposal(w.other, 0)
	far := w.only(f, w.other, feed.Oldest, w.event(w.other, elsewhere))
	first := w.only(f, w.mill, feed.Oldest, w.event(w.mill, kept))
	second := w.only(f, w.mill, first.Position, w.event(w.mill, goes))
	third := w.only(f, w.mill, second.Position, w.event(w.mill, kept))
	fourth := w.only(f, w.mill, third.Position, w.event(w.mill, goes))
	w.delete(goes)
	for _, c := range []struct {
		workspace id.Workspace
		after     feed.Position
		want      int
		err       error
	}{
		{w.mill, feed.Oldest, 2, nil},
		{w.mill, 0, 0, feed.ErrExpired},
		{w.mill, first.Position, 0, feed.ErrExpired},
		{w.mill, third.Position, 0, feed.ErrExpired},
		{w.mill, fourth.Position, 0, nil},
		{w.mill, fourth.Position + 1000, 0, feed.ErrExpired}, // never given: the database is an older one
		{w.other, 0, 1, nil},
		{w.other, far.Position, 0, nil},
		{w.other, fourth.Position, 0, nil},
	} {
		items, err := f.Since(t.Context(), w.as(c.workspace), c.after, 10)
		if len(items) != c.want || !errors.Is(err, c.err) {
			t.Errorf("after %d: %d items, %v; want %d, %v", c.after, len(items), err, c.want, c.err)
		}
	}
	if head, err := f.Head(t.Context(), w.mill); err != nil || head != fourth.Position {
		t.Errorf("the head is %d, %v, not %d", head, err, fourth.Position)
	}
	fifth := w.only(f, w.mill, fourth.Position, w.event(w.mill, kept))
	if fifth.Position <= fourth.Position {
		t.Errorf("position %d was given again after %d", fifth.Position, fourth.Position)
	}
}

// An event that is gone before it got a position holds up nobody.
func TestAnEventMayBeGoneBeforeItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	goes := w.proposal(w.mill, 0)
	w.event(w.mill, goes)
	w.delete(goes)
	next := w.event(w.mill, w.proposal(w.mill, 0))
	w.only(w.run(w.db.Pools), w.mill, feed.Oldest, next)
}

func (w *world) delete(p id.Proposal) {
	w.t.Helper()
	if _, err := w.db.Owner.Exec(w.t.Context(), `DELETE FROM proposals WHERE id = $1`, p); err != nil {
		w.t.Fatal(err)
	}
}

// Nobody is notified by a deed; the sequencer notifies.
func TestADeedDoesNotNotify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, err := w.db.Pools.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `LISTEN countersign_feed`); err != nil {
		t.Fatal(err)
	}
	w.event(w.mill, w.proposal(w.mill, 0))
	if _, err := w.db.Owner.Exec(t.Context(), `NOTIFY countersign_feed, 'nothing before this'`); err != nil {
		t.Fatal(err)
	}
	if said, err := conn.WaitForNotification(t.Context()); err != nil || said.Payload != "nothing before this" {
		t.Fatalf("heard %+v, %v", said, err)
	}
	w.run(w.db.Pools)
	if said, err := conn.WaitForNotification(t.Context()); err != nil || said.Payload == "" {
		t.Fatalf("heard %+v, %v", said, err)
	}
	var notifies []string
	w.scan(`SELECT array_agg(proname::text) FROM pg_catalog.pg_proc WHERE pronamespace = 'countersign'::regnamespace AND prosrc ~* 'notify'`, &notifies)
	if len(notifies) != 1 || notifies[0] != "sequence_feed" {
		t.Errorf("these functions notify: %v", notifies)
	}
}

// Another server that did not give the position hears of it, also after its listener was cut.
func TestAnotherServerHears(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, there := w.run(w.db.Pools), w.run(w.db.OpenPools(t))
	p, at := w.proposal(w.mill, 0), feed.Oldest
	for range 3 {
		e := w.event(w.mill, p)
		here.Wake()
		at = w.only(there, w.mill, at, e).Position
		w.cut("countersign listener")
	}
}

// cut ends the sessions that say they are this.
func (w *world) cut(application string) {
	w.t.Helper()
	conn, err := postgres.ConnectOwner(w.t.Context(), w.db.SuperuserURL)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) }()
	_, err = conn.Exec(w.t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND application_name = $1`, application)
	if err != nil {
		w.t.Fatal(err)
	}
}
