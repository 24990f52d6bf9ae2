package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

const typeEvents = "text/event-stream"

// overEvents answers with server-sent events, one operation a connection ("distinct connections" of the
// GraphQL over SSE protocol): by POST, and by GET for EventSource. It comes before the transport that
// answers JSON.
type overEvents struct{ *streams }

// takesEvents tells whether a request accepts a stream of events.
func takesEvents(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, options, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err == nil && media == typeEvents && quality(options["q"]) > 0 {
			return true
		}
	}
	return false
}

func (overEvents) Supports(r *http.Request) bool { return takesEvents(r) }

func (t overEvents) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if r.Method == http.MethodGet && (!sameOrigin(r) || fetchedElsewhere(r)) {
		(&refusal{http.StatusForbidden, model.ErrorCodeForbidden, "This request was sent by another site."}).writeJSON(w, r, exec)
		return
	}
	body, _ := io.ReadAll(r.Body) // what is wrong with it is found again below
	r.Body = again(r.Body, body)
	params, refused := paramsOf(r)
	if refused != nil {
		refused.writeJSON(w, r, exec)
		return
	}
	oc, errs := operationOf(r.Context(), exec, params)
	subscribes := errs == nil && oc.Operation.Operation == ast.Subscription
	if !subscribes && negotiate(r.Header.Get("Accept")) != "" {
		r.Body = again(r.Body, body)
		overHTTP{}.Do(w, r, exec) // it takes both, and this is no stream
		return
	}
	if errs == nil && !subscribes {
		refused = readable(r, oc)
	} else if subscribes && !identity.From(r.Context()).May(identity.ScopeSubscribe) {
		refused = &refusal{http.StatusForbidden, model.ErrorCodeForbidden, feed.ErrScope.Message}
	}
	if refused != nil {
		refused.writeJSON(w, r, exec)
		return
	}
	t.stream(w, r, exec, oc, errs)
}

// readable: what is no subscription is answered here as it is elsewhere.
func readable(r *http.Request, oc *graphql.OperationContext) *refusal {
	if !identity.From(r.Context()).May(identity.ScopeRead) {
		return &refusal{http.StatusForbidden, errNoReading.code, errNoReading.message}
	}
	return method(r, oc)
}

func (f *refusal) writeJSON(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	w.Header().Set("Content-Type", typeJSON+"; charset=utf-8")
	f.write(w, r, exec)
}

// again gives a body anew that was read from one before: to its end, or to where that refused to go on.
func again(before io.ReadCloser, read []byte) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), before), before}
}

// stream answers one operation and leaves a subscription to the hub.
func (t overEvents) stream(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, oc *graphql.OperationContext, errs []byte) {
	ctx, e := r.Context(), &eventStream{streams: t.streams, exec: exec, by: identity.CredentialOf(identity.From(r.Context()))}
	body, after := []byte(nil), (*feed.Position)(nil)
	switch {
	case errs != nil:
	case oc.Operation.Operation == ast.Subscription:
		e.selection, after, errs = t.selectionOf(ctx, identity.From(ctx), exec, oc)
	default:
		body, errs = answered(ctx, exec, oc)
	}
	if e.selection == nil {
		e.start(w, r, nil)
		e.finish(body, errs)
		e.Wait()
		return
	}
	if errors.Is(t.hub.Refuses(identity.From(ctx)), feed.ErrTooMany) {
		e.leave()
		tooManyStreams.writeJSON(w, r, exec)
		return
	}
	after, err := e.beginning(r, after)
	e.start(w, r, after)
	if err == nil {
		e.follow(ctx, after)
	} else {
		e.finish(nil, errorOf(ctx, exec, err))
	}
	e.Wait()
}

// beginning is after the last event that a browser had, after the cursor that was asked for, or now: before the
// client hears that the stream is open.
func (e *eventStream) beginning(r *http.Request, after *feed.Position) (*feed.Position, error) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		var err error
		if after, err = positionOf(&last); err != nil {
			return nil, err
		}
	}
	if after != nil {
		return after, nil
	}
	head, err := e.hub.Head(r.Context(), identity.From(r.Context()).Workspace().ID)
	if err != nil {
		return nil, err
	}
	return &head, nil
}

// answered runs a query or a mutation.
func answered(ctx context.Context, exec graphql.GraphExecutor, oc *graphql.OperationContext) (body, errs []byte) {
	next, within := exec.DispatchOperation(graphql.StartOperationTrace(ctx), oc)
	body, err := json.Marshal(next(within))
	if err != nil {
		return nil, errorOf(ctx, exec, err)
	}
	return body, nil
}

var tooManyStreams = &refusal{http.StatusTooManyRequests, model.ErrorCodeRateLimited, "Too many streams are open with this credential."}
