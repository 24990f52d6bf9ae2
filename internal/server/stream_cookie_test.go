package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// browser signs somebody in as the console does, and gives the cookie to send.
func (w *world) browser(email string) string {
	w.t.Helper()
	in := w.as("").send("POST", "/sign-in", url.Values{"email": {email}, "password": {"harbor-mill"}}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	if in.status != http.StatusSeeOther || !strings.HasPrefix(cookie, "countersign=") {
		w.t.Fatalf("signed in: %d %v", in.status, in.header)
	}
	return "Cookie: " + cookie
}

// A browser follows by its cookie, over every transport, until it is signed out; and the streams that end
// bring no session back.
func TestACookieFollowsUntilItIsSignedOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	cookie, here, maria := w.browser("maria@harbor.example"), "Origin: "+w.url, w.signIn("maria@harbor.example")
	nobody := w.as("")
	socket := w.upgrade(cookie, here)
	socket.say(`{"type":"connection_init"}`)
	socket.hears(`{"type":"connection_ack"}`)
	socket.subscribe("1", streamed, nil)
	socket.settled()
	posted := nobody.stream(streamed, nil, cookie, here, "Sec-Fetch-Site: same-origin")
	byGet := "/graphql?query=" + url.QueryEscape(streamed)
	got := nobody.open(http.MethodGet, byGet, nil, cookie, "Sec-Fetch-Site: same-origin")
	for _, s := range []*stream{posted, got} {
		s.next(":")
		if set := s.res.Header.Values("Set-Cookie"); len(set) > 0 {
			t.Errorf("a stream sets %v", set)
		}
	}
	first, _ := maria.rename("4", "before")
	if e := socket.event(); e.ProposalID != first {
		t.Errorf("told of %+v, not of %s", e, first)
	}
	for _, s := range []*stream{posted, got} {
		if block := s.next("event: next"); !strings.Contains(block, first) {
			t.Errorf("told %q", block)
		}
	}

	if out := nobody.send(http.MethodDelete, "/session", "", cookie, here); out.status != http.StatusNoContent {
		t.Fatalf("signed out: %d %s", out.status, out.body)
	}
	maria.rename("5", "after")
	socket.closes(4401)
	for _, s := range []*stream{posted, got} {
		if last := s.rest(); strings.Contains(last, "proposalEvents") || !strings.Contains(last, "UNAUTHENTICATED") {
			t.Errorf("the stream went on with %s", last)
		}
	}
	_ = socket.conn.Close()
	if again := nobody.send(http.MethodPost, "/graphql", `{"query":"{ viewer { role } }"}`, jsonBody, cookie); again.status != http.StatusUnauthorized || again.header.Get("Set-Cookie") != "" {
		t.Errorf("the old cookie is answered %d %v %s", again.status, again.header, again.body)
	}
	if s := nobody.open(http.MethodGet, byGet, nil, cookie); s.res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old cookie's stream is answered %d", s.res.StatusCode)
	}
	old := w.upgrade(cookie, here)
	old.say(`{"type":"connection_init"}`)
	old.closes(4401)
}

// Another site's page has the browser send the cookie, and hears nothing.
func TestAnotherSiteDoesNotFollowByACookie(t *testing.T) {
	t.Parallel()
	w := start(t)
	cookie, nobody := w.browser("maria@harbor.example"), w.as("")
	asked, err := json.Marshal(vars{"query": streamed})
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"Origin: https://evil.example", "Origin: null", "Origin: " + w.url + ".evil.example", "Origin: " + strings.Replace(w.url, "127.0.0.1", "127.0.0.2", 1)} {
		if _, status := w.upgraded(cookie, from, "Sec-WebSocket-Protocol: graphql-transport-ws"); status != http.StatusForbidden {
			t.Errorf("%s: a socket is answered %d", from, status)
		}
		if s := nobody.open(http.MethodGet, "/graphql?query="+url.QueryEscape(streamed), nil, cookie, from); s.res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a stream by GET is answered %d", from, s.res.StatusCode)
		}
		if s := nobody.open(http.MethodPost, "/graphql", strings.NewReader(string(asked)), cookie, from); s.res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a stream by POST is answered %d", from, s.res.StatusCode)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} { // a GET has no Origin
		if s := nobody.open(http.MethodGet, "/graphql?query="+url.QueryEscape(streamed), nil, cookie, "Sec-Fetch-Site: "+site); s.res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a stream by GET is answered %d", site, s.res.StatusCode)
		}
	}
	if s := nobody.open(http.MethodPost, "/graphql", strings.NewReader(string(asked)), cookie, "Sec-Fetch-Site: cross-site"); s.res.StatusCode != http.StatusForbidden {
		t.Errorf("cross-site: a stream by POST is answered %d", s.res.StatusCode)
	}
}
