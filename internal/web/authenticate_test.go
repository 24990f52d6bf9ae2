package web_test

import (
	"net/http"
	"testing"
)

// Only a cookie is sent by a browser on its own, so only what acts by one may have been sent by another site.
func TestWhichOriginsMayChangeSomething(t *testing.T) {
	s := openDoor(t)
	cookie, bearer := s.cookie(maria), "Bearer "+s.db.Bearer(t, paolo)
	agent := "Bearer " + s.db.APIToken(t, olu, "read")
	const passes, nobody, refused = http.StatusOK, http.StatusUnauthorized, http.StatusForbidden
	for name, c := range map[string]struct {
		method  string
		headers header
		want    int
	}{
		"cookie, same origin":                    {"POST", header{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, passes},
		"cookie, typed by the user":              {"POST", header{"Cookie": cookie, "Sec-Fetch-Site": "none"}, passes},
		"cookie, cross-site":                     {"POST", header{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, refused},
		"cookie, a subdomain":                    {"POST", header{"Cookie": cookie, "Sec-Fetch-Site": "same-site"}, refused},
		"cookie, foreign Origin":                 {"POST", header{"Cookie": cookie, "Origin": "https://evil.example"}, refused},
		"cookie, Origin null":                    {"POST", header{"Cookie": cookie, "Origin": "null"}, refused},
		"cookie, own Origin":                     {"POST", header{"Cookie": cookie, "Origin": s.server.URL}, passes},
		"cookie, curl":                           {"POST", header{"Cookie": cookie}, passes},
		"cookie, cross-site, reading":            {"GET", header{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, passes},
		"cookie, cross-site, PUT":                {"PUT", header{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, refused},
		"cookie, cross-site, DELETE":             {"DELETE", header{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, refused},
		"a worthless cookie, cross-site":         {"POST", header{"Cookie": "test=x", "Sec-Fetch-Site": "cross-site"}, refused},
		"another cookie, cross-site":             {"POST", header{"Cookie": "other=x", "Sec-Fetch-Site": "cross-site"}, nobody},
		"bearer, cross-site":                     {"POST", header{"Authorization": bearer, "Sec-Fetch-Site": "cross-site", "Origin": "https://spa.example"}, passes},
		"bearer and cookie, cross-site":          {"POST", header{"Authorization": bearer, "Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, passes},
		"API token, foreign Origin":              {"POST", header{"Authorization": agent, "Origin": "https://spa.example"}, passes},
		"no bearer at all and cookie, same-site": {"POST", header{"Authorization": "Bearer x", "Cookie": cookie, "Sec-Fetch-Site": "same-site"}, nobody},
	} {
		t.Run(name, func(t *testing.T) {
			status, headers, text := s.send(c.method, "/who", "", c.headers)
			if status != c.want {
				t.Fatalf("%d %s, want %d", status, text, c.want)
			}
			if headers.Get("Set-Cookie") != "" {
				t.Fatal("it sets a cookie")
			}
			if want := map[bool]string{true: paolo, false: maria}[c.headers["Authorization"] == bearer]; status == passes && c.headers["Authorization"] != agent && text != want {
				t.Fatalf("acts for %s, not for %s", text, want)
			}
		})
	}
}

func TestNoOtherSiteSignsABrowserOut(t *testing.T) {
	s := openDoor(t)
	cookie := s.cookie(maria)
	foreign := header{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}
	if status, _, _ := s.send("DELETE", "/session", "", foreign); status != http.StatusForbidden {
		t.Errorf("signing out: %d", status)
	}
	if status, _, _ := s.send("POST", "/session/workspace", `{"workspace":"harbor-mill"}`, foreign); status != http.StatusForbidden {
		t.Errorf("switching: %d", status)
	}
	status, headers, _ := s.send("POST", "/session/workspace", `{"workspace":"harbor-mill"}`, header{"Cookie": cookie})
	if status != http.StatusOK || headers.Get("Set-Cookie") == "" {
		t.Fatalf("switching at home: %d", status)
	}
	if status, _, _ := s.send("DELETE", "/session", "", header{"Cookie": cookie}); status != http.StatusUnauthorized {
		t.Fatalf("by the cookie from before: %d", status)
	}
}
