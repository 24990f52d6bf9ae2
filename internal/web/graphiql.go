package web

import (
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// The explorer as its authors publish it on the npm registry, compressed:
//
//	graphiql 3.9.0   MIT, GraphQL Contributors     graphiql.min.js; graphiql.min.css without its @font-face rules
//	react 18.3.1     MIT, Facebook and affiliates  umd/react.production.min.js
//	react-dom 18.3.1 MIT, Facebook and affiliates  umd/react-dom.production.min.js
//
//go:embed graphiql
var explorer embed.FS

// explorerPolicy lets the explorer load what this server serves. It sets styles of its own from its script.
const explorerPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// GraphiQL serves the explorer at /graphiql, with all that it loads below. It knows nothing by itself: the
// browser asks /graphql as whoever is signed in there, or with the header that was typed. It is for the
// demo; introspection is switched on beside it.
func GraphiQL() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /graphiql", explorerFile("page.html", "no-cache"))
	entries, err := fs.ReadDir(explorer, "graphiql")
	if err != nil {
		panic(err) // embedded by this file
	}
	for _, entry := range entries {
		name, packed := strings.CutSuffix(entry.Name(), ".gz")
		keep := "no-cache"
		if packed {
			keep = "public, max-age=31536000, immutable" // its version is in its name
		}
		mux.HandleFunc("GET /graphiql/"+name, explorerFile(entry.Name(), keep))
	}
	return mux
}

// explorerFile sends one file, unpacked for those who cannot.
func explorerFile(file, keep string) http.HandlerFunc {
	name, packed := strings.CutSuffix(file, ".gz")
	kind := mime.TypeByExtension(path.Ext(name))
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Set("Content-Security-Policy", explorerPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", keep)
		body, err := explorer.Open("graphiql/" + file)
		if err != nil {
			panic(err) // embedded by this file
		}
		defer func() { _ = body.Close() }()
		if !packed {
			_, _ = io.Copy(w, body)
			return
		}
		sendPacked(w, r, body)
	}
}

func sendPacked(w http.ResponseWriter, r *http.Request, body io.Reader) {
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.Copy(w, body)
		return
	}
	unpacked, err := gzip.NewReader(body)
	if err != nil {
		panic(err) // embedded by this file
	}
	_, _ = io.Copy(w, unpacked)
}
