package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/assistant/offline"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/server"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// cast is what there is to attack: an open proposal of Maria's, and her credentials.
type cast struct {
	*world
	id, fingerprint, talk string
	headers               map[string][]string // by what she acts by
	actors                map[string]identity.Actor
}

func newCast(t testing.TB) *cast {
	w := start(t, func(c *server.Config) { c.TimersOff = true })
	maria := w.signIn("maria@harbor.example")
	token := w.db.APIToken(t, "maria@harbor.example", "read", "propose", "subscribe")
	c := &cast{world: w, headers: map[string][]string{
		"bearer": {"Authorization: Bearer " + maria.token}, "cookie": {w.browser("maria@harbor.example"), "Origin: " + w.url, "Sec-Fetch-Site: same-origin"}, "token": {"Authorization: Bearer " + token}}}
	c.id, c.fingerprint = maria.rename("4", "reviewer")
	c.talk = maria.talk("Show role 4")
	c.actors = map[string]identity.Actor{"a person": w.db.Person(t, "maria@harbor.example"), "an agent": w.db.Agent(t, "maria@harbor.example", "read", "propose")}
	return c
}

// rows is all that somebody could have done.
func (c *cast) rows() string {
	c.t.Helper()
	return c.sql(`SELECT concat_ws(' ', (SELECT string_agg(r::text, ' ' ORDER BY id) FROM core.roles r), (SELECT string_agg(p.id::text || p.status::text || p.expires_at::text, ' ' ORDER BY number) FROM countersign.proposals p),
		(SELECT count(*) FROM countersign.proposal_decisions), (SELECT count(*) FROM countersign.conversations), (SELECT count(*) FROM countersign.messages), (SELECT count(*) FROM countersign.turns),
		(SELECT count(*) FROM countersign.events), (SELECT count(*) FROM countersign.audit_events WHERE proposal_id IS NOT NULL), (SELECT count(*) FROM countersign.sign_ins))`)
}

// entry is a way in. It gives what came out, and whether somebody was let through.
type entry func(c *cast, headers []string) (answer string, acted bool)

func graphql(query string, variables func(c *cast) vars) entry {
	return func(c *cast, headers []string) (string, bool) {
		body, _ := json.Marshal(vars{"query": query, "variables": variables(c)})
		s := c.as("").send(http.MethodPost, "/graphql", string(body), append(headers, "Content-Type: application/json")...)
		var a answer
		_ = json.Unmarshal([]byte(s.body), &a)
		return s.body, len(a.Errors) == 0 || !strings.Contains(s.body, `"UNAUTHENTICATED"`) && !strings.Contains(s.body, `"FORBIDDEN"`)
	}
}

func followed(open func(c *cast, headers []string) *stream) entry {
	return func(c *cast, headers []string) (string, bool) {
		s := open(c, headers)
		if s.res.StatusCode == http.StatusOK {
			if first := s.next(""); !strings.Contains(first, `"UNAUTHENTICATED"`) && !strings.Contains(first, `"FORBIDDEN"`) {
				return first, true
			}
			return "", false
		}
		return s.rest(), false
	}
}

func paged(method, path string, form func(c *cast) url.Values) entry {
	return func(c *cast, headers []string) (string, bool) {
		body := ""
		if form != nil {
			body = form(c).Encode()
		}
		s := c.as("").send(method, strings.Replace(path, "{id}", c.id, 1), body, append(headers, "Content-Type: application/x-www-form-urlencoded")...)
		to := s.header.Get("Location")
		out := strings.HasPrefix(to, "/sign-in") || strings.HasPrefix(to, "/workspace") || s.status == http.StatusUnauthorized || s.status == http.StatusForbidden
		return s.body, !out
	}
}

func none(*cast) vars { return nil }

