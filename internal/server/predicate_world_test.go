package server_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// everyKind gives each workspace's proposals every state that a query looks for, from the one there is of each.
const everyKind = `
	SET session_replication_role = replica;
	INSERT INTO proposals (id, workspace_id, status, tool, entity, operation, action_kind, headline, fingerprint, salt, acting_user_id, channel, conversation_id, turn_id,
		approvals_needed, preview_only, lifetime, expires_at, resolved_at, outcome_affected, failure_code, failure_message, record_count, shared, intent, revert_of_id, failed_positions)
	SELECT gen_random_uuid(), p.workspace_id, s.status::proposal_status, p.tool, p.entity, p.operation, p.action_kind, p.headline, p.fingerprint, p.salt, p.acting_user_id, p.channel, p.conversation_id, p.turn_id,
		(s.status = 'awaiting_approval')::int, false, p.lifetime, now() + s.lives::interval, CASE WHEN s.status IN ('pending', 'awaiting_approval') THEN NULL ELSE now() END,
		CASE WHEN s.status = 'applied' THEN 1 END, CASE WHEN s.status = 'failed' THEN 'internal'::failure_code END, CASE WHEN s.status = 'failed' THEN 'x' END, 1, s.status = 'pending',
		sha256('x'), CASE WHEN s.status = 'applied' THEN p.id END, CASE WHEN s.status = 'failed' THEN ARRAY[1] END
	FROM proposals p, (VALUES ('pending', '1 hour'), ('pending', '-1 hour'), ('awaiting_approval', '1 hour'), ('applied', '1 hour'), ('failed', '1 hour')) AS s (status, lives)
	WHERE p.status = 'rejected';
	INSERT INTO proposal_records (proposal_id, workspace_id, position, entity, operation, key, label, version, before, changes)
	SELECT p.id, p.workspace_id, 1, p.entity, p.operation, r.key, r.label, r.version, r.before, r.changes
	FROM proposals p, proposal_records r JOIN proposals o ON o.id = r.proposal_id AND o.status = 'rejected'
	WHERE r.workspace_id = p.workspace_id AND NOT EXISTS (SELECT FROM proposal_records has WHERE has.proposal_id = p.id);
	INSERT INTO turns (id, workspace_id, conversation_id, user_id, request_hash, status, lease_until, idempotency_key)
	SELECT gen_random_uuid(), workspace_id, conversation_id, user_id, request_hash, 'running', now() + l.until::interval, l.until
	FROM turns, (VALUES ('1 hour'), ('-1 hour')) AS l (until) WHERE status = 'complete';
	INSERT INTO budgets (id, workspace_id, subject, measure, period, hard_limit) SELECT gen_random_uuid(), id, 'workspace', 'model_tokens', 'day', 0 FROM workspaces WHERE slug = 'other-site';
	INSERT INTO feed_floor SELECT DISTINCT workspace_id, 1 FROM events ON CONFLICT (workspace_id) DO UPDATE SET position = 7;
	INSERT INTO feed (event_id, workspace_id) SELECT id, workspace_id FROM events ON CONFLICT DO NOTHING;
	SET session_replication_role = origin;`

