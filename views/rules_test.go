package views_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/views"
)

// What is taken from others is what was looked at: htmx.org 2.0.11 of the npm registry.
func TestTheLibraryIsTheOneTested(t *testing.T) {
	const want = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
	for _, a := range views.Assets() {
		if !strings.HasPrefix(a.Path, "/static/htmx-2.0.11.min.") {
			continue
		}
		if sum := sha256.Sum256(a.Body); hex.EncodeToString(sum[:]) != want {
			t.Errorf("htmx is another one: %x", sum)
		}
		return
	}
	t.Error("there is no htmx 2.0.11")
}

func TestAssetsAreNamedAfterWhatTheyHold(t *testing.T) {
	size, named := 0, regexp.MustCompile(`^/static/[a-z0-9.-]+\.[0-9a-f]{12}\.(css|js|svg|txt)$`)
	for _, a := range views.Assets() {
		size += len(a.Body)
		if !named.MatchString(a.Path) || a.Type == "" {
			t.Errorf("%s is of type %q", a.Path, a.Type)
		}
	}
	if size > 150_000 {
		t.Errorf("the assets have %d bytes", size)
	}
}

// What is ours stays within the policy: nothing inline, nothing evaluated, nothing from elsewhere.
func TestOurOwnFilesKeepToThePolicy(t *testing.T) {
	rules := map[string]*regexp.Regexp{
		".templ": regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|hx-(on|vals|vars|headers|trigger|include|ext|prompt)|templ\.Raw|templ\.JS|<script[^>]*>[^<]|<style|https?://|javascript:`),
		".js":    regexp.MustCompile(`eval\(|new Function|innerHTML|insertAdjacentHTML|document\.write|\.style\b|https?://|localStorage|sessionStorage`),
		".css":   regexp.MustCompile(`@import|url\(|https?://`),
	}
	files, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "static/console.js", "static/console.css") {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := rules[filepath.Ext(file)].Find(body); found != nil {
			t.Errorf("%s has %q", file, found)
		}
	}
}

// Attributes that htmx acts by are constants, and no expression is printed as it was written.
func TestPagesAreWhole(t *testing.T) {
	for name, page := range pages() {
		body := render(t, page)
		harmless(t, name, parsed(t, body))
		text := read(parsed(t, body))
		for _, never := range []string{"{{", "}}", "%!", "<nil>", "TemplFailed"} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q in it", name, never)
			}
		}
	}
}

// Every id on a page is there once, and what a page refers to is there.
func TestReferencesOnAPageHold(t *testing.T) {
	for name, page := range pages() {
		doc := parsed(t, render(t, page))
		ids := map[string]int{}
		for n := range doc.Descendants() {
			if id := of(n, "id"); id != "" {
				ids[id]++
			}
		}
		for id, n := range ids {
			if n > 1 {
				t.Errorf("%s has #%s %d times", name, id, n)
			}
		}
		for n := range doc.Descendants() {
			for _, attribute := range []string{"aria-labelledby", "aria-describedby", "for"} {
				if id := of(n, attribute); id != "" && ids[id] == 0 {
					t.Errorf("%s: %s=%q leads nowhere", name, attribute, id)
				}
			}
		}
	}
}
