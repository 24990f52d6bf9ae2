package server_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// notified is an event of GET /events.
type notified struct {
	Cursor, Type, ProposalID, Status string
	Number                           int
	At                               time.Time
}

// opens asks for GET /events, and gives the cursor it begins at.
func (c *client) opens(query string, headers ...string) (*stream, string) {
	c.w.t.Helper()
	s := c.open(http.MethodGet, "/events"+query, nil, headers...)
	if s.res.StatusCode != http.StatusOK {
		c.w.t.Fatalf("GET /events answered %d %s", s.res.StatusCode, s.rest())
	}
	_, cursor, _ := strings.Cut(strings.TrimSpace(s.next("retry: ")), "\nid: ")
	return s, cursor
}

// proposal gives the next event, which has its cursor as its id.
func (s *stream) proposal() notified {
	s.t.Helper()
	block := s.next("id: ")
	m := regexp.MustCompile(`^id: (\S+)\nevent: proposal\ndata: (\{.*\})\n\n$`).FindStringSubmatch(block)
	var n notified
	if m == nil || json.Unmarshal([]byte(m[2]), &n) != nil || n.Cursor != m[1] || n.At.IsZero() {
		s.t.Fatalf("heard %q", block)
	}
	return n
}

func TestEventsForBrowsers(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	s, begin := maria.opens("")
	for name, want := range map[string]string{"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", "Set-Cookie": ""} {
		if got := s.res.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	id, fingerprint := maria.rename("4", "reviewer")
	maria.confirm(id, fingerprint)
	proposed, applied := s.proposal(), s.proposal()
	if proposed.Type != "PROPOSED" || proposed.Status != "PENDING" || applied.Type != "APPLIED" || applied.Status != "APPLIED" || applied.ProposalID != id || applied.Number != 1 {
		t.Errorf("told of %+v and %+v", proposed, applied)
	}

	for name, again := range map[string]func() (*stream, string){
		"the address": func() (*stream, string) { return maria.opens("?after=" + proposed.Cursor) },
		"the header":  func() (*stream, string) { return maria.opens("", "Last-Event-ID: "+proposed.Cursor) },
		"both":        func() (*stream, string) { return maria.opens("?after="+begin, "Last-Event-ID: "+proposed.Cursor) },
	} {
		s, at := again()
		if next := s.proposal(); at != proposed.Cursor || next != applied {
			t.Errorf("with a cursor in %s: after %s told of %+v", name, at, next)
		}
	}
}

// What an event says is what a stranger to the card may know; it is told to those who may see the proposal.
func TestEventsAreForThoseWhoMaySee(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	streams := map[string]*stream{}
	for _, name := range []string{"maria", "sam", "rosa", "paolo", "jonas"} {
		streams[name], _ = w.signIn(name + "@harbor.example").opens("")
	}
	streams["olu"], _ = w.signIn("olu@othersite.example").opens("")
	streams["token"], _ = w.as(w.db.APIToken(t, "maria@harbor.example", "subscribe")).opens("")
	first, _ := maria.rename("4", "reviewer")
	paolos, _ := w.signIn("paolo@harbor.example").rename("5", "watcher")
	olus, _ := w.signIn("olu@othersite.example").rename("10", "buyer")
	approved, _ := maria.rename("6", "onlooker")
	for _, id := range []string{first, approved} {
		if got := streams["maria"].proposal(); got.ProposalID != id {
			t.Errorf("maria is told of %s and not of %s", got.ProposalID, id)
		}
	}
	w.exec(`ALTER TABLE countersign.proposals DISABLE TRIGGER USER; UPDATE countersign.proposals SET approvals_needed = 1 WHERE headline LIKE '%onlooker%'; ALTER TABLE countersign.proposals ENABLE TRIGGER USER`)
	w.churn(1)
	for name, want := range map[string][]string{
		"maria": {approved}, "token": {first, approved, approved}, "sam": {first, paolos, approved, approved}, "rosa": {first, paolos, approved, approved},
		"paolo": {paolos}, "jonas": {approved}, "olu": {olus},
	} {
		for _, id := range want {
			if got := streams[name].proposal(); got.ProposalID != id {
				t.Errorf("%s is told of %s and not of %s", name, got.ProposalID, id)
			}
		}
	}
	third, _ := maria.rename("4", "zzz-secret-name")
	if block := streams["maria"].next("id: "); !strings.Contains(block, third) || strings.Contains(block, "zzz") || strings.Contains(block, "editor") {
		t.Errorf("told %s", block)
	}
}

func TestWhoIsToldNoEvents(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.rename("4", "reviewer")
	old := maria.feedCursor()
	maria.rename("4", "watcher")
	w.sequenced()
	w.exec(`DELETE FROM feed WHERE position = (SELECT max(position) FROM feed)`)
	in := w.as("").send("POST", "/sign-in", url.Values{"email": {"maria@harbor.example"}, "password": {"harbor-mill"}}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	reader := w.as(w.db.APIToken(t, "maria@harbor.example", "read"))
	for name, c := range map[string]struct {
		who     *client
		verb    string
		query   string
		headers []string
		status  int
		code    string
	}{
		"nobody":              {w.as("css_x"), "GET", "", nil, 401, "UNAUTHENTICATED"},
		"a token to read":     {reader, "GET", "", nil, 403, "FORBIDDEN"},
		"no cursor":           {maria, "GET", "?after=nonsense", nil, 400, "CURSOR_INVALID"},
		"an empty cursor":     {maria, "GET", "?after=", nil, 400, "CURSOR_INVALID"},
		"no cursor, header":   {maria, "GET", "?after=" + maria.feedCursor(), []string{"Last-Event-ID: 17"}, 400, "CURSOR_INVALID"},
		"an old cursor":       {maria, "GET", "?after=" + old, nil, 410, "CURSOR_EXPIRED"},
		"one never given":     {maria, "GET", "", []string{"Last-Event-ID: ZmVlZDo5OTk5OTk"}, 410, "CURSOR_EXPIRED"},
		"a deed":              {maria, "POST", "", nil, 405, "INVALID_INPUT"},
		"another site's page": {w.as(""), "GET", "", []string{"Cookie: " + cookie, "Sec-Fetch-Site: cross-site"}, 403, "FORBIDDEN"},
	} {
		if got := c.who.send(c.verb, "/events"+c.query, "", c.headers...); got.status != c.status || !strings.Contains(got.body, `"`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := maria.send("HEAD", "/events", ""); got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("HEAD: %d %v", got.status, got.header)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"same-origin"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Errorf("by the cookie: %d", res.StatusCode)
	}
}

// Whoever loses the right is told so and nothing after, and is refused when the browser comes back.
func TestEventsEndWithTheRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  bool
		code   string
		status int
		lose   func(w *world, sam *client)
	}{
		"signing out": {false, "UNAUTHENTICATED", 401, func(_ *world, sam *client) { sam.signOut() }},
		"no membership": {false, "FORBIDDEN", 403, func(w *world, _ *client) {
			w.exec(`DELETE FROM countersign.memberships WHERE user_id = (SELECT id FROM countersign.users WHERE email LIKE 'sam@%')`)
		}},
		"a revoked token": {true, "UNAUTHENTICATED", 401, func(w *world, _ *client) { w.exec(`UPDATE countersign.api_tokens SET revoked_at = clock_timestamp()`) }},
		"a token's scope": {true, "FORBIDDEN", 403, func(w *world, _ *client) { w.exec(`UPDATE countersign.api_tokens SET scopes = '{read}'`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria, sam := w.signIn("maria@harbor.example"), w.signIn("sam@harbor.example")
			if c.token {
				sam = w.as(w.db.APIToken(t, "sam@harbor.example", "subscribe"))
			}
			s, _ := sam.opens("")
			maria.rename("4", "before")
			last := s.proposal()
			c.lose(w, sam)
			maria.rename("5", "after")
			if rest := s.rest(); !regexp.MustCompile(`^event: end\ndata: \{"code":"` + c.code + `","message":"[^"]+"\}\n\n$`).MatchString(rest) {
				t.Errorf("the stream went on with %q", rest)
			}
			if again := sam.open(http.MethodGet, "/events", nil, "Last-Event-ID: "+last.Cursor); again.res.StatusCode != c.status {
				t.Errorf("coming back was answered %d", again.res.StatusCode)
			}
		})
	}
}

func TestEventsSayWhenAServerGoes(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	s, url := w.launch()
	w.url = url
	open, _ := w.signIn("maria@harbor.example").opens("")
	s.SayGoodbye()
	open.goodbye()
	late, _ := w.signIn("maria@harbor.example").opens("") // it comes back to nothing until there is another
	late.goodbye()
}

// Over HTTP/2 many streams share a connection, and each is told and ends on its own.
func TestEventsForBrowsersOverHTTP2(t *testing.T) {
	t.Parallel()
	w := &world{t: t, db: pgtest.New(t)}
	s, url := w.launch()
	w.url = url
	h := httptest.NewUnstartedServer(s.Handler)
	h.EnableHTTP2 = true
	h.StartTLS()
	t.Cleanup(h.Close)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	streams := map[*client]*stream{}
	for _, who := range []*client{maria, paolo} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+who.token)
		res, err := h.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		if res.ProtoMajor != 2 || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %d", res.Proto, res.StatusCode)
		}
		streams[who] = &stream{t: t, res: res, in: bufio.NewReader(res.Body)}
		streams[who].next("retry: ")
	}
	maria.rename("4", "reviewer")
	streams[maria].proposal()
	maria.signOut()
	if rest := streams[maria].rest(); !strings.Contains(rest, "UNAUTHENTICATED") {
		t.Errorf("the stream ended with %q", rest)
	}
	id, _ := paolo.rename("5", "watcher")
	if got := streams[paolo].proposal(); got.ProposalID != id {
		t.Errorf("told of %s", got.ProposalID)
	}
}

func TestEventsThatAreIdleSaySo(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *server.Config) { c.KeepAlive = time.Second })
	s, _ := w.signIn("maria@harbor.example").opens("")
	for range 2 {
		s.next("event: alive\ndata:\n\n")
	}
}

func TestEventsHaveASeatEach(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	list := make([]*stream, 100)
	for i := range list {
		list[i], _ = maria.opens("")
	}
	if s := maria.open(http.MethodGet, "/events", nil); s.res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one more: %d", s.res.StatusCode)
	}
	_ = list[0].res.Body.Close()
	for maria.open(http.MethodGet, "/events", nil).res.StatusCode != http.StatusOK { // until the server has noticed
		if t.Context().Err() != nil {
			t.Fatal("a seat that was left is not given again")
		}
	}
}
