package web

import (
	"log/slog"
	"net/http"

	"github.com/countersign/countersign/internal/identity"
)

var errOtherOrigin = &identity.Error{Code: "FORBIDDEN", Message: "This request was sent by another site."}

// Authenticator finds out who requests act for, and keeps other sites from using a browser's cookie.
type Authenticator struct {
	identity *identity.Service
	log      *slog.Logger
	origin   *http.CrossOriginProtection
}

// NewAuthenticator gives an authenticator that trusts no origin but the server's own.
func NewAuthenticator(service *identity.Service, log *slog.Logger) *Authenticator {
	return &Authenticator{identity: service, log: log, origin: http.NewCrossOriginProtection()}
}

// Middleware puts who acts into the request's context, for identity.Who and identity.From. Where nobody
// acts the request passes all the same: what needs somebody answers so. A request that would change
// something, acts by the cookie and comes from another origin is answered 403. It sets no cookie.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return a.GuardCookie(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if who, err := a.identity.Authenticate(r); err != nil {
			ctx = identity.WithRefusal(ctx, err)
		} else {
			ctx = identity.With(ctx, who)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	}))
}

// GuardCookie answers 403 to a request that would change something, acts by the cookie and comes from
// another origin. A bearer token is sent by no browser on its own: requests with one pass.
func (a *Authenticator) GuardCookie(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Authorization, Cookie")
		if a.identity.ByCookie(r) && a.origin.Check(r) != nil {
			a.fail(w, r, errOtherOrigin)
			return
		}
		next.ServeHTTP(w, r)
	})
}
