package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// stream is a response of server-sent events.
type stream struct {
	t    testing.TB
	res  *http.Response
	in   *bufio.Reader
	stop *time.Timer
}

// stream subscribes by POST.
func (c *client) stream(query string, v vars, headers ...string) *stream {
	c.w.t.Helper()
	b, err := json.Marshal(vars{"query": query, "variables": v})
	if err != nil {
		c.w.t.Fatal(err)
	}
	return c.open(http.MethodPost, "/graphql", bytes.NewReader(b), headers...)
}

func (c *client) open(verb, path string, body io.Reader, headers ...string) *stream {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), verb, c.url+path, body)
	if err != nil {
		c.w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	over := c.http
	if over == nil {
		over = http.DefaultClient
	}
	res, err := over.Do(r)
	if err != nil {
		c.w.t.Fatal(err)
	}
	s := &stream{t: c.w.t, res: res, in: bufio.NewReader(res.Body)}
	s.stop = time.AfterFunc(patience, func() { _ = res.Body.Close() })
	c.w.t.Cleanup(func() { s.stop.Stop(); _ = res.Body.Close() })
	return s
}

// next gives the next block that begins so, past comments.
func (s *stream) next(with string) string {
	s.t.Helper()
	block := ""
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream ended after %q: %v", block, err)
		}
		if block += line; line != "\n" {
			continue
		}
		if strings.HasPrefix(block, with) {
			return block
		}
		if !strings.HasPrefix(block, ":") {
			s.t.Fatalf("got %q, want %s", block, with)
		}
		block = ""
	}
}

func (s *stream) rest() string {
	b, _ := io.ReadAll(s.in)
	return string(b)
}

func TestEventsAreServed(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	posted := maria.stream(streamed, nil)
	if got := posted.res.Header.Get("Content-Type"); posted.res.StatusCode != http.StatusOK || got != "text/event-stream; charset=utf-8" || posted.res.Header.Get("Cache-Control") != "no-store, no-transform" {
		t.Fatalf("%d %v", posted.res.StatusCode, posted.res.Header)
	}
	posted.next(":")
	got := maria.open(http.MethodGet, "/graphql?query="+url.QueryEscape(streamed), nil)
	got.next(":")
	id, _ := maria.rename("4", "one")
	maria.rename("4", "two")
	first, second := posted.next("event: next\nid: "), posted.next("event: next\nid: ")
	if !strings.Contains(first, "\ndata: {\"data\":{\"proposalEvents\":{") || !strings.Contains(first, id) {
		t.Errorf("told %q", first)
	}
	if other := got.next("event: next"); other != first {
		t.Errorf("by GET %q, by POST %q", other, first)
	}
	cursor, _, _ := strings.Cut(strings.TrimPrefix(first, "event: next\nid: "), "\n")
	for name, s := range map[string]*stream{
		"Last-Event-ID": maria.stream(streamed, nil, "Last-Event-ID: "+cursor),
		"after":         maria.stream(streamed, vars{"after": cursor}),
		"both":          maria.stream(streamed, vars{"after": "ZmVlZDow"}, "Last-Event-ID: "+cursor),
	} {
		if again := s.next("event: next"); again != second {
			t.Errorf("by %s came %q, not %q", name, again, second)
		}
	}
}

