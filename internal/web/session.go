package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// Session serves /session and /session/workspace: where clients other than the console sign in and out.
// It is mounted at "/session" and "/session/".
func (a *Authenticator) Session() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session", a.postSession)
	mux.Handle("DELETE /session", a.GuardCookie(http.HandlerFunc(a.deleteSession)))
	mux.Handle("POST /session/workspace", a.GuardCookie(http.HandlerFunc(a.postWorkspace)))
	mux.Handle("/session", allow("POST, DELETE"))
	mux.Handle("/session/workspace", allow("POST"))
	return mux
}

// sessionAnswer is what these routes answer: the token once, when signing in.
type sessionAnswer struct {
	Token     string     `json:"token,omitempty"`
	ExpiresAt time.Time  `json:"expiresAt"`
	Viewer    viewerJSON `json:"viewer"`
}

type viewerJSON struct {
	User       userJSON        `json:"user"`
	Workspace  workspaceJSON   `json:"workspace"`
	Role       string          `json:"role"`
	Workspaces []workspaceJSON `json:"workspaces"`
}

type userJSON struct {
	ID    id.User `json:"id"`
	Name  string  `json:"name"`
	Email string  `json:"email"`
}

type workspaceJSON struct {
	ID   id.Workspace `json:"id"`
	Slug string       `json:"slug"`
	Name string       `json:"name"`
}

// postSession needs no look at the origin: it sets no cookie and acts by none.
func (a *Authenticator) postSession(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Email     string `json:"email"`
		Password  string `json:"password"`
		Workspace string `json:"workspace"`
	}
	if err := readJSON(w, r, &body); err != nil {
		a.fail(w, r, err)
		return
	}
	in, err := a.identity.SignIn(r.Context(), identity.Attempt{
		Email: body.Email, Password: body.Password, Workspace: body.Workspace,
		Kind: sqlc.SignInKindBearer, Address: identity.Address(r), UserAgent: r.UserAgent(),
	})
	if err != nil {
		a.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusCreated, answerOf(in))
}

func (a *Authenticator) deleteSession(w http.ResponseWriter, r *http.Request) {
	if err := a.identity.SignOut(w, r); err != nil {
		a.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

func (a *Authenticator) postWorkspace(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Workspace string `json:"workspace"`
	}
	if err := readJSON(w, r, &body); err != nil {
		a.fail(w, r, err)
		return
	}
	in, err := a.identity.SwitchWorkspace(w, r, body.Workspace)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, answerOf(in))
}

func answerOf(in *identity.SignedIn) sessionAnswer {
	answer := sessionAnswer{Token: in.Token, ExpiresAt: in.ExpiresAt.UTC(), Viewer: viewerJSON{
		User:      userJSON{in.User.ID, in.User.Name, in.User.Email},
		Workspace: workspaceJSON(in.Workspace),
		Role:      strings.ToUpper(string(in.Role)),
	}}
	for _, one := range in.Workspaces {
		answer.Viewer.Workspaces = append(answer.Viewer.Workspaces, workspaceJSON(one))
	}
	return answer
}