// peekingAt is Harbor Mill with the ids of what Other Site has.
func peekingAt(t *testing.T) *peek {
	w := busy(t)
	admin, err := pgx.Connect(t.Context(), w.db.SuperuserURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.WithoutCancel(t.Context())) })
	if _, err := admin.Exec(t.Context(), `SET search_path = countersign, pg_catalog, pg_temp; `+everyKind); err != nil {
		t.Fatal(err)
	}
	p := &peek{admin: admin, harbor: w.workspace("harbor-mill"), theirs: w.workspace("other-site")}
	one := func(query string) string { return "'" + w.sql(query, p.theirs) + "'" }
	list := func(query string) string { return "'{" + w.sql(query, p.theirs) + "}'" }
	of := func(status string) string {
		return one(`SELECT id FROM countersign.proposals WHERE workspace_id = $1 AND status = '` + status + `' ORDER BY expires_at DESC LIMIT 1`)
	}
	running := one(`SELECT id FROM countersign.turns WHERE workspace_id = $1 AND status = 'running' AND lease_until > now()`)
	olu := one(`SELECT user_id FROM countersign.conversations WHERE workspace_id = $1 LIMIT 1`)
	signIn := one(`SELECT s.id FROM countersign.sign_ins s WHERE s.workspace_id = $1 LIMIT 1`)
	talk := one(`SELECT id FROM countersign.conversations WHERE workspace_id = $1 LIMIT 1`)
	everything := `SELECT string_agg(id::text, ',') FROM countersign.proposals WHERE workspace_id = $1`
	p.values = map[string]string{
		"workspace_id": "'" + p.harbor + "'", "viewer": olu, "user_id": olu, "acting_user_id": olu, "person_id": olu, "sign_in_id": signIn, "sees_all": "true", "decides": "true",
		"approvals_of": "'{approver}'", "approves_as": "'approver'", "shared_entities": "'{core.role}'", "confirms": "'{core.role record_update}'", "confirms_in": "'{core.role}'",
		"statuses": "NULL", "entities": "NULL", "operations": "NULL", "in_conversation": "NULL", "acting_user": "NULL", "actionable": "NULL",
		"max_rows": "1000", "before": "9999", "after": "0", "up_to": "1000", "at": "now()", "id": of("pending"), "proposal_id": of("pending"), "locked_status": "'pending'",
		"ids": list(everything), "proposals": list(everything), "conversations": "'{" + talk[1:len(talk)-1] + "}'", "conversation_id": talk, "turn_id": one(`SELECT turn_id FROM countersign.proposals WHERE workspace_id = $1 AND turn_id IS NOT NULL LIMIT 1`),
		"turns": list(`SELECT string_agg(id::text, ',') FROM countersign.turns WHERE workspace_id = $1`), "idempotency_key": "'1 hour'", "lease": "'1 minute'",
		"intent": "sha256('x')", "of": of("rejected"), "event_id": "gen_random_uuid()", "audit_id": "gen_random_uuid()", "tool_call_id": "gen_random_uuid()", "address": "''", "verb": "'confirm'",
		"title": "'x'", "untitled": "'x'", "after_expiry": "'-infinity'", "after_number": "0",
		"ProposalsNewestBackward.before": "0", "ActionableBackward.before": "0", "ProposalsExpiringSoonestBackward.after_expiry": "'infinity'",
		"ConversationsNewest.before": "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "LastMessages.before": "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "MessagesBackward.before": "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
		"FirstMessages.after": "'00000000-0000-0000-0000-000000000000'",
		"GetConversation.id":  talk, "SpeakInConversation.id": talk, "ConversationsByID.ids": "'{" + talk[1:len(talk)-1] + "}'", "GetMessage.id": one(`SELECT id FROM countersign.messages WHERE workspace_id = $1 LIMIT 1`),
		"GetTurn.id": running, "RenewTurn.id": running, "CompleteTurn.id": running, "EndTurn.id": running, "EndTurn.status": "'failed'", "EndTurn.failure_code": "'internal'", "EndTurn.failure_message": "'x'",
		"key": "'again'", "DecisionsBefore.proposal_id": of("rejected"), "CreatedBy.proposal_id": one(`SELECT proposal_id FROM countersign.proposal_created WHERE workspace_id = $1 LIMIT 1`),
		"LockLapsed.id":       one(`SELECT id FROM countersign.proposals WHERE workspace_id = $1 AND status = 'pending' AND expires_at < now()`),
		"MoveProposal.status": "'pending'", "event_type": "'extended'", "resolved_at": "NULL",
		"outcome_record_id": "NULL", "outcome_record": "NULL", "outcome_affected": "NULL", "failure_code": "NULL", "failure_message": "NULL", "failure_field": "NULL", "failed_positions": "NULL",
		"approver_raised": "NULL", "measure": "'model_tokens'", "token_id": "NULL", "policy_version": "0", "outcome_keys": "NULL", "superseded_by": "NULL", "expires_at": "NULL", "approvals_raised": "NULL",
	}
	return p
}

// A call is ended in its workspace alone, though the function that ends it is not its caller's.
func TestACallEndsInItsWorkspace(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.signIn("maria@harbor.example")
	call := w.toolCall(w.user("maria"), w.signInOf("maria"), nil)
	const statement = `SELECT 1 / (NOT finish_tool_call($1::text::uuid, 'failed', NULL, NULL, NULL, NULL))::int`
	for workspace, code := range map[string]string{w.workspace("other-site"): "", "": "", w.workspace("harbor-mill"): "22012"} {
		if got := sqlstate(t, w.db.Pools.Agent, workspace, statement, call); got != code {
			t.Errorf("in workspace %q: %q, want %q", workspace, got, code)
		}
	}
}
