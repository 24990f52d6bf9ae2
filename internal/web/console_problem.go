package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/views"
)

// problem is an error of the pages: a status and, where the usual words do not do, others.
type problem struct {
	status       int
	title, words string
	allow        string
}

func (p *problem) Error() string { return http.StatusText(p.status) + ": " + p.words }

var (
	errNotHere  = &problem{status: http.StatusNotFound}
	errNotYours = &problem{status: http.StatusForbidden}
	errNoPerson = &problem{status: http.StatusForbidden, title: "For people", words: "The console is for people who sign in. An API token has the API."}
)

func notHere(http.ResponseWriter, *http.Request) error { return errNotHere }

func onlyByButton(http.ResponseWriter, *http.Request) error {
	return &problem{status: http.StatusMethodNotAllowed, allow: http.MethodPost}
}

// handler answers a request, or says why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle writes the errors of a handler. Nothing has been sent of a page that fails.
func (c *Console) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := calmly(h, w, r); err != nil {
			c.fail(w, r, err)
		}
	}
}

// calmly turns a panic into an error, but for the one that means to end the connection.
func calmly(h handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if panicked := recover(); panicked == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
			panic(panicked)
		} else if panicked != nil {
			err = fmt.Errorf("panic: %s\n%s", redact.Panic(panicked), debug.Stack())
		}
	}()
	return h(w, r)
}

// asPerson lets only people in who are signed in and act in a workspace.
func (c *Console) asPerson(h func(w http.ResponseWriter, r *http.Request, who identity.Person) error) http.HandlerFunc {
	return c.handle(func(w http.ResponseWriter, r *http.Request) error {
		who, err := identity.Who(r.Context())
		if err != nil {
			return err
		}
		person, ok := who.(identity.Person)
		if !ok {
			return errNoPerson
		}
		return h(w, r, person)
	})
}

// fail answers an error: who is not signed in is asked to, anyone else is told what went wrong.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, identity.ErrUnauthenticated):
		c.askToSignIn(w, r)
		return
	case errors.Is(err, identity.ErrNoWorkspace):
		leave(w, r, "/workspace")
		return
	}
	p := problemOf(err)
	failure := views.FailureOf(p.status, redact.Text(p.words))
	if p.title != "" {
		failure.Title = p.title
	}
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if slow := (*identity.TooManyAttempts)(nil); errors.As(err, &slow) {
		w.Header().Set("Retry-After", strconv.Itoa(slow.Seconds()))
	}
	if p.status >= http.StatusInternalServerError {
		failure.Reference = c.logged(r, p.status, err)
	}
	if err := render(w, r, p.status, views.Problem(c.bareFrame(r, failure.Title), failure)); err != nil {
		c.logged(r, http.StatusInternalServerError, err)
		http.Error(w, failure.Title, p.status)
	}
}

// problemOf gives what may be said about an error: what is not known to be sayable is a fault of ours.
func problemOf(err error) *problem {
	own, decided, refused := (*problem)(nil), (*gate.Error)(nil), (*identity.Error)(nil)
	asked, wrong := (*assistant.Error)(nil), (*assistant.InputError)(nil)
	slow, large := (*identity.TooManyAttempts)(nil), (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &slow):
		return &problem{status: http.StatusTooManyRequests, words: slow.Error()}
	case errors.As(err, &decided):
		return coded(string(decided.Code), decided.Message)
	case errors.As(err, &refused):
		return coded(refused.Code, refused.Message)
	case errors.As(err, &asked):
		return coded(asked.Code, asked.Message)
	case errors.As(err, &wrong):
		return &problem{status: http.StatusBadRequest, words: wrong.Message}
	case errors.Is(err, id.ErrMalformed):
		return errNotHere
	case errors.As(err, &large):
		return &problem{status: http.StatusRequestEntityTooLarge, words: "That is too much text."}
	case unanswered(err):
		return &problem{status: http.StatusServiceUnavailable}
	}
	return &problem{status: http.StatusInternalServerError}
}

func coded(code, message string) *problem {
	if s := status(code); s != http.StatusInternalServerError {
		return &problem{status: s, words: message}
	}
	return &problem{status: http.StatusInternalServerError}
}

// unanswered: the database was not there, or took too long.
func unanswered(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || pgconn.Timeout(err) {
		return true
	}
	failed, pg := (*pgconn.ConnectError)(nil), (*pgconn.PgError)(nil)
	return errors.As(err, &failed) || errors.As(err, &pg) && (pg.Code[:2] == "08" || pg.Code[:2] == "53" || pg.Code[:2] == "57")
}

// logged writes the cause under a reference that the page names.
func (c *Console) logged(r *http.Request, status int, err error) string {
	reference, sqlstate := rand.Text()[:12], ""
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		sqlstate = pg.Code
	}
	c.Log.ErrorContext(r.Context(), "console", "request", reference, "status", status, "method", r.Method, "route", r.Pattern, "sqlstate", sqlstate, "cause", err)
	return reference
}

// askToSignIn leads to the page to sign in at, and from there back to where one was.
func (c *Console) askToSignIn(w http.ResponseWriter, r *http.Request) {
	next := r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		next = path.Dir(next)
	} else if r.URL.RawQuery != "" {
		next += "?" + r.URL.RawQuery
	}
	query := url.Values{"next": {next}}
	if c.identity.ByCookie(r) {
		query.Set("ended", "1")
	}
	leave(w, r, "/sign-in?"+query.Encode())
}
