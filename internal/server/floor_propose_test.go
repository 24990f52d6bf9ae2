package server_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/id"
)

// token makes an API token and gives its id.
func (w *world) token(email string, scopes ...string) string {
	w.t.Helper()
	w.db.APIToken(w.t, email, scopes...)
	return w.sql(`SELECT id FROM countersign.api_tokens ORDER BY created_at DESC LIMIT 1`)
}

// conversation makes one of somebody's.
func (w *world) conversation(user string) string {
	w.t.Helper()
	made := id.NewConversation().UUID().String()
	w.agentDoes(`INSERT INTO conversations (id, workspace_id, user_id, title) VALUES ($1, $2, $3, 'x')`, made, w.workspace("harbor-mill"), user)
	return made
}

// turn makes one that runs.
func (w *world) turn(conversation, user string) string {
	w.t.Helper()
	made := id.NewTurn().UUID().String()
	w.agentDoes(`INSERT INTO turns (id, workspace_id, conversation_id, user_id, request_hash, lease_until) VALUES ($1, $2, $3, $4, sha256(''), clock_timestamp() + interval '1 minute')`,
		made, w.workspace("harbor-mill"), conversation, user)
	return made
}

func TestProposeRefusesWhoMayNot(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, email := range []string{"maria@harbor.example", "paolo@harbor.example", "sam@harbor.example", "olu@othersite.example"} {
		w.signIn(email)
	}
	good := w.legitimate()
	maria, paolo, sam, olu := w.user("maria"), w.user("paolo"), w.user("sam"), w.user("olu")
	expired, revoked, reading := w.token("maria@harbor.example", "propose"), w.token("maria@harbor.example", "propose"), w.token("maria@harbor.example", "read")
	w.exec(`UPDATE countersign.api_tokens SET expires_at = clock_timestamp() WHERE id = $1::text::uuid`, expired)
	w.exec(`UPDATE countersign.api_tokens SET revoked_at = clock_timestamp() WHERE id = $1::text::uuid`, revoked)
	asToken := func(token string) proposing {
		return good.but(proposing{"by_sign_in": nil, "by_token": token, "in_call": w.toolCall(maria, nil, token)})
	}
	live := w.token("maria@harbor.example", "propose")
	for name, c := range map[string]struct {
		args proposing
		code string
	}{
		"as it should be":             {good, ""},
		"by a token, as it should be": {asToken(live), ""},
		"for another, in my sign-in":  {good.but(proposing{"actor": paolo, "in_call": w.toolCall(paolo, w.signInOf("maria"), nil)}), "CS003"},
		"in another's sign-in":        {good.but(proposing{"by_sign_in": w.signInOf("paolo"), "in_call": w.toolCall(maria, w.signInOf("paolo"), nil)}), "CS003"},
		"an auditor":                  {good.but(proposing{"actor": sam, "by_sign_in": w.signInOf("sam"), "in_call": w.toolCall(sam, w.signInOf("sam"), nil)}), "CS003"},
		"no member":                   {good.but(proposing{"actor": olu, "by_sign_in": w.signInOf("olu"), "in_call": w.toolCall(olu, w.signInOf("olu"), nil)}), "CS003"},
		"no credential":               {good.but(proposing{"by_sign_in": nil}), "CS003"},
		"two credentials":             {good.but(proposing{"by_token": live}), "CS003"},
		"an expired token":            {asToken(expired), "CS003"},
		"a revoked token":             {asToken(revoked), "CS003"},
		"a token that may only read":  {asToken(reading), "CS003"},
		"another's token":             {asToken(w.token("paolo@harbor.example", "propose")), "CS003"},
		"no call":                     {good.but(proposing{"in_call": nil}), "CS001"},
		"a call that is not there":    {good.but(proposing{"in_call": maria}), "23503"},
		"another's call":              {good.but(proposing{"in_call": w.toolCall(paolo, w.signInOf("paolo"), nil)}), "CS001"},
		"the call of a token of mine": {good.but(proposing{"in_call": w.toolCall(maria, nil, live)}), "CS001"},
		"no version":                  {good.but(proposing{"records": `[{"position": 1, "entity": "core.role", "operation": "update", "key": "4", "label": "editor", "before": {}, "changes": []}]`}), "23514"},
		"a record's value as version": {good.but(proposing{"records": `[{"position": 1, "entity": "core.role", "operation": "update", "key": "4", "label": "editor", "version": "editor", "before": {}, "changes": []}]`}), "23514"},
		"for ever":                    {good.but(proposing{"lives": "1 year"}), "23514"},
		"no fingerprint":              {good.but(proposing{"card_fingerprint": "x"}), "23514"},
		"two lines":                   {good.but(proposing{"with_headline": "one\ntwo"}), "23514"},
	} {
		statement, args := c.args.call()
		if code := sqlstate(t, w.db.Pools.Agent, w.workspace("harbor-mill"), statement, args...); code != c.code {
			t.Errorf("%s: %q, want %q", name, code, c.code)
		}
	}
	statement, args := good.call()
	for name, workspace := range map[string]string{"another workspace": w.workspace("other-site"), "no workspace": ""} {
		if code := sqlstate(t, w.db.Pools.Agent, workspace, statement, args...); code != "CS003" {
			t.Errorf("in %s: %q", name, code)
		}
	}
}

