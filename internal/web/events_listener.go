package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
)

// listener is one connection that is told events: a feed.Subscriber and the feed.Connection it has a seat for.
type listener struct {
	*Events
	stream *feed.Stream
}

// follow has the hub tell the listener what happens after a position. It says first where that is: a browser
// comes back with it, also where it was told nothing.
func (l *listener) follow(ctx context.Context, who identity.Actor, after feed.Position) error {
	_ = l.stream.Send(feed.Frame{Bytes: append(feed.RetryLine(), "id: "+after.Cursor()+"\n\n"...)}) // who has gone is found out by the read
	return l.stream.Follow(ctx, l.Hub, who, l, &after)
}

// Group is equal for all: everyone who may see an event is told the same of it.
func (l *listener) Group() any { return l.Events }

// Wants tells whether somebody may see an event.
func (l *listener) Wants(who identity.Actor, item *feed.Item) bool { return l.shows(who, item) }

// change is an event as it is told: which proposal to look at, and nothing of it.
type change struct {
	Cursor     string      `json:"cursor"`
	Type       string      `json:"type"`
	At         time.Time   `json:"at"`
	ProposalID id.Proposal `json:"proposalId"`
	Number     int64       `json:"number,omitempty"`
	Status     string      `json:"status"`
}

// Make makes what all are told of some events, in one statement.
func (l *listener) Make(ctx context.Context, who identity.Actor, items []*feed.Item) ([][]byte, error) {
	ids, numbers := make([]uuid.UUID, len(items)), map[id.Proposal]int64{}
	for i, item := range items {
		ids[i] = item.Proposal.UUID()
	}
	proposals, err := l.queries.ProposalsByID(ctx, postgres.As(l.Streams, who.Workspace().ID), ids)
	if err != nil {
		return nil, err
	}
	for _, p := range proposals {
		numbers[p.ID] = p.Number
	}
	bodies := make([][]byte, len(items))
	for i, item := range items {
		bodies[i], err = json.Marshal(change{Cursor: item.Cursor(), Type: strings.ToUpper(string(item.Type)), At: item.At.UTC(),
			ProposalID: item.Proposal, Number: numbers[item.Proposal], Status: strings.ToUpper(string(item.Status))})
		if err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// Tell sends events, each with its cursor as its id.
func (l *listener) Tell(told []*feed.Told) error {
	frames := make([]feed.Frame, len(told))
	for i, t := range told {
		frames[i] = feed.Frame{At: t.Position, Bytes: t.Frame("", func(t *feed.Told) []byte {
			return fmt.Appendf(nil, "id: %s\nevent: proposal\ndata: %s\n\n", t.Position.Cursor(), t.Body)
		})}
	}
	return l.stream.Send(frames...)
}

// Ready waits until the client has read most of what it was sent.
func (l *listener) Ready(ctx context.Context) error { return l.stream.Ready(ctx) }

// Expired ends the stream: where it was to begin is not kept any more.
func (l *listener) Expired() { l.Ended(feed.ErrExpired, nil) }

// Pulse sends something now and then. A comment would do for a proxy, but no page hears one: this way it can
// tell that a stream is dead that its browser takes for open.
func (l *listener) Pulse(time.Time) {
	if l.stream.Quiet() >= l.KeepAlive {
		_ = l.stream.Send(feed.Frame{Bytes: []byte("event: alive\ndata:\n\n")}) // who has gone is found out by the read
	}
}

// Ended ends the stream, and says why where that is final. A client whose rights are as they were comes back
// instead, each after another while, and goes on after what it was sent.
func (l *listener) Ended(reason error, resume *feed.Position) {
	final := (*identity.Error)(nil)
	if errors.As(sayable(reason), &final) && final.Code != "UNAVAILABLE" {
		l.stream.End(func(*feed.Position) []byte {
			why, _ := json.Marshal(failureOf(final)) // of strings
			return fmt.Appendf(nil, "event: end\ndata: %s\n\n", why)
		})
		return
	}
	l.stream.ComeBack(resume, "come back")
}