func TestWhatIsNoStreamIsAnswered(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	for _, c := range []struct {
		name, query, accept string
		status              int
		kind, holds         string
	}{
		{"a query as events", "{ viewer { role } }", "text/event-stream", 200, "text/event-stream", "event: next\ndata: {\"data\":{\"viewer\":{\"role\":\"MEMBER\"}}}\n\nevent: complete\n"},
		{"a query of one who takes both", "{ viewer { role } }", "application/json, text/event-stream", 200, "application/json", `{"data":{"viewer":{"role":"MEMBER"}}}`},
		{"a subscription as JSON", "subscription { proposalEvents { type } }", "application/json", 200, "application/json", "INVALID_INPUT"},
		{"what is not valid", "subscription { nothing }", "text/event-stream", 200, "text/event-stream", "GRAPHQL_VALIDATION_FAILED"},
		{"nothing but a name", "subscription { __typename }", "text/event-stream", 200, "text/event-stream", "errors"},
		{"nothing at all", "subscription { proposalEvents @skip(if: true) { type } }", "text/event-stream", 200, "text/event-stream", "errors"},
		{"a cursor of nobody", `subscription { proposalEvents(after: "x") { type } }`, "text/event-stream", 200, "text/event-stream", "CURSOR_INVALID"},
		{"an id of nobody", `subscription { proposalEvents(filter: {conversationId: "x"}) { type } }`, "text/event-stream", 200, "text/event-stream", "errors"},
		{"no query", "", "text/event-stream", 400, "application/json", "INVALID_INPUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := maria.stream(c.query, nil, "Accept: "+c.accept)
			body := s.rest()
			if s.res.StatusCode != c.status && c.name != "a subscription as JSON" || !strings.HasPrefix(s.res.Header.Get("Content-Type"), c.kind) || !strings.Contains(body, c.holds) {
				t.Errorf("%d %s %s", s.res.StatusCode, s.res.Header.Get("Content-Type"), body)
			}
		})
	}
	reader := w.as(w.db.APIToken(t, "maria@harbor.example", "read"))
	if s := reader.stream(streamed, nil); s.res.StatusCode != http.StatusForbidden {
		t.Errorf("a token without the scope: %d", s.res.StatusCode)
	}
	follower := w.as(w.db.APIToken(t, "maria@harbor.example", "subscribe"))
	if s := follower.stream("{ viewer { role } }", nil); s.res.StatusCode != http.StatusForbidden {
		t.Errorf("a token that may only follow: %d", s.res.StatusCode)
	}
	if s := maria.open(http.MethodGet, "/graphql?query="+url.QueryEscape("mutation { createConversation(input: {}) { clientMutationId } }"), nil); s.res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a mutation by GET: %d", s.res.StatusCode)
	}
	if s := maria.open(http.MethodGet, "/graphql?query="+url.QueryEscape(streamed), nil, "Origin: https://evil.example"); s.res.StatusCode != http.StatusForbidden {
		t.Errorf("another site: %d", s.res.StatusCode)
	}
	if s := maria.open(http.MethodPost, "/graphql", strings.NewReader(`{"query":"`+strings.Repeat(" ", 1<<20)+`"}`)); s.res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", s.res.StatusCode)
	}
}

func TestASocketAnswersEverything(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	s := maria.socket()
	s.subscribe("q", "{ viewer { role } }", nil)
	s.hears(`{"id":"q","type":"next","payload":{"data":{"viewer":{"role":"MEMBER"}}}}`)
	s.hears(`{"id":"q","type":"complete"}`)
	s.subscribe("1", "subscription { proposalEvents { status proposal { headline actingUser { name } viewerActions } } }", nil)
	s.settled()
	s.subscribe("m", `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { __typename } } }`, vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "4", "changes": vars{"name": "x"}}})
	heard := map[string]bool{s.heard(patience): true, s.heard(patience): true, s.heard(patience): true}
	for _, want := range []string{
		`{"id":"m","type":"next","payload":{"data":{"proposeChange":{"result":{"__typename":"Proposal"}}}}}`, `{"id":"m","type":"complete"}`,
		`{"id":"1","type":"next","payload":{"data":{"proposalEvents":{"status":"PENDING","proposal":{"headline":"Rename role \"editor\" to \"x\"","actingUser":{"name":"Maria Rossi"},"viewerActions":["CONFIRM","REJECT","WITHDRAW","EXTEND","REVISE"]}}}}}`,
	} {
		if !heard[want] {
			t.Errorf("not heard: %s\nbut %v", want, heard)
		}
	}
	s.subscribe("bad", "{ nothing }", nil)
	if text := s.heard(patience); !strings.HasPrefix(text, `{"id":"bad","type":"error","payload":[{`) {
		t.Errorf("heard %s", text)
	}
	s.say(`{"type":"complete","id":"1"}`)
	s.settled()
	maria.rename("5", "y")
	s.quiet()
	for i := range 50 {
		s.subscribe(name(i), streamed, nil)
	}
	s.subscribe("one more", streamed, nil)
	if text := s.heard(patience); !strings.HasPrefix(text, `{"id":"one more","type":"error"`) || !strings.Contains(text, "LIMIT_EXCEEDED") {
		t.Errorf("heard %s", text)
	}
}