// entries are all ways in.
var entries = map[string]entry{
	"a query":    graphql(`{ proposals { edges { node { id headline } } } }`, none),
	"the viewer": graphql(`{ viewer { role user { email } } capabilities { actions { tool } } }`, none),
	"a node":     graphql(`query($id: ID!) { node(id: $id) { id } }`, func(c *cast) vars { return vars{"id": c.id} }),
	"confirm":    graphql(confirm, func(c *cast) vars { return vars{"in": vars{"id": c.id, "fingerprint": c.fingerprint}} }),
	"reject":     graphql(reject, func(c *cast) vars { return vars{"in": vars{"id": c.id}} }),
	"extend":     graphql(extend, func(c *cast) vars { return vars{"in": vars{"id": c.id}} }),
	"withdraw":   graphql(withdraw, func(c *cast) vars { return vars{"in": vars{"id": c.id}} }),
	"propose": graphql(propose, func(*cast) vars {
		return vars{"in": vars{"entity": "core.role", "operation": "UPDATE", "recordId": "5", "changes": vars{"name": "x"}}}
	}),
	"a message":        graphql(ask, func(c *cast) vars { return vars{"c": c.talk, "m": "Rename role 5 to onlooker"} }),
	"a conversation":   graphql(`mutation { createConversation(input: {}) { conversation { id } } }`, none),
	"events":           followed(func(c *cast, h []string) *stream { return c.as("").open(http.MethodGet, "/events", nil, h...) }),
	"a stream by POST": followed(func(c *cast, h []string) *stream { return c.as("").stream(streamed, nil, h...) }),
	"a stream by GET": followed(func(c *cast, h []string) *stream {
		return c.as("").open(http.MethodGet, "/graphql?query="+url.QueryEscape(streamed), nil, h...)
	}),
	"a socket":           socket(false),
	"a socket by init":   socket(true),
	"the inbox":          paged(http.MethodGet, "/inbox", nil),
	"a card":             paged(http.MethodGet, "/proposals/{id}", nil),
	"the history":        paged(http.MethodGet, "/history", nil),
	"the assistant":      paged(http.MethodGet, "/assistant", nil),
	"a form to confirm":  paged(http.MethodPost, "/proposals/{id}/confirm", func(c *cast) url.Values { return url.Values{"fingerprint": {c.fingerprint}} }),
	"a form to reject":   paged(http.MethodPost, "/proposals/{id}/reject", func(c *cast) url.Values { return url.Values{"fingerprint": {c.fingerprint}} }),
	"a form to converse": paged(http.MethodPost, "/conversations", func(*cast) url.Values { return url.Values{"content": {"Rename role 5 to onlooker"}} }),
}

// socket connects; by its init it says who it is in the first message, as clients do that can set no header.
func socket(init bool) entry {
	return func(c *cast, headers []string) (string, bool) {
		first, at := `{"type":"connection_init"}`, append([]string{}, headers...)
		for i, h := range headers {
			if bearer, is := strings.CutPrefix(h, "Authorization: "); is && init {
				first, at = `{"type":"connection_init","payload":{"authorization":"`+bearer+`"}}`, append(at[:i], at[i+1:]...)
			}
		}
		s, status := c.upgraded(append(at, "Sec-WebSocket-Protocol: graphql-transport-ws")...)
		if status != http.StatusSwitchingProtocols {
			return "", false
		}
		s.say(first)
		s.subscribe("1", streamed, nil)
		said := s.heard(patience)
		return said, said != ""
	}
}

const ofMaria = ` WHERE user_id = (SELECT id FROM countersign.users WHERE email = 'maria@harbor.example')`

