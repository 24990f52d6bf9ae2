package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

// EventsConfig is what the stream of events stands on.
type EventsConfig struct {
	Authenticator *Authenticator
	Feed          *feed.Feed
	Hub           *feed.Hub
	// Sight says what someone sees.
	Sight func(identity.Actor) gate.Sight
	// Reader is the pool under the login that only reads; Streams stands in for it where events are made.
	Reader, Streams *pgxpool.Pool
	// KeepAlive is how often a stream that is idle says something; zero for the usual.
	KeepAlive time.Duration
}

// usualKeepAlive is well within what proxies wait for. The console's script counts on it.
const usualKeepAlive = 25 * time.Second

// Events serves GET /events, the feed as server-sent events for EventSource: of each change of a proposal that
// one may see what it was and of which, and nothing of what is on the card.
type Events struct {
	EventsConfig
	queries *sqlc.Queries
}

// NewEvents gives the route, to be mounted at "/events". It finds out itself who asks.
func NewEvents(config EventsConfig) http.Handler {
	if config.KeepAlive == 0 {
		config.KeepAlive = usualKeepAlive
	}
	e := &Events{EventsConfig: config, queries: sqlc.New()}
	mux := http.NewServeMux()
	mux.Handle("GET /events", config.Authenticator.guardStream(config.Authenticator.Middleware(http.HandlerFunc(e.serve))))
	mux.Handle("/events", allow("GET"))
	return mux
}

// guardStream answers 403 to another site's page: it could read nothing, but would take a seat of the person's.
func (a *Authenticator) guardStream(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		deed := *r
		deed.Method = http.MethodPost // a GET is let through from anywhere
		if a.identity.ByCookie(r) && a.origin.Check(&deed) != nil {
			a.fail(w, r, errOtherOrigin)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve refuses with a status whatever it can tell before the stream begins: an EventSource does not come back
// then.
func (e *Events) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		return
	}
	who, after, err := e.asked(r)
	if err != nil {
		e.Authenticator.fail(w, r, sayable(err))
		return
	}
	l := &listener{Events: e}
	l.stream = feed.OpenStream(w, r, e.KeepAlive, func() {})
	if err := l.follow(r.Context(), who, after); err != nil {
		l.Ended(err, nil)
	}
	l.stream.Wait()
}

// asked gives who follows and from where on: after the last event that the browser had, after the cursor in the
// address, or from now on.
func (e *Events) asked(r *http.Request) (identity.Actor, feed.Position, error) {
	who, err := identity.Who(r.Context())
	if err != nil {
		return nil, 0, err
	}
	if !who.May(identity.ScopeSubscribe) {
		return nil, 0, feed.ErrScope
	}
	if err := e.Hub.Refuses(who); errors.Is(err, feed.ErrTooMany) {
		return nil, 0, err
	}
	if asked := r.URL.Query()["after"]; len(asked) > 0 && asked[0] == "" {
		return nil, 0, feed.ErrInvalid // a cursor was meant, and was lost on the way here
	}
	after, err := e.beginning(r.Context(), who, r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	return who, after, err
}

// beginning gives the first of these cursors that is there as a position, and the feed's end where none is. It is
// feed.ErrExpired where what came after it is not kept any more.
func (e *Events) beginning(ctx context.Context, who identity.Actor, cursors ...string) (feed.Position, error) {
	for _, cursor := range cursors {
		if cursor == "" {
			continue
		}
		after, err := feed.ParseCursor(cursor)
		if err == nil {
			_, err = e.Feed.Since(ctx, postgres.As(e.Reader, who.Workspace().ID), after, 1)
		}
		return after, err
	}
	return e.Feed.Head(ctx, who.Workspace().ID)
}

// shows tells whether an event is for someone, by their rights now.
func (e *Events) shows(who identity.Actor, i *feed.Item) bool {
	return e.Sight(who).Sees(gate.Seen{ActingUser: i.ActingUser, RequiresApproval: i.RequiresApproval, ApproverRole: i.ApproverRole, Shared: i.Shared, Entity: i.Entity})
}

// sayable gives the reasons of the feed the contract's codes, and sentences.
func sayable(err error) error {
	switch {
	case errors.Is(err, feed.ErrInvalid):
		return &identity.Error{Code: "CURSOR_INVALID", Field: "after", Message: "This is not a cursor of the feed."}
	case errors.Is(err, feed.ErrExpired):
		return &identity.Error{Code: "CURSOR_EXPIRED", Field: "after", Message: "What came after this cursor is not kept any more. Load anew, and follow from there."}
	case errors.Is(err, feed.ErrTooMany):
		return &identity.Error{Code: "RATE_LIMITED", Message: "Too many streams are open with this credential."}
	}
	return err
}
