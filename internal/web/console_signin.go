package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

func (c *Console) home(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/inbox", http.StatusSeeOther)
	return nil
}

func (c *Console) showSignIn(w http.ResponseWriter, r *http.Request) error {
	next := localPath(r.URL.Query().Get("next"))
	if _, err := identity.Who(r.Context()); err == nil {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	return render(w, r, http.StatusOK, views.SignIn(views.SignInPage{Next: next, Ended: r.URL.Query().Get("ended") != ""}))
}

// signIn opens a session for whoever knows the password, and goes where they wanted to go.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	in, err := c.identity.SignIn(r.Context(), identity.Attempt{
		Email: r.PostFormValue("email"), Password: r.PostFormValue("password"), Workspace: written(r, "workspace"),
		Kind: sqlc.SignInKindCookie, Address: identity.Address(r), UserAgent: r.UserAgent(),
	})
	if err != nil {
		return c.notSignedIn(w, r, err)
	}
	if err := c.identity.OpenSession(w, r, in); err != nil {
		return err
	}
	http.Redirect(w, r, localPath(r.PostFormValue("next")), http.StatusSeeOther)
	return nil
}

// notSignedIn shows the form again, saying what was not accepted.
func (c *Console) notSignedIn(w http.ResponseWriter, r *http.Request, err error) error {
	refused, slow := (*identity.Error)(nil), (*identity.TooManyAttempts)(nil)
	page := views.SignInPage{Email: written(r, "email"), Workspace: written(r, "workspace"), Next: localPath(r.PostFormValue("next"))}
	code := http.StatusTooManyRequests
	switch {
	case errors.As(err, &slow):
		page.Wrong = slow.Error()
		w.Header().Set("Retry-After", strconv.Itoa(slow.Seconds()))
	case errors.As(err, &refused) && status(refused.Code) < http.StatusInternalServerError:
		page.Wrong, page.AskWorkspace, code = refused.Message, refused.Field == "workspace", status(refused.Code)
	default:
		return err
	}
	return render(w, r, code, views.SignIn(page))
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := c.identity.SignOut(w, r); err != nil && !errors.Is(err, identity.ErrUnauthenticated) {
		return err
	}
	// Browsers keep whole pages to go back to, even some that are not to be stored.
	w.Header().Set("Clear-Site-Data", `"cache"`)
	leave(w, r, "/sign-in")
	return nil
}

func (c *Console) switchWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	if _, err := c.identity.SwitchWorkspace(w, r, written(r, "workspace")); err != nil {
		return err
	}
	leave(w, r, "/inbox?notice="+string(views.Switched))
	return nil
}

// showWorkspaces is for someone who is signed in and acts nowhere, or wants to act elsewhere.
func (c *Console) showWorkspaces(w http.ResponseWriter, r *http.Request) error {
	who, err := identity.Who(r.Context())
	if person, ok := who.(identity.Person); ok {
		f, err := c.frame(r, person, "Choose a workspace", views.NoSection)
		if err != nil {
			return err
		}
		return render(w, r, http.StatusOK, views.Workspaces(f))
	}
	if errors.Is(err, identity.ErrNoWorkspace) {
		return render(w, r, http.StatusOK, views.Workspaces(views.Frame{Title: "Choose a workspace"}))
	}
	if err == nil {
		err = errNoPerson
	}
	return err
}