// Whoever is nobody, or not any more, is let in anywhere, and nothing is done.
func TestNobodyIsAPersonAnywhere(t *testing.T) {
	t.Parallel()
	both := func(deed string) func(*cast) { return func(c *cast) { c.exec(deed) } }
	without := func(c *cast, headers ...string) {
		for by := range c.headers {
			c.headers[by] = headers
		}
	}
	for name, undo := range map[string]func(*cast){
		"no credential": func(c *cast) { without(c) },
		"made up": func(c *cast) {
			without(c, "Authorization: Bearer css_"+strings.Repeat("a", 40), "Cookie: countersign=made-up")
		},
		"a tampered credential": func(c *cast) {
			for by, headers := range c.headers {
				c.headers[by] = append([]string{headers[0][:len(headers[0])-2] + "xx"}, headers[1:]...)
			}
		},
		"a row that names another": both(`WITH b AS (UPDATE countersign.sign_ins SET user_id = (SELECT id FROM countersign.users WHERE email = 'paolo@harbor.example')` + ofMaria + `)
			UPDATE countersign.api_tokens SET user_id = (SELECT id FROM countersign.users WHERE email = 'paolo@harbor.example')`),
		"expired":                  both(`WITH b AS (UPDATE countersign.sign_ins SET expires_at = clock_timestamp()) UPDATE countersign.api_tokens SET expires_at = clock_timestamp()`),
		"ended":                    both(`WITH b AS (UPDATE countersign.sign_ins SET ended_at = clock_timestamp()) UPDATE countersign.api_tokens SET revoked_at = clock_timestamp()`),
		"disabled":                 both(`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`),
		"no member any more":       both(`DELETE FROM countersign.memberships` + ofMaria),
		"in a workspace of others": both(`WITH b AS (UPDATE countersign.sign_ins SET workspace_id = (SELECT id FROM countersign.workspaces WHERE slug = 'other-site')) UPDATE countersign.api_tokens SET workspace_id = (SELECT id FROM countersign.workspaces WHERE slug = 'other-site')`),
		"in no workspace":          both(`WITH b AS (UPDATE countersign.sign_ins SET workspace_id = NULL) UPDATE countersign.api_tokens SET revoked_at = clock_timestamp()`),
		"a session that cannot be read": func(c *cast) {
			c.exec(`UPDATE countersign.sessions SET data = 'x'`)
			c.headers = map[string][]string{"cookie": c.headers["cookie"]}
			c.actors = nil
		},
		"a session under another's id": func(c *cast) {
			paolo := c.browser("paolo@harbor.example") // Paolo's cookie, with what Maria's session holds, on a sign-in that is Paolo's
			c.exec(`UPDATE countersign.sign_ins SET user_id = (SELECT id FROM countersign.users WHERE email = 'maria@harbor.example') WHERE user_id = (SELECT id FROM countersign.users WHERE email = 'paolo@harbor.example')`)
			c.headers, c.actors = map[string][]string{"cookie": append([]string{paolo}, c.headers["cookie"][1:]...)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t)
			undo(c)
			before := c.rows()
			for by, headers := range c.headers {
				for at, enter := range entries {
					answer, acted := enter(c, append([]string{}, headers...))
					if acted || strings.Contains(answer, "reviewer") || strings.Contains(answer, "maria@") {
						t.Errorf("%s, by %s: let in, with %.300s", at, by, answer)
					}
				}
			}
			c.atWork(t)
			if !strings.HasPrefix(name, "in ") { // who is signed in may choose where
				c.sessionless(t)
			}
			if after := c.rows(); after != before {
				t.Errorf("something was done: %s\nbefore: %s", after, before)
			}
		})
	}
}

// sessionless: what there is of a session leads to none, to no other workspace and to no end of one.
func (c *cast) sessionless(t *testing.T) {
	t.Helper()
	for by, headers := range c.headers {
		for _, what := range [][2]string{{http.MethodPost, "/session/workspace"}, {http.MethodDelete, "/session"}} {
			if by == "token" && what[0] == http.MethodDelete || strings.HasSuffix(t.Name(), "no_member_any_more") && what[0] == http.MethodDelete {
				continue // it ends what there is
			}
			if s := c.as("").send(what[0], what[1], `{"workspace":"harbor-mill"}`, append(append([]string{}, headers...), "Content-Type: application/json")...); s.status != http.StatusUnauthorized && s.status != http.StatusForbidden {
				t.Errorf("%s %s, by %s: %d %s", what[0], what[1], by, s.status, s.body)
			}
		}
	}
}

