package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// With the cookie of a browser another site can send a request; it changes nothing.
func TestACookieIsNotEnoughFromAnotherSite(t *testing.T) {
	t.Parallel()
	w := start(t)
	nobody := w.as("")
	in := nobody.send("POST", "/sign-in", url.Values{"email": {"maria@harbor.example"}, "password": {"harbor-mill"}}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	if in.status != http.StatusSeeOther || !strings.HasPrefix(cookie, "countersign=") {
		t.Fatalf("signed in: %d %v", in.status, in.header)
	}
	host := strings.TrimPrefix(w.url, "http://")
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"cross-site":         {[]string{"Sec-Fetch-Site: cross-site"}, 403},
		"same-site":          {[]string{"Sec-Fetch-Site: same-site"}, 403},
		"foreign origin":     {[]string{"Origin: https://evil.example"}, 403},
		"no origin, sandbox": {[]string{"Origin: null"}, 403},
		"same origin":        {[]string{"Sec-Fetch-Site: same-origin", "Origin: http://" + host}, 200},
		"no browser":         {nil, 200},
	} {
		got := nobody.send("POST", "/graphql", writing, append(c.headers, jsonBody, "Cookie: "+cookie)...)
		if got.status != c.status || c.status == 200 != strings.Contains(got.body, `"conv_`) || strings.Contains(got.header.Get("Set-Cookie"), "countersign") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other origins may read it", name)
		}
	}
	if n := w.sql(`SELECT count(*) FROM countersign.conversations`); n != "2" {
		t.Errorf("%s conversations, want those of two", n)
	}
	bearer := w.signIn("paolo@harbor.example").send("POST", "/graphql", `{"query": "{ viewer { user { name } } }"}`, jsonBody, "Cookie: "+cookie, "Sec-Fetch-Site: cross-site")
	if bearer.status != 200 || !strings.Contains(bearer.body, "Paolo") {
		t.Errorf("bearer beside the cookie: %d %s", bearer.status, bearer.body)
	}
}
