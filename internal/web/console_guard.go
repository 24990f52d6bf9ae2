package web

import (
	"net/http"

	"github.com/countersign/countersign/views"
)

// policy lets a page load what this server serves, and nothing else; no script or style is inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded sets what every page is sent with, and refuses forms that come from another site.
func (c *Console) guarded(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(c.handle(func(http.ResponseWriter, *http.Request) error {
		return &problem{status: http.StatusForbidden, title: "From another site", words: "This was sent by another site, so nothing was done."}
	}))
	protected := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		protected.ServeHTTP(w, r)
	})
}

// statics serves what browsers may keep for ever, each at an address with its digest.
func statics(mux *http.ServeMux) {
	for _, a := range views.Assets() {
		mux.HandleFunc("GET "+a.Path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", a.Type)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(a.Body)
		})
	}
}