// Who is disabled, or a member of nothing, does not sign in, whatever the door.
func TestWhoIsNobodyDoesNotSignIn(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]string{"disabled": `UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email = 'maria@harbor.example'`, "no member": `DELETE FROM countersign.memberships` + ofMaria} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.exec(deed)
			status, body := w.post("/session", "", map[string]string{"email": "maria@harbor.example", "password": "harbor-mill"})
			if status != http.StatusUnauthorized && status != http.StatusForbidden || strings.Contains(string(body), "css_") {
				t.Errorf("POST /session: %d %s", status, body)
			}
			form := url.Values{"email": {"maria@harbor.example"}, "password": {"harbor-mill"}}.Encode()
			in := w.as("").send(http.MethodPost, "/sign-in", form, "Content-Type: application/x-www-form-urlencoded", "Origin: "+w.url, "Sec-Fetch-Site: same-origin")
			cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
			if s := w.as("").send(http.MethodGet, "/inbox", "", "Cookie: "+cookie); s.status == http.StatusOK {
				t.Errorf("the form: %d %v, and then the inbox", in.status, in.header)
			}
		})
	}
}

// atWork is what goes on in the background, for those who acted when it began.
func (c *cast) atWork(t *testing.T) {
	t.Helper()
	if name := t.Name(); strings.Contains(name, "credential") || strings.Contains(name, "made_up") {
		return // nobody began anything
	}
	g, tools, helper := c.parts()
	which, err := id.ParseProposal(c.id)
	if err != nil {
		t.Fatal(err)
	}
	for name, who := range c.actors {
		if result, err := tools.Run(t.Context(), who, toolcall.Origin{Channel: sqlc.ChannelApi}, "core_role_update", json.RawMessage(`{"id":"5","changes":{"name":"x"}}`)); err == nil && result.OK {
			t.Errorf("%s proposed", name)
		}
		if result, err := tools.Run(t.Context(), who, toolcall.Origin{Channel: sqlc.ChannelApi}, "core_role_get", json.RawMessage(`{"id":"5"}`)); err == nil && result.OK {
			t.Errorf("%s read", name)
		}
		if person, is := who.(identity.Person); is {
			if _, err := g.Confirm(t.Context(), person, which, c.fingerprint); gate.CodeOf(err) != gate.Forbidden && gate.CodeOf(err) != gate.NotFound {
				t.Errorf("confirming: %v", err)
			}
		}
		if _, err := identity.New(c.db.Pools.Identity, identity.Cookie{}).StandingOf(t.Context(), who); err == nil {
			t.Errorf("%s stands as before", name)
		}
	}
	_ = helper
}

func (c *cast) parts() (*gate.Gate, *toolcall.Service, *assistant.Assistant) {
	log, registry, pools := slog.New(slog.DiscardHandler), c.db.Registry(c.t), c.db.Pools
	g := gate.New(gate.Pools{Gate: pools.Gate, Agent: pools.Agent, Worker: pools.Worker}, registry, gate.DefaultLimits, func() {}, log)
	tools := toolcall.New(g, registry, actions.All(), pools.Agent, log)
	return g, tools, assistant.New(offline.Model{}, tools, pools.Agent, g.WithdrawCutShort, log)
}

// The table's entries do let somebody in: else it would prove nothing.
func TestSomebodyIsLetInEverywhere(t *testing.T) {
	t.Parallel()
	persons := []string{"confirm", "reject", "extend", "withdraw", "the inbox", "a card", "the history", "the assistant", "a form to confirm", "a form to reject", "a form to converse"}
	c := newCast(t)
	for by, headers := range c.headers {
		for at, enter := range entries {
			wants := true
			for _, one := range persons {
				wants = wants && !(by == "token" && one == at)
			}
			if answer, acted := enter(c, append([]string{}, headers...)); acted != wants {
				t.Errorf("%s, by %s: let in %v, with %.300s", at, by, acted, answer)
			}
		}
	}
}

