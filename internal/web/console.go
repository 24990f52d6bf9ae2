// Package web is the surface for browsers: the console's pages, the routes to sign in and out by, and
// who a request acts for.
package web

import (
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// ConsoleConfig is what the console stands on.
type ConsoleConfig struct {
	Authenticator *Authenticator
	Gate          *gate.Gate
	Tools         *toolcall.Service
	Assistant     *assistant.Assistant
	// Reader is the pool under the login that only reads.
	Reader *pgxpool.Pool
	// Kind is what the registry calls a record of an entity, e.g. "Production order"; empty for one it
	// does not have.
	Kind func(entity string) string
	Log  *slog.Logger
}

// Console serves the pages. It translates and decides nothing: a read is a query with who asks as its
// parameter, a button is one call of the gate or of the assistant.
type Console struct {
	ConsoleConfig
	identity *identity.Service
	queries  *sqlc.Queries
}

// NewConsole gives the pages, to be mounted at "/". It finds out itself who asks.
func NewConsole(config ConsoleConfig) http.Handler {
	c := &Console{ConsoleConfig: config, identity: config.Authenticator.identity, queries: sqlc.New()}
	mux := http.NewServeMux()
	c.doors(mux)
	c.pages(mux)
	c.deeds(mux)
	mux.HandleFunc("/", c.handle(notHere))
	all := http.NewServeMux()
	all.Handle("/", c.guarded(config.Authenticator.Middleware(mux)))
	statics(all)
	return all
}

// doors are open to everyone.
func (c *Console) doors(mux *http.ServeMux) {
	mux.HandleFunc("GET /sign-in", c.handle(c.showSignIn))
	mux.HandleFunc("POST /sign-in", c.handle(c.signIn))
	c.post(mux, "/sign-out", c.handle(c.signOut))
	c.post(mux, "/workspace", c.handle(c.switchWorkspace))
	mux.HandleFunc("GET /workspace", c.handle(c.showWorkspaces))
}

// pages change nothing.
func (c *Console) pages(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", c.handle(c.home))
	mux.HandleFunc("GET /inbox", c.asPerson(c.inbox))
	mux.HandleFunc("GET /proposals/{id}", c.asPerson(c.proposal))
	mux.HandleFunc("GET /proposals/{id}/records", c.asPerson(c.records))
	mux.HandleFunc("GET /proposals/{id}/revise", c.asPerson(c.showRevise))
	mux.HandleFunc("GET /history", c.asPerson(c.history))
	mux.HandleFunc("GET /conversations", c.asPerson(c.conversations))
	mux.HandleFunc("GET /conversations/{id}", c.asPerson(c.conversation))
	mux.HandleFunc("GET /assistant", c.asPerson(c.assistant))
}

// deeds are done by a button and by nothing else: their addresses answer 405 to a link.
func (c *Console) deeds(mux *http.ServeMux) {
	c.post(mux, "/proposals/{id}/confirm", c.asPerson(c.confirm))
	c.post(mux, "/proposals/{id}/reject", c.asPerson(c.reject))
	c.post(mux, "/proposals/{id}/approve", c.asPerson(c.approve))
	c.post(mux, "/proposals/{id}/disapprove", c.asPerson(c.disapprove))
	c.post(mux, "/proposals/{id}/revert", c.asPerson(c.revert))
	mux.HandleFunc("POST /proposals/{id}/revise", c.asPerson(c.revise))
	c.post(mux, "/proposals/{id}/withdraw", c.asPerson(c.withdraw))
	c.post(mux, "/proposals/{id}/extend", c.asPerson(c.extend))
	c.post(mux, "/conversations/{id}/messages", c.asPerson(c.send))
	mux.HandleFunc("POST /conversations", c.asPerson(c.begin))
}

func (c *Console) post(mux *http.ServeMux, path string, deed http.HandlerFunc) {
	mux.HandleFunc("POST "+path, deed)
	if path != "/workspace" {
		mux.HandleFunc(path, c.handle(onlyByButton))
	}
}

// db reads in the workspace of whoever asks.
func (c *Console) db(who identity.Actor) sqlc.DBTX {
	return postgres.As(c.Reader, who.Workspace().ID)
}

func (c *Console) kind(entity string) string {
	if kind := c.Kind(entity); kind != "" {
		return kind
	}
	return views.EntityName(entity)
}
