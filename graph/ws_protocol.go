package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

// message is one of graphql-transport-ws.
type message struct {
	ID      *string         `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

var (
	invalidMessage = &violation{closeInvalid, "Invalid message received"}
	unauthorized   = &violation{closeUnauthorized, "Unauthorized"}
)

// message does what a message asks for, or gives what is wrong with it.
func (s *socket) message(text []byte) *violation {
	m := message{}
	if json.Unmarshal(text, &m) != nil {
		return invalidMessage
	}
	switch m.Type {
	case "connection_init":
		return s.initialise(m.Payload)
	case "ping":
		_ = s.out.Send(feed.Frame{Bytes: textFrame("", "pong", m.Payload)})
		return nil
	case "pong":
		return nil
	case "subscribe":
		return s.subscribe(m)
	case "complete":
		if m.ID == nil {
			return invalidMessage
		}
		if o := s.find(*m.ID); o != nil {
			s.last(o)
		}
		return nil
	}
	return invalidMessage
}

// initialise finds out who acts and gives them a seat.
func (s *socket) initialise(payload json.RawMessage) *violation {
	if s.greeting == nil {
		return &violation{closeTooMany, "Too many initialisation requests"}
	}
	who, err := s.whoActs(payload)
	s.greeting = nil
	if err == nil && !who.May(identity.ScopeSubscribe) {
		err = feed.ErrScope
	}
	refused := (*identity.Error)(nil)
	if errors.As(err, &refused) {
		code, sentence := closeOf(refused)
		return &violation{code, sentence}
	} else if err != nil {
		return &violation{closeTryAgain, "Try again"}
	}
	seat, err := s.hub.Take(who, s)
	switch {
	case errors.Is(err, feed.ErrTooMany):
		return &violation{closeTooMany, "Too many connections"}
	case err != nil:
		return &violation{closeRestart, "Service restart"}
	}
	s.seated(seat)
	return nil
}

func (s *socket) seated(seat *feed.Seat) {
	s.lock.Lock()
	s.seat = seat
	over := s.over
	s.lock.Unlock()
	if over {
		seat.Leave()
		return
	}
	_ = s.out.Send(feed.Frame{Bytes: textFrame("", "connection_ack", nil)})
	s.stay()
}

// whoActs: an Authorization header of the upgrade alone counts; then a token in the parameters; then the
// cookie of the upgrade.
func (s *socket) whoActs(payload json.RawMessage) (identity.Actor, error) {
	params := map[string]json.RawMessage{}
	if len(payload) > 0 && json.Unmarshal(payload, &params) != nil {
		return nil, identity.ErrUnauthenticated
	}
	given, there := params["authorization"]
	if !there {
		given, there = params["Authorization"]
	}
	if s.greeting.bearer || !there {
		return s.greeting.who, s.greeting.refused
	}
	token := ""
	if json.Unmarshal(given, &token) != nil {
		return nil, identity.ErrUnauthenticated
	}
	ctx, cancel := context.WithTimeout(context.Background(), initTime)
	defer cancel()
	r := (&http.Request{Header: http.Header{"Authorization": {token}}, RemoteAddr: s.greeting.address}).WithContext(ctx)
	return s.authenticate(r)
}

// subscribe opens an operation and starts it.
func (s *socket) subscribe(m message) *violation {
	params := &graphql.RawParams{}
	switch {
	case s.seat == nil:
		return unauthorized
	case m.ID == nil || *m.ID == "" || len(*m.ID) > maxID:
		return invalidMessage
	case len(m.Payload) == 0 || decodeOne(bytes.NewReader(m.Payload), params) != nil || params.Query == "":
		return invalidMessage
	case s.find(*m.ID) != nil:
		return &violation{closeDoubled, "Subscriber for " + *m.ID + " already exists"}
	}
	o := &operation{socket: s, id: *m.ID}
	if !s.begin(o) {
		_ = s.out.Send(feed.Frame{Bytes: textFrame(o.id, "error", errorOf(context.Background(), s.exec, errTooMany))})
		return nil
	}
	o.start(params)
	return nil
}

// textFrame makes a message of the protocol.
func textFrame(id, kind string, payload []byte) []byte {
	if len(payload) == 0 {
		return frameOf(opText, messageStart(id, kind), messageEnd)
	}
	return frameOf(opText, messageStart(id, kind), payloadFollows, payload, messageEnd)
}

var payloadFollows, messageEnd = []byte(`,"payload":`), []byte(`}`)

func messageStart(id, kind string) []byte {
	b := []byte(`{`)
	if id != "" {
		quoted, err := json.Marshal(id)
		if err == nil { // always: it is a string
			b = append(append(append(b, `"id":`...), quoted...), ',')
		}
	}
	return append(b, `"type":"`+kind+`"`...)
}
