package server_test

import (
	"io"
	"net/http"
	"strings"
)

// sent is what a request was answered with.
type sent struct {
	status int
	header http.Header
	body   string
}

// send sends a request as it is given; "Name: value" is a header.
func (c *client) send(method, path, body string, headers ...string) sent {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.w.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(r) // redirects and cookies are the test's
	if err != nil {
		c.w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		c.w.t.Error(err)
	}
	return sent{res.StatusCode, res.Header, string(answer)}
}

func (c *client) get(path string) (int, string) {
	c.w.t.Helper()
	s := c.send(http.MethodGet, path, "")
	return s.status, s.body
}