// What a token has no scope for it does not do.
func TestATokenWithoutTheScope(t *testing.T) {
	t.Parallel()
	for scope, may := range map[string][]string{
		"read":      {"a query", "the viewer", "a node", "a message", "a conversation"},
		"propose":   {"the viewer", "propose", "withdraw", "a conversation", "a message"},
		"subscribe": {"the viewer", "events", "a stream by POST", "a stream by GET", "a socket", "a socket by init", "a conversation", "a message"},
	} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := newCast(t)
			token := []string{"Authorization: Bearer " + c.db.APIToken(t, "maria@harbor.example", scope)}
			before := c.sql(`SELECT count(*) FROM countersign.proposals`)
			for at, enter := range entries {
				if answer, acted := enter(c, token); acted {
					allowed := false
					for _, one := range may {
						allowed = allowed || one == at
					}
					if !allowed {
						t.Errorf("%s: let in, with %.300s", at, answer)
					}
				}
			}
			if after := c.sql(`SELECT count(*) FROM countersign.proposals`); after != before && scope != "propose" {
				t.Errorf("%s proposals, before %s", after, before)
			}
			if got := c.sql(`SELECT string_agg(name, ' ' ORDER BY id) FROM core.roles WHERE id IN (4, 5)`); !strings.HasPrefix(got, "editor ") {
				t.Errorf("the roles are %s", got)
			}
		})
	}
}

// The zero values are nobody, and so is what only looks like somebody, for whatever takes an actor.
func TestTheZeroValuesDoNothing(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	g, tools, helper := c.parts()
	ctx := t.Context()
	which, err := id.ParseProposal(c.id)
	if err != nil {
		t.Fatal(err)
	}
	var talk id.Conversation
	if err := c.db.Owner.QueryRow(ctx, `SELECT id FROM countersign.conversations ORDER BY created_at LIMIT 1`).Scan(&talk); err != nil {
		t.Fatal(err)
	}
	e, _ := c.db.Registry(t).Entity("core.role")
	type disguised struct{ identity.Actor } // with the real one's credential inside
	before := c.rows()
	calls := c.sql(`SELECT count(*) FROM countersign.tool_calls`)
	for name, who := range map[string]identity.Actor{"the zero Person": identity.Person{}, "the zero Agent": identity.Agent{}, "nobody": nil, "a disguise": disguised{c.actors["a person"]}} {
		for what, do := range map[string]func() error{
			"run": func() error {
				_, err := tools.Run(ctx, who, toolcall.Origin{Channel: sqlc.ChannelApi}, "core_role_get", json.RawMessage(`{"id":"4"}`))
				return err
			},
			"propose": func() error {
				record := "4"
				_, err := tools.Propose(ctx, who, toolcall.Origin{Channel: sqlc.ChannelApi}, toolcall.Change{Entity: "core.role", Operation: "update", RecordID: &record, Changes: json.RawMessage(`{"name":"x"}`)})
				return err
			},
			"revert": func() error {
				_, err := tools.Revert(ctx, who, toolcall.Origin{Channel: sqlc.ChannelApi}, which, nil)
				return err
			},
			"offered": func() error { _, err := tools.Offered(ctx, who); return err },
			"gate.Propose": func() error {
				_, err := g.Propose(ctx, who, gate.Intent{Call: id.NewToolCall(), Tool: "core_role_update", ActionKind: "record_update", Entity: e, Operation: "update", Key: "4", Values: map[string]json.RawMessage{"name": json.RawMessage(`"x"`)}, Channel: sqlc.ChannelApi})
				return err
			},
			"gate.Revert": func() error {
				_, err := g.Revert(ctx, who, gate.Reverting{Of: which, Call: id.NewToolCall(), Channel: sqlc.ChannelApi})
				return err
			},
			"send": func() error { _, err := helper.Send(ctx, who, talk, "Rename role 4 to x", ""); return err },
			"open": func() error { _, err := helper.Open(ctx, who, ""); return err },
		} {
			if err := do(); err == nil {
				t.Errorf("%s: %s did it", what, name)
			}
		}
	}
	nobody, none := identity.Person{}, identity.Agent{}
	for what, do := range map[string]func(context.Context) error{
		"confirm":    func(ctx context.Context) error { _, err := g.Confirm(ctx, nobody, which, c.fingerprint); return err },
		"approve":    func(ctx context.Context) error { _, err := g.Approve(ctx, nobody, which, c.fingerprint); return err },
		"reject":     func(ctx context.Context) error { _, err := g.Reject(ctx, nobody, which, ""); return err },
		"disapprove": func(ctx context.Context) error { _, err := g.Disapprove(ctx, nobody, which, ""); return err },
		"withdraw":   func(ctx context.Context) error { _, err := g.Withdraw(ctx, nobody, which); return err },
		"extend":     func(ctx context.Context) error { _, err := g.Extend(ctx, nobody, which); return err },
		"revise": func(ctx context.Context) error {
			_, err := g.Revise(ctx, nobody, gate.Revision{Of: which, Seen: c.fingerprint, Values: map[string]json.RawMessage{"name": json.RawMessage(`"x"`)}, Channel: sqlc.ChannelApi})
			return err
		},
		"withdraw as an agent": func(ctx context.Context) error { _, err := g.WithdrawAsAgent(ctx, none, which); return err },
	} {
		if err := do(ctx); err == nil {
			t.Errorf("%s: nobody did it", what)
		}
	}
	if after := c.rows(); after != before || c.sql(`SELECT count(*) FROM countersign.tool_calls`) != calls {
		t.Errorf("something was done: %s\nbefore: %s", after, before)
	}
}

