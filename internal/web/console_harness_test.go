package web_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/sqlc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// renamer is a model that proposes to call role 4 whatever it is told.
type renamer struct{}

func (renamer) Name() string { return "renamer" }

func (renamer) Answer(_ context.Context, p assistant.Prompt, call assistant.Call) (string, error) {
	result, err := call("core_role_update", renaming("4", p.Message))
	if err != nil || result.OK {
		return "I have prepared it.", err
	}
	return result.Message, nil
}

func renaming(role, name string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"id": role, "changes": map[string]string{"name": name}})
	return raw
}

// site is the console on a database of the test's own.
type site struct {
	t          testing.TB
	db         *pgtest.DB
	tools      *toolcall.Service
	url        string
	statements *counter
}

func start(t testing.TB, change ...func(*web.ConsoleConfig)) *site {
	t.Helper()
	s := &site{t: t, db: pgtest.New(t), statements: &counter{}}
	log, registry := slog.New(slog.NewTextHandler(io.Discard, nil)), s.db.Registry(t)
	pools := s.db.Pools
	g := gate.New(gate.Pools{Gate: pools.Gate, Agent: pools.Agent, Worker: pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	s.tools = toolcall.New(g, registry, actions.All(), pools.Agent, log)
	who := identity.New(pools.Identity, identity.Cookie{Name: "countersign"})
	config := web.ConsoleConfig{
		Authenticator: web.NewAuthenticator(who, log), Gate: g, Tools: s.tools, Assistant: assistant.New(renamer{}, s.tools, pools.Agent, g.WithdrawCutShort, log),
		Reader: s.counted(pools.Reader), Log: log,
		Kind: func(entity string) string {
			if e, ok := registry.Entity(entity); ok {
				return e.Title
			}
			return ""
		},
	}
	for _, do := range change {
		do(&config)
	}
	h := httptest.NewServer(web.NewConsole(config))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// counter counts the statements of a pool, but for those that only say in which workspace.
type counter struct{ n int }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n++
	return ctx
}
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (c *counter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	if !strings.Contains(d.SQL, "set_config('countersign.workspace'") {
		c.n++
	}
}
func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *site) counted(pool *pgxpool.Pool) *pgxpool.Pool {
	config := pool.Config()
	config.ConnConfig.Tracer = s.statements
	traced, err := pgxpool.NewWithConfig(s.t.Context(), config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(traced.Close)
	return traced
}

// propose makes a card of Maria's without a chat and gives its path.
func (s *site) propose(role, name string) string {
	s.t.Helper()
	result, err := s.tools.Run(s.t.Context(), s.db.Person(s.t, "maria@harbor.example"), toolcall.Origin{Channel: sqlc.ChannelApi}, "core_role_update", renaming(role, name))
	if err != nil || !result.OK {
		s.t.Fatalf("propose: %v %+v", err, result)
	}
	return "/proposals/" + result.Proposal.ID.String()
}

func (s *site) sql(query string) string {
	s.t.Helper()
	var got *string
	if err := s.db.Owner.QueryRow(s.t.Context(), "SELECT ("+query+")::text").Scan(&got); err != nil {
		s.t.Fatal(err)
	}
	if got == nil {
		return "null"
	}
	return *got
}

func (s *site) exec(statement string) {
	s.t.Helper()
	if _, err := s.db.Owner.Exec(s.t.Context(), statement); err != nil {
		s.t.Fatal(err)
	}
}

// browser is one with cookies, that runs no script.
type browser struct {
	s      *site
	client *http.Client
	header http.Header
}

func (s *site) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &browser{s: s, client: &http.Client{Jar: jar}, header: http.Header{}}
}

// as is a browser in which someone is signed in.
func (s *site) as(email string) *browser {
	s.t.Helper()
	b := s.browser()
	in := b.post("/sign-in", url.Values{"email": {email}, "password": {demo.Password}})
	if in.status != http.StatusOK || in.path != "/inbox" {
		s.t.Fatalf("%s was not signed in: %d at %s\n%s", email, in.status, in.path, in.text())
	}
	return b
}

// shown is a page as it arrived, after redirects.
type shown struct {
	t      testing.TB
	status int
	path   string
	header http.Header
	body   string
	doc    *html.Node
}

func (b *browser) get(path string) *shown { b.s.t.Helper(); return b.send(http.MethodGet, path, nil) }

func (b *browser) post(path string, form url.Values) *shown {
	b.s.t.Helper()
	return b.send(http.MethodPost, path, form)
}

func (b *browser) send(method, path string, form url.Values) *shown {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, b.s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.s.t.Fatal(err)
	}
	r.Header = b.header.Clone()
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.s.t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(string(body)))
	if err != nil {
		b.s.t.Fatal(err)
	}
	return &shown{t: b.s.t, status: res.StatusCode, path: res.Request.URL.RequestURI(), header: res.Header, body: string(body), doc: doc}
}

// text is what one reads.
func (p *shown) text() string {
	var b strings.Builder
	for n := range p.doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (p *shown) says(words ...string) {
	p.t.Helper()
	for _, w := range words {
		if !strings.Contains(p.text(), w) {
			p.t.Errorf("%s does not say %q:\n%s", p.path, w, p.text())
		}
	}
}

func (p *shown) saysNot(words ...string) {
	p.t.Helper()
	for _, w := range words {
		if strings.Contains(p.text(), w) {
			p.t.Errorf("%s says %q:\n%s", p.path, w, p.text())
		}
	}
}

// is checks the status.
func (p *shown) is(status int) *shown {
	p.t.Helper()
	if p.status != status {
		p.t.Errorf("%s answered %d, want %d:\n%s", p.path, p.status, status, p.text())
	}
	return p
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// form is what a press on the button of a form would send; nil where there is no such form.
func (p *shown) form(action string) url.Values {
	for n := range p.doc.Descendants() {
		if n.Data != "form" || attribute(n, "action") != action {
			continue
		}
		values := url.Values{}
		for field := range n.Descendants() {
			if field.Data == "input" || field.Data == "textarea" {
				values.Set(attribute(field, "name"), attribute(field, "value"))
			}
		}
		return values
	}
	return nil
}

// press sends the form with this action as it stands on the page, with some fields filled in.
func (b *browser) press(on *shown, action string, filled ...string) *shown {
	b.s.t.Helper()
	form := on.form(action)
	if form == nil {
		b.s.t.Fatalf("%s has no form to %s:\n%s", on.path, action, on.text())
	}
	for i := 0; i < len(filled); i += 2 {
		form.Set(filled[i], filled[i+1])
	}
	return b.post(action, form)
}