func TestProposeRefusesWhatHasEnded(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example")
	w.signIn("paolo@harbor.example")
	good, harbor, maria, paolo := w.legitimate(), w.workspace("harbor-mill"), w.user("maria"), w.user("paolo")
	talk, theirs := w.conversation(maria), w.conversation(paolo)
	running := w.turn(talk, maria)
	inTurn := good.but(proposing{"in_conversation": talk, "in_turn": running})
	for name, c := range map[string]struct {
		args   proposing
		before string
		code   string
	}{
		"in a turn that runs":       {inTurn, ``, ""},
		"a lapsed turn":             {inTurn, `UPDATE turns SET lease_until = clock_timestamp()`, "CS001"},
		"a turn that was cut short": {inTurn, `UPDATE turns SET status = 'cut_short', failure_code = 'cut_short', finished_at = clock_timestamp()`, "CS001"},
		"a turn that is complete":   {inTurn, `UPDATE turns SET status = 'complete', finished_at = clock_timestamp()`, "CS001"},
		"another conversation's":    {inTurn.but(proposing{"in_conversation": w.conversation(maria)}), ``, "CS001"},
		"a turn, no conversation":   {inTurn.but(proposing{"in_conversation": nil}), ``, "CS001"},
		"another's turn":            {good.but(proposing{"in_conversation": theirs, "in_turn": w.turn(theirs, paolo)}), ``, "CS003"},
		"another's conversation":    {good.but(proposing{"in_conversation": theirs}), ``, "CS003"},
		"a call that has ended":     {good, `UPDATE tool_calls SET status = 'cut_short', finished_at = clock_timestamp()`, "CS001"},
		"signed out":                {good, `UPDATE sign_ins SET ended_at = clock_timestamp()`, "CS003"},
		"a sign-in past its time":   {good, `UPDATE sign_ins SET expires_at = clock_timestamp()`, "CS003"},
		"disabled":                  {good, `UPDATE users SET disabled_at = clock_timestamp()`, "CS003"},
		"membership removed":        {good, `DELETE FROM memberships`, "CS003"},
		"an auditor now":            {good, `UPDATE memberships SET role = 'auditor'`, "CS003"},
	} {
		statement, args := c.args.call()
		if code := w.afterwards(t, c.before, harbor, statement, args...); code != c.code {
			t.Errorf("%s: %q, want %q", name, code, c.code)
		}
	}
}

// afterwards gives the code with which the agent is refused a statement once another was run past every
// right; both are undone.
func (w *world) afterwards(t *testing.T, before, workspace, statement string, args ...any) string {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), w.db.SuperuserURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(t.Context())) }()
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SET LOCAL search_path = countersign, pg_catalog; `+before+`; SET LOCAL ROLE countersign_agent`); err != nil {
		t.Fatalf("%s: %v", before, err)
	}
	return inside(t, tx, workspace, statement, args...)
}
