package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/id"
)

func TestALinkDecidesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	for _, verb := range []string{"confirm", "reject", "withdraw", "extend"} {
		page := maria.get(path + "/" + verb).is(http.StatusMethodNotAllowed)
		if page.header.Get("Allow") != "POST" {
			t.Errorf("%s allows %q", verb, page.header.Get("Allow"))
		}
	}
	maria.get("/sign-out").is(http.StatusMethodNotAllowed)
	maria.get("/inbox").is(http.StatusOK)
	if n := s.sql(`SELECT count(*) FROM countersign.proposals WHERE status = 'pending' AND extended_at IS NULL`); n != "1" {
		t.Error("a link changed the proposal")
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	form := maria.get(path).form(path + "/confirm")
	for name, header := range map[string]http.Header{
		"cross-site":     {"Sec-Fetch-Site": {"cross-site"}},
		"same-site":      {"Sec-Fetch-Site": {"same-site"}},
		"foreign origin": {"Origin": {"https://evil.example"}},
		"null origin":    {"Origin": {"null"}},
	} {
		evil := &browser{s: s, client: maria.client, header: header}
		if got := evil.post(path+"/confirm", form); got.status != http.StatusForbidden {
			t.Errorf("%s: confirm answered %d", name, got.status)
		}
		if got := evil.post("/sign-in", url.Values{"email": {"maria@harbor.example"}, "password": {"harbor-mill"}}); got.status != http.StatusForbidden {
			t.Errorf("%s: sign-in answered %d", name, got.status)
		}
	}
	same := &browser{s: s, client: maria.client, header: http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {s.url}}}
	same.post(path+"/confirm", form).is(http.StatusOK).says("Applied.")
}

func TestEveryPageIsSentWithItsPolicy(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	path := s.propose("4", "reviewer")
	for _, one := range []string{"/inbox", "/history", "/conversations", "/assistant", path, "/nowhere", "/proposals/x"} {
		page := maria.get(one)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Content-Type": "text/html; charset=utf-8",
		} {
			if got := page.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", one, name, got)
			}
		}
		assetsOf(t, maria, page)
	}
}

// assetsOf checks that what a page asks for is there, of the right kind, and for browsers to keep.
func assetsOf(t *testing.T, b *browser, page *shown) {
	t.Helper()
	found := 0
	for n := range page.doc.Descendants() {
		if n.Data != "script" && n.Data != "link" {
			continue
		}
		address := attribute(n, "src") + attribute(n, "href")
		found++
		got := b.get(address).is(http.StatusOK)
		if !strings.Contains(got.header.Get("Cache-Control"), "immutable") || got.header.Get("Content-Type") == "" {
			t.Errorf("%s is sent with %v", address, got.header)
		}
	}
	if found != 4 {
		t.Errorf("%s asks for %d files", page.path, found)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := start(t)
	maria := s.as("maria@harbor.example")
	for _, path := range []string{"/nowhere", "/proposals/31", "/proposals/" + id.NewProposal().String(), "/conversations/" + id.NewConversation().String(), "/conversations/x", "/history?show=x"} {
		maria.get(path).is(http.StatusNotFound).says("Not here", "Go to the inbox")
	}
	maria.get("/inbox?after=x").is(http.StatusBadRequest)
	maria.post("/proposals/"+id.NewProposal().String()+"/confirm", url.Values{}).is(http.StatusNotFound)
}

func TestATokenHasNoConsole(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browser()
	b.header.Set("Authorization", "Bearer "+s.db.APIToken(t, "maria@harbor.example", "read", "propose"))
	b.get("/inbox").is(http.StatusForbidden).says("An API token has the API.")
	path := s.propose("4", "reviewer")
	b.post(path+"/confirm", url.Values{"fingerprint": {s.sql(`SELECT fingerprint FROM countersign.proposals`)}}).is(http.StatusForbidden)
}

func TestAFragmentIsThePagesOwn(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.propose("4", "reviewer")
	maria := s.as("maria@harbor.example")
	htmx := &browser{s: s, client: maria.client, header: http.Header{"Hx-Request": {"true"}, "Hx-Boosted": {"true"}}}
	whole, part := maria.get(path), htmx.get(path)
	if strings.Contains(part.body, "<!doctype") || strings.Contains(part.body, "htmx-config") {
		t.Error("a fragment is a whole page")
	}
	for _, id := range []string{"top", "notice", "main"} {
		if a, b := outer(t, whole.doc, id), outer(t, part.doc, id); a != b {
			t.Errorf("#%s differs:\n%s\n%s", id, a, b)
		}
	}
	restored := &browser{s: s, client: maria.client, header: http.Header{"Hx-Request": {"true"}, "Hx-History-Restore-Request": {"true"}}}
	if !strings.Contains(restored.get(path).body, "<!doctype") {
		t.Error("a page restored from the history is a fragment")
	}
	nobody := &browser{s: s, client: http.DefaultClient, header: htmx.header}
	if got := nobody.get(path); got.header.Get("HX-Redirect") != "/sign-in?next="+url.QueryEscape(path) {
		t.Errorf("nobody was sent to %q", got.header.Get("HX-Redirect"))
	}
}

func outer(t *testing.T, doc *html.Node, id string) string {
	t.Helper()
	for n := range doc.Descendants() {
		if attribute(n, "id") == id {
			var b strings.Builder
			if err := html.Render(&b, n); err != nil {
				t.Fatal(err)
			}
			return strings.NewReplacer(timesOf(n)...).Replace(b.String())
		}
	}
	t.Fatalf("no #%s", id)
	return ""
}

// timesOf are the readings of the clock, which differ between two pages.
func timesOf(n *html.Node) []string {
	if now := attribute(n, "data-now"); now != "" {
		return []string{now, "now"}
	}
	return nil
}
