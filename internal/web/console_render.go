package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/views"
)

// fragment tells whether the rest of the page is on screen already.
func fragment(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-History-Restore-Request") != "true"
}

// render sends a page, whole or its fragments. Nothing is sent of a page that could not be made.
func render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var b bytes.Buffer
	if fragment(r) {
		if err := templ.RenderFragments(r.Context(), &b, page, views.Fragments...); err != nil {
			return err
		}
	} else if err := page.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "HX-Request")
	if r.Method != http.MethodGet {
		w.Header().Set("HX-Push-Url", "false") // there is no page at this address to load anew
	}
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // an error is the client's, who has gone
	return nil
}

// goTo leads on after a deed: the browser asks for the page itself, so that to load it again repeats
// nothing. A place within a page is named to htmx, since a redirect it follows does not say it.
func goTo(w http.ResponseWriter, r *http.Request, path string) {
	if fragment(r) && strings.Contains(path, "#") {
		where, _ := json.Marshal(map[string]string{"path": path, "target": "#main", "swap": "outerHTML"})
		w.Header().Set("HX-Location", string(where))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// leave loads another page whole, since it is another's or nobody's.
func leave(w http.ResponseWriter, r *http.Request, path string) {
	if fragment(r) {
		w.Header().Set("HX-Redirect", path)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// localPath gives a path of this server that was asked for, or else the inbox: no address leads away, and
// none back to where one signs in or out.
func localPath(asked string) string {
	const otherwise = "/inbox"
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(asked, "/") || strings.HasPrefix(asked, "//") {
		return otherwise
	}
	if strings.ContainsFunc(asked, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }) {
		return otherwise
	}
	switch u.Path {
	case "/", "/sign-in", "/sign-out", "/workspace":
		return otherwise
	}
	return u.String()
}