// Where there is an Authorization header it alone counts: the cookie beside it is not even looked up.
func TestABearerWinsAndTheCookieIsNotRead(t *testing.T) {
	t.Parallel()
	asked := &sessionReads{}
	w := start(t, func(c *server.Config) { c.Tracer, c.TimersOff = asked, true })
	cookie, paolo := w.browser("maria@harbor.example"), w.signIn("paolo@harbor.example")
	const viewer = `{"query":"{ viewer { user { email } } }"}`
	session := w.sql(`SELECT string_agg(s::text, ' ') FROM countersign.sessions s`)
	for name, c := range map[string]struct {
		headers []string
		email   string // "" for nobody
		reads   bool
	}{
		"the cookie alone":        {[]string{cookie}, "maria@harbor.example", true},
		"a bearer beside it":      {[]string{cookie, "Authorization: Bearer " + paolo.token}, "paolo@harbor.example", false},
		"an API token beside it":  {[]string{cookie, "Authorization: Bearer " + w.db.APIToken(t, "paolo@harbor.example", "read")}, "paolo@harbor.example", false},
		"a dead bearer beside it": {[]string{cookie, "Authorization: Bearer css_dead"}, "", false},
		"a dead token beside it":  {[]string{cookie, "Authorization: Bearer csa_dead"}, "", false},
		"no bearer, but a header": {[]string{cookie, "Authorization: Basic bWFyaWE6eA=="}, "", false},
		"an empty header":         {[]string{cookie, "Authorization: "}, "", false},
	} {
		asked.n = 0
		s := w.as("").send(http.MethodPost, "/graphql", viewer, append(c.headers, "Content-Type: application/json", "Origin: "+w.url, "Sec-Fetch-Site: same-origin")...)
		if got := strings.Contains(s.body, `"`+c.email+`"`); got != (c.email != "") || c.email == "" && s.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, s.status, s.body)
		}
		if (asked.n > 0) != c.reads {
			t.Errorf("%s: sessions were read %d times", name, asked.n)
		}
		if set := s.header.Values("Set-Cookie"); len(set) > 0 {
			t.Errorf("%s: the answer sets %v", name, set)
		}
	}
	if after := w.sql(`SELECT string_agg(s::text, ' ') FROM countersign.sessions s`); after != session {
		t.Errorf("the session was %s and is %s", session, after)
	}
	if bytes.Contains([]byte(session), []byte(cookie[len("Cookie: countersign="):])) {
		t.Error("the database holds the cookie itself")
	}
}
