package graph

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
)

// The limits of one connection that subscribes.
const (
	maxOperations = 50
	maxID         = 256
	initTime      = 10 * time.Second
	goodbyeTime   = 25 * time.Second // to write what an outlet still has
	answerTime    = 5 * time.Second  // and then for the client to close too
)

// streams is what subscriptions share, whatever they come over.
type streams struct {
	hub          *feed.Hub
	authenticate func(*http.Request) (identity.Actor, error)
	loaders      func(context.Context) context.Context
	sight        func(identity.Actor) gate.Sight
	keepAlive    time.Duration
	log          *slog.Logger

	lock       sync.Mutex
	selections map[[sha256.Size]byte]*selection
	asking     map[identity.Credential]*asking
}

func newStreams(o Options, loaders func(context.Context) context.Context, sight func(identity.Actor) gate.Sight, log *slog.Logger) *streams {
	if o.KeepAlive == 0 {
		o.KeepAlive = 25 * time.Second
	}
	return &streams{hub: o.Hub, loaders: loaders, sight: sight, authenticate: o.Authenticate, keepAlive: o.KeepAlive, log: log, selections: map[[sha256.Size]byte]*selection{},
		asking: map[identity.Credential]*asking{}}
}

// sameOrigin is false for what another site's page sends: a browser says where a page is from.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && from.Host != "" && from.Host == r.Host
}

// fetchedElsewhere is true where a browser says that another site's page asks, with the cookie: it could read
// nothing, but would take a seat of the person's. A GET need not have an Origin.
func fetchedElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Header.Get("Authorization") == "" && site != "" && site != "same-origin" && site != "none"
}

// operationOf parses and validates once, for as long as the subscription lasts.
func operationOf(ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams) (*graphql.OperationContext, []byte) {
	ctx = graphql.StartOperationTrace(ctx)
	oc, errs := exec.CreateOperationContext(ctx, params)
	if errs != nil {
		return oc, errorsOf(graphql.WithOperationContext(ctx, oc), exec, errs...)
	}
	return oc, nil
}
