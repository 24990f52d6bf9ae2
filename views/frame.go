// Package views turns rows into HTML. It decides nothing: what someone may see or do is given to it.
// Every page works without a script; with it, the same components are sent as fragments.
package views

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/sqlc"
)

// Fragments are the parts of a page that are sent where the rest of it is on screen already.
var Fragments = []any{"title", "top", "notice", "main"}

// Section is an entry of the navigation.
type Section string

// The sections there are.
const (
	NoSection Section = ""
	ToInbox   Section = "inbox"
	ToChat    Section = "assistant"
	ToHistory Section = "history"
)

// Frame is what stands around a page. Without a Person nobody is signed in.
type Frame struct {
	Title      string
	Section    Section
	Person     string
	Email      string
	Role       sqlc.Role
	Workspace  Workspace
	Workspaces []Workspace
	// Waiting is how many proposals wait for the person; 100 means 100 or more, negative not known.
	Waiting int
	// Now is the database's clock; zero where it was not asked.
	Now time.Time
	// Cursor is where the feed stood before anything else on the page was read; empty where it was not asked.
	Cursor string
	Notice Notice
}

// Workspace is one of those the person may act in.
type Workspace struct{ Slug, Name string }

func (f Frame) signedIn() bool { return f.Person != "" }

func (f Frame) documentTitle() string { return f.Title + " · Countersign" }

func (f Frame) clock() string {
	if f.Now.IsZero() {
		return ""
	}
	return stamp(f.Now)
}

// current marks the link to where one is.
func current(here bool) templ.Attributes {
	if !here {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// waiting is the number beside the inbox; empty for none.
func (f Frame) waiting() string {
	switch {
	case f.Waiting <= 0:
		return ""
	case f.Waiting >= 100:
		return "100+"
	}
	return strconv.Itoa(f.Waiting)
}

// others are the workspaces one could switch to.
func (f Frame) others() []Workspace {
	var list []Workspace
	for _, w := range f.Workspaces {
		if w.Slug != f.Workspace.Slug {
			list = append(list, w)
		}
	}
	return list
}

// initials are what stands for someone where there is no room for a name.
func initials(name string) string {
	var b strings.Builder
	for _, word := range strings.Fields(name) {
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsLetter(r) && b.Len() < 2 {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}
