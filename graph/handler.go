package graph

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/graph/generated"
	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Options are what an operator chooses. Introspection is off unless switched on, as are suggestions.
type Options struct {
	Introspection bool
	// Hub tells subscribers what happens. Authenticate says who acts by a token that a socket sends once it is open.
	Hub          *feed.Hub
	Authenticate func(*http.Request) (identity.Actor, error)
	// KeepAlive is how often a stream says something; one that does not answer twice has gone. Zero for 25 s.
	KeepAlive time.Duration
}

// NewHandler serves GraphQL. Who asks is in the request's context already, put there by the middleware
// that authenticates.
func NewHandler(r *Resolver, o Options) http.Handler {
	r.queries = sqlc.New()
	server := handler.New(generated.NewExecutableSchema(configOf(r)))
	streams := newStreams(o, r.withLoaders, r.Gate.Sight, r.Log)
	server.AddTransport(overWebSocket{streams})
	server.AddTransport(overEvents{streams})
	server.AddTransport(overHTTP{})
	server.SetQueryCache(lru.New[*ast.QueryDocument](1000))
	server.SetParserTokenLimit(maxTokens)
	server.SetValidationRulesFn(validation)
	server.SetDisableSuggestion(true)
	server.SetErrorPresenter(presenter(r.Log))
	server.SetRecoverFunc(recovered(r.Log))
	server.Use(&limits{})
	if o.Introspection {
		server.Use(extension.Introspection{})
		server.AroundFields(hideFromTokens)
	}
	server.AroundOperations(r.perOperation)
	server.AroundRootFields(r.perField)
	return signedIn(r.Log, bounded(server))
}

func configOf(r *Resolver) generated.Config {
	c := generated.Config{Resolvers: r}
	c.Directives.PersonsOnly = personsOnly
	price(&c.Complexity)
	return c
}

// personsOnly refuses a token before the resolver of a deciding mutation runs.
func personsOnly(ctx context.Context, _ any, next graphql.Resolver) (any, error) {
	if _, err := person(ctx); err != nil {
		return nil, err
	}
	return next(ctx)
}

// bounded refuses a body over the limit.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// signedIn answers with the reason where nobody acts, and FORBIDDEN to a token that may not read.
func signedIn(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, err := identity.Who(r.Context())
		reason := (*identity.Error)(nil)
		switch {
		case upgrades(r): // a socket may say who acts once it is open, and is told there
			next.ServeHTTP(w, r)
		case errors.As(err, &reason):
			if reason.Cause != nil {
				log.ErrorContext(r.Context(), "who asks was not found out", "code", reason.Code, "cause", reason.Cause)
			}
			deny(w, model.ErrorCode(reason.Code), reason.Message)
		case err != nil:
			deny(w, model.ErrorCodeUnavailable, "Who you are could not be checked just now. Try again.")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

var denied = map[model.ErrorCode]int{
	model.ErrorCodeUnauthenticated: http.StatusUnauthorized,
	model.ErrorCodeForbidden:       http.StatusForbidden,
	model.ErrorCodeUnavailable:     http.StatusServiceUnavailable,
}

func deny(w http.ResponseWriter, code model.ErrorCode, message string) {
	status, ok := denied[code]
	if !ok {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", typeJSON+"; charset=utf-8")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="countersign"`)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": gqlerror.List{{Message: message, Extensions: map[string]any{"code": code}}}})
}
