package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/countersign/countersign/graph"
	"github.com/countersign/countersign/internal/web"
)

// routes puts every surface on its path.
func (p parts) routes(c Config) http.Handler {
	who := web.NewAuthenticator(p.identity, c.Logger)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", p.ready)
	mux.Handle("/session", who.Session())
	mux.Handle("/session/", who.Session())
	mux.Handle("/graphql", who.Middleware(graph.NewHandler(&graph.Resolver{
		Gate: p.gate, Tools: p.tools, Assistant: p.assistant, Feed: p.feed, Reader: p.pools.Reader, Streams: p.pools.Streams, Log: p.log,
	}, graph.Options{Introspection: c.GraphiQL, Hub: p.hub, Authenticate: p.identity.Authenticate, KeepAlive: c.KeepAlive})))
	mux.Handle("/events", web.NewEvents(web.EventsConfig{Authenticator: who, Feed: p.feed, Hub: p.hub, Sight: p.gate.Sight, Reader: p.pools.Reader, Streams: p.pools.Streams, KeepAlive: c.KeepAlive}))
	if c.GraphiQL {
		explorer := web.GraphiQL()
		mux.Handle("/graphiql", explorer)
		mux.Handle("/graphiql/", explorer)
	}
	mux.Handle("/", web.NewConsole(web.ConsoleConfig{
		Authenticator: who, Gate: p.gate, Tools: p.tools, Assistant: p.assistant, Reader: p.pools.Reader, Kind: p.kind, Log: p.log,
	}))
	return impatient(mux)
}

// kind is what the registry calls a record of an entity; empty for one it does not have.
func (p parts) kind(entity string) string {
	e, ok := p.registry.Entity(entity)
	if !ok {
		return ""
	}
	return e.Title
}

// ready answers 503 while the database does not answer.
func (p parts) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := p.pools.Verify(ctx); err != nil {
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}
