package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/feed"
)

// Whoever loses the right to follow is told so, and nothing after. How soon where nothing happens is
// feed.DefaultLimits: see TestRightsAreLookedAtOften.
func TestWhoLosesTheRightIsEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		code  int
		token bool
		lose  func(w *world, maria, follower *client)
	}{
		{"signing out", 4401, false, func(_ *world, _, f *client) { f.signOut() }},
		{"the sign-in's end", 4401, false, func(w *world, _, _ *client) {
			w.exec(`UPDATE countersign.sign_ins SET expires_at = clock_timestamp() WHERE user_id = (SELECT id FROM countersign.users WHERE email LIKE 'sam@%')`)
		}},
		{"being disabled", 4401, false, func(w *world, _, _ *client) {
			w.exec(`UPDATE countersign.users SET disabled_at = clock_timestamp() WHERE email LIKE 'sam@%'`)
		}},
		{"no membership", 4403, false, func(w *world, _, _ *client) {
			w.exec(`DELETE FROM countersign.memberships WHERE user_id = (SELECT id FROM countersign.users WHERE email LIKE 'sam@%')`)
		}},
		{"a revoked token", 4401, true, func(w *world, _, _ *client) {
			w.exec(`UPDATE countersign.api_tokens SET revoked_at = clock_timestamp()`)
		}},
		{"a token's scope", 4403, true, func(w *world, _, _ *client) {
			w.exec(`UPDATE countersign.api_tokens SET scopes = '{read}'`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			maria, sam := w.signIn("maria@harbor.example"), w.signIn("sam@harbor.example")
			if c.token {
				sam = w.as(w.db.APIToken(t, "sam@harbor.example", "subscribe"))
			}
			told, idle, stream := sam.follows(nil), sam.follows(nil), sam.stream(streamed, nil)
			maria.rename("4", "before")
			told.event()
			idle.event()
			stream.next("event: next")
			c.lose(w, maria, sam)
			begun := time.Now()
			maria.rename("5", "after")
			told.closes(c.code)
			idle.closes(c.code)
			if last := stream.rest(); strings.Contains(last, "proposalEvents") || !strings.Contains(last, `"errors"`) || !strings.Contains(last, "event: complete") {
				t.Errorf("the stream went on with %s", last)
			}
			t.Logf("it took %v", time.Since(begun))
		})
	}
}

// Five seconds are promised: between two looks there is less, with time to look in.
func TestRightsAreLookedAtOften(t *testing.T) {
	if every := feed.DefaultLimits.Check; every > 4*time.Second {
		t.Errorf("rights are looked at every %v", every)
	}
}

// Where nothing happens the right is looked at all the same.
func TestAnIdleFollowerIsEndedToo(t *testing.T) {
	t.Parallel()
	w := start(t)
	sam := w.signIn("sam@harbor.example")
	idle, unsubscribed := sam.follows(nil), sam.socket()
	sam.signOut()
	idle.closes(4401)
	unsubscribed.closes(4401)
}

// A role that changes changes what is told, with the next event.
func TestARoleThatChangesIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria, paolo := w.signIn("maria@harbor.example"), w.signIn("paolo@harbor.example")
	s, witness := paolo.follows(nil), maria.follows(nil)
	maria.rename("4", "before")
	witness.event() // so that rights were looked at for it
	s.quiet()
	w.exec(`UPDATE countersign.memberships SET role = 'auditor' WHERE user_id = (SELECT id FROM countersign.users WHERE email LIKE 'paolo@%')`)
	id, _ := maria.rename("5", "after")
	if e := s.event(); e.ProposalID != id {
		t.Errorf("told of %v, not of %s", e, id)
	}
	w.exec(`UPDATE countersign.memberships SET role = 'member' WHERE user_id = (SELECT id FROM countersign.users WHERE email LIKE 'paolo@%')`)
	maria.rename("6", "again")
	mine, _ := paolo.rename("6", "mine")
	if e := s.event(); e.ProposalID != mine {
		t.Errorf("told of %v, not of %s", e, mine)
	}
}

func TestWhereAnUpgradeComesFrom(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	host := strings.TrimPrefix(w.url, "http://")
	for _, c := range []struct {
		name    string
		status  int
		headers []string
	}{
		{"another site", http.StatusForbidden, []string{"Origin: https://evil.example", "Cookie: countersign=x"}},
		{"another site without a cookie", http.StatusForbidden, []string{"Origin: https://evil.example"}},
		{"nowhere", http.StatusForbidden, []string{"Origin: null"}},
		{"this site", http.StatusSwitchingProtocols, []string{"Origin: http://" + host}},
		{"this site behind a proxy", http.StatusSwitchingProtocols, []string{"Origin: https://" + host}},
		{"no browser", http.StatusSwitchingProtocols, nil},
	} {
		if _, status := w.upgraded(append(c.headers, "Sec-WebSocket-Protocol: graphql-transport-ws")...); status != c.status {
			t.Errorf("%s: %d, want %d", c.name, status, c.status)
		}
	}
	header := w.upgrade("Authorization: Bearer " + maria.token)
	header.say(`{"type":"connection_init"}`)
	header.hears(`{"type":"connection_ack"}`)
	wrong := w.upgrade("Authorization: Bearer css_x")
	wrong.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + maria.token + `"}}`)
	wrong.closes(4401)
}

func TestOneCredentialHasSoManySeats(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	sockets := make([]*wire, 100)
	for i := range sockets {
		sockets[i] = maria.socket()
	}
	s := w.upgrade()
	s.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + maria.token + `"}}`)
	s.closes(4429)
	if status, body := maria.post("/graphql", vars{"query": "{ viewer { role } }"}); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	_ = sockets[0].conn.Close()
	for { // until the server has noticed
		again := w.upgrade()
		again.say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + maria.token + `"}}`)
		if again.heard(patience) == `{"type":"connection_ack"}` {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("a seat that was left is not given again")
		}
	}
}
