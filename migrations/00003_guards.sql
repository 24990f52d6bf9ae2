-- What holds even where the program is wrong: the state machine, row-level security, and what each
-- login may do.

-- +goose Up

-- +goose StatementBegin
-- A proposal is made pending, its card never changes, it moves only as the status diagram says, and it
-- ends only with the decision that ended it. Its search_path is its own: a session's temporary table is
-- not taken for ours.
CREATE FUNCTION proposals_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
DECLARE kinds decision_kind[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'pending' THEN
            RAISE EXCEPTION 'a proposal is made pending, not %', NEW.status USING ERRCODE = 'CS002';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.workspace_id, NEW.number, NEW.tool, NEW.entity, NEW.operation, NEW.action_kind, NEW.headline, NEW.fingerprint, NEW.salt, NEW.acting_user_id, NEW.approvals_needed, NEW.preview_only, NEW.created_at)
       IS DISTINCT FROM
       (OLD.id, OLD.workspace_id, OLD.number, OLD.tool, OLD.entity, OLD.operation, OLD.action_kind, OLD.headline, OLD.fingerprint, OLD.salt, OLD.acting_user_id, OLD.approvals_needed, OLD.preview_only, OLD.created_at)
       OR NEW.assistant_note IS DISTINCT FROM OLD.assistant_note THEN
        RAISE EXCEPTION 'the card of proposal % does not change', OLD.id USING ERRCODE = 'CS002';
    END IF;
    IF NEW.status = OLD.status THEN
        IF OLD.resolved_at IS NOT NULL AND (NEW.resolved_at, NEW.outcome_record_id, NEW.outcome_record, NEW.outcome_affected, NEW.failure_code, NEW.failure_message, NEW.failure_field, NEW.expires_at, NEW.extended_at)
           IS DISTINCT FROM (OLD.resolved_at, OLD.outcome_record_id, OLD.outcome_record, OLD.outcome_affected, OLD.failure_code, OLD.failure_message, OLD.failure_field, OLD.expires_at, OLD.extended_at) THEN
            RAISE EXCEPTION 'proposal % has ended as %', OLD.id, OLD.status USING ERRCODE = 'CS002';
        END IF;
        RETURN NEW;
    END IF;
    IF NOT (CASE OLD.status
            WHEN 'pending' THEN NEW.status IN ('applied', 'awaiting_approval', 'rejected', 'expired', 'withdrawn', 'superseded', 'failed')
            WHEN 'awaiting_approval' THEN NEW.status IN ('applied', 'disapproved', 'expired', 'withdrawn', 'failed')
            ELSE false END) THEN
        RAISE EXCEPTION 'proposal % does not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CS002';
    END IF;
    kinds := CASE NEW.status
        WHEN 'applied' THEN ARRAY['confirm', 'approve'] WHEN 'failed' THEN ARRAY['confirm', 'approve']
        WHEN 'awaiting_approval' THEN ARRAY['confirm'] WHEN 'rejected' THEN ARRAY['reject']
        WHEN 'disapproved' THEN ARRAY['disapprove'] WHEN 'expired' THEN ARRAY['expire']
        WHEN 'withdrawn' THEN ARRAY['withdraw'] WHEN 'superseded' THEN ARRAY['supersede'] END::decision_kind[];
    IF NOT EXISTS (SELECT FROM proposal_decisions d
                   WHERE d.proposal_id = NEW.id AND d.kind = ANY (kinds) AND d.final = (NEW.status <> 'awaiting_approval')) THEN
        RAISE EXCEPTION 'proposal % becomes % without its decision', OLD.id, NEW.status USING ERRCODE = 'CS002';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER proposals_guard BEFORE INSERT OR UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION proposals_guard();

-- +goose StatementBegin
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'CS002';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_append_only BEFORE UPDATE ON audit_events FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER proposal_records_append_only BEFORE UPDATE ON proposal_records FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER proposal_decisions_append_only BEFORE UPDATE ON proposal_decisions FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER events_append_only BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION append_only();

-- No setting, no rows.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'turns', 'messages', 'tool_calls', 'proposals', 'proposal_records', 'proposal_decisions', 'events', 'audit_events'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format($p$CREATE POLICY in_workspace ON %I USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid)$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- The worker finds what has lapsed in every workspace, then works in the one it found.
CREATE POLICY worker_finds ON proposals FOR SELECT TO countersign_worker USING (true);
CREATE POLICY worker_finds ON turns FOR SELECT TO countersign_worker USING (true);
CREATE POLICY worker_finds ON tool_calls TO countersign_worker USING (true);
CREATE POLICY worker_ends ON tool_calls AS RESTRICTIVE FOR UPDATE TO countersign_worker USING (true) WITH CHECK (status = 'cut_short');

GRANT USAGE ON SCHEMA countersign TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_identity, countersign_definer;

-- Everyone but identity reads the same; nobody but identity sees a hash.
GRANT SELECT ON conversations, turns, messages, tool_calls, proposals, proposals_read, proposal_records, proposal_decisions, events, workspaces, memberships
    TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;
GRANT SELECT ON audit_events TO countersign_reader;
GRANT SELECT (id, email, name, disabled_at, created_at) ON users
    TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;
GRANT SELECT (id, user_id, workspace_id, expires_at, ended_at, address, share_lock) ON sign_ins TO countersign_gate, countersign_definer;
GRANT SELECT (id, user_id, workspace_id, scopes, expires_at, revoked_at) ON api_tokens TO countersign_gate, countersign_definer;

GRANT UPDATE (share_lock) ON sign_ins, memberships TO countersign_gate;
GRANT UPDATE (status, expires_at, extended_at, resolved_at, outcome_record_id, outcome_record, outcome_affected, failure_code, failure_message, failure_field) ON proposals TO countersign_gate;
GRANT INSERT ON proposal_decisions, events, audit_events, tool_calls TO countersign_gate;

GRANT UPDATE (status, resolved_at) ON proposals TO countersign_worker;
GRANT UPDATE (status, code, finished_at) ON tool_calls TO countersign_worker;
GRANT INSERT ON proposal_decisions, events, audit_events TO countersign_worker;
CREATE POLICY worker_expires ON proposals AS RESTRICTIVE FOR UPDATE TO countersign_worker USING (true) WITH CHECK (status = 'expired' AND expires_at <= clock_timestamp());
CREATE POLICY worker_expires ON proposal_decisions AS RESTRICTIVE FOR INSERT TO countersign_worker WITH CHECK (kind = 'expire');

GRANT INSERT, UPDATE ON conversations, messages, turns TO countersign_agent;

GRANT SELECT ON workspaces TO countersign_identity;
GRANT SELECT, INSERT, UPDATE ON users, memberships, sign_ins, api_tokens, sessions, sign_in_failures TO countersign_identity;
GRANT DELETE ON memberships, sessions, sign_in_failures TO countersign_identity;

GRANT INSERT ON proposals, proposal_records, proposal_decisions, events, audit_events, tool_calls TO countersign_definer;
GRANT UPDATE (status, resolved_at) ON proposals TO countersign_definer;
GRANT UPDATE (status, code, proposal_id, finished_at) ON tool_calls TO countersign_definer;
CREATE POLICY definer_withdraws ON proposals AS RESTRICTIVE FOR UPDATE TO countersign_definer USING (true) WITH CHECK (status IN ('pending', 'withdrawn'));
CREATE POLICY definer_proposes ON proposals AS RESTRICTIVE FOR INSERT TO countersign_definer WITH CHECK (status = 'pending');
CREATE POLICY definer_withdraws ON proposal_decisions AS RESTRICTIVE FOR INSERT TO countersign_definer WITH CHECK (kind = 'withdraw');

-- The agent's four ways in. Each runs as countersign_definer, in the workspace of its caller's setting,
-- which row-level security holds it to.

-- +goose StatementBegin
-- record_tool_call writes the row of a call before the tool runs.
CREATE FUNCTION record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
    INSERT INTO tool_calls (id, workspace_id, user_id, sign_in_id, token_id, conversation_id, turn_id, tool, entity, input)
    VALUES (call_id, NULLIF(current_setting('countersign.workspace', true), '')::uuid, actor, by_sign_in, by_token, in_conversation, in_turn, left(tool_name, 64), left(on_entity, 128), logged_input)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- finish_tool_call says how a call ended; a call ends once. False: it had ended, or is not there.
CREATE FUNCTION finish_tool_call(call_id uuid, ended tool_call_status, with_code text, made_proposal uuid)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
BEGIN
    UPDATE tool_calls SET status = ended, code = with_code, proposal_id = made_proposal, finished_at = clock_timestamp()
    WHERE id = call_id AND status = 'started';
    RETURN FOUND;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- propose stores a card: the proposal, its records, its event and its audit entry. It is refused with
-- CS001 where its tool call or its turn has ended, CS003 where the acting user may not propose (any more),
-- by this credential or in this conversation.
CREATE FUNCTION propose(
    new_id uuid, with_tool text, on_entity text, does write_operation, kind text, with_headline text, note text,
    card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through channel, client text,
    in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, preview boolean, lives interval, once_key text, once_hash bytea, records jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
DECLARE
    workspace uuid := NULLIF(current_setting('countersign.workspace', true), '')::uuid;
    made      timestamptz := clock_timestamp();
    given     bigint;
BEGIN
    IF num_nonnulls(by_sign_in, by_token) <> 1
       OR NOT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id
                   WHERE m.workspace_id = workspace AND m.user_id = actor AND m.role <> 'auditor' AND u.disabled_at IS NULL)
       OR by_token IS NOT NULL AND NOT EXISTS (SELECT FROM api_tokens t
                   WHERE t.id = by_token AND t.user_id = actor AND t.workspace_id = workspace AND 'propose' = ANY (t.scopes)
                     AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > made))
       OR by_token IS NULL AND NOT EXISTS (SELECT FROM sign_ins s
                   WHERE s.id = by_sign_in AND s.user_id = actor AND s.workspace_id = workspace AND s.ended_at IS NULL AND s.expires_at > made)
       OR in_conversation IS NOT NULL AND NOT EXISTS (SELECT FROM conversations c WHERE c.id = in_conversation AND c.user_id = actor) THEN
        RAISE EXCEPTION 'the acting user may not propose here' USING ERRCODE = 'CS003';
    END IF;
    INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, assistant_note, fingerprint, salt, acting_user_id, token_id,
        channel, client_name, conversation_id, turn_id, tool_call_id, approvals_needed, preview_only, lifetime, created_at, expires_at, idempotency_key, request_hash)
    VALUES (new_id, workspace, with_tool, on_entity, does, kind, with_headline, note, card_fingerprint, card_salt, actor, by_token,
        through, client, in_conversation, in_turn, in_call, approvals, preview, lives, made, made + lives, once_key, once_hash)
    RETURNING number INTO given;
    -- Only now: the foreign key holds the turn's row, and what ends a turn waits for that.
    IF NOT EXISTS (SELECT FROM tool_calls c WHERE c.id = in_call AND c.user_id = actor AND c.status = 'started'
                     AND c.sign_in_id IS NOT DISTINCT FROM by_sign_in AND c.token_id IS NOT DISTINCT FROM by_token)
       OR in_turn IS NOT NULL AND NOT EXISTS (SELECT FROM turns t
                   WHERE t.id = in_turn AND t.user_id = actor AND t.conversation_id = in_conversation AND t.status = 'running' AND t.lease_until > made) THEN
        RAISE EXCEPTION 'the call or the turn has ended' USING ERRCODE = 'CS001';
    END IF;
    INSERT INTO proposal_records (proposal_id, workspace_id, position, entity, operation, key, label, url, version, before, changes)
    SELECT new_id, workspace, r.position, r.entity, r.operation, r.key, r.label, r.url, r.version, r.before, r.changes
    FROM jsonb_to_recordset(records) AS r (position integer, entity text, operation write_operation, key text, label text, url text, version text, before jsonb, changes jsonb);
    INSERT INTO events (id, workspace_id, proposal_id, type, status, actor_id, at)
    VALUES (gen_random_uuid(), workspace, new_id, 'proposed', 'pending', actor, made);
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, token_id, conversation_id, proposal_id, tool, entity, operation, fingerprint)
    VALUES (gen_random_uuid(), workspace, made, 'propose', 'pending', actor, by_sign_in, by_token, in_conversation, new_id, with_tool, on_entity, does::text, card_fingerprint);
    RETURN given;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- withdraw takes an open proposal back: by the token that proposed it, or, without a token, by the
-- system where the turn that proposed it was cut short or failed. It answers the status there is now.
-- No row, or not theirs: NULL.
CREATE FUNCTION withdraw(which uuid, by_token uuid, why text)
RETURNS proposal_status LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
DECLARE
    p   proposals;
    at_ timestamptz;
BEGIN
    SELECT * INTO p FROM proposals WHERE id = which FOR UPDATE;
    at_ := clock_timestamp();
    IF NOT FOUND
       OR by_token IS NOT NULL AND (p.token_id IS DISTINCT FROM by_token
            OR NOT EXISTS (SELECT FROM api_tokens t WHERE t.id = by_token AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > at_)))
       OR by_token IS NULL AND NOT EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id AND t.status IN ('cut_short', 'failed')) THEN
        RETURN NULL;
    END IF;
    IF p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= at_ THEN
        RETURN 'expired';
    END IF;
    IF p.status NOT IN ('pending', 'awaiting_approval') THEN
        RETURN p.status;
    END IF;
    INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, token_id, fingerprint, reason, at)
    VALUES (which, p.workspace_id, 'withdraw', true, by_token, p.fingerprint, why, at_);
    UPDATE proposals SET status = 'withdrawn', resolved_at = at_ WHERE id = which AND status = p.status;
    INSERT INTO events (id, workspace_id, proposal_id, type, status, actor_id, at)
    VALUES (gen_random_uuid(), p.workspace_id, which, 'withdrawn', 'withdrawn', CASE WHEN by_token IS NOT NULL THEN p.acting_user_id END, at_);
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, token_id, conversation_id, proposal_id, tool, entity, operation, fingerprint)
    VALUES (gen_random_uuid(), p.workspace_id, at_, 'withdraw', 'withdrawn', CASE WHEN by_token IS NOT NULL THEN p.acting_user_id END, by_token, p.conversation_id, which, p.tool, p.entity, p.operation::text, p.fingerprint);
    INSERT INTO tool_calls (id, workspace_id, user_id, token_id, conversation_id, turn_id, proposal_id, tool, entity, status, started_at, finished_at)
    VALUES (gen_random_uuid(), p.workspace_id, CASE WHEN by_token IS NOT NULL THEN p.acting_user_id END, by_token, p.conversation_id, p.turn_id, which, 'withdraw', p.entity, 'succeeded', at_, clock_timestamp());
    RETURN 'withdrawn';
END $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION proposals_guard, append_only, record_tool_call, finish_tool_call, propose, withdraw FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_tool_call, finish_tool_call, propose, withdraw TO countersign_agent;
GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to become the owner below, no longer
ALTER FUNCTION record_tool_call OWNER TO countersign_definer;
ALTER FUNCTION finish_tool_call OWNER TO countersign_definer;
ALTER FUNCTION propose OWNER TO countersign_definer;
ALTER FUNCTION withdraw OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;

-- +goose Down
DROP FUNCTION withdraw, propose, finish_tool_call, record_tool_call;
DROP TRIGGER proposals_guard ON proposals;
DROP TRIGGER audit_events_append_only ON audit_events;
DROP TRIGGER proposal_records_append_only ON proposal_records;
DROP TRIGGER proposal_decisions_append_only ON proposal_decisions;
DROP TRIGGER events_append_only ON events;
DROP FUNCTION proposals_guard, append_only;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_identity, countersign_definer;
REVOKE ALL ON SCHEMA countersign FROM countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_identity, countersign_definer;
-- +goose StatementBegin
DO $$
DECLARE p record;
BEGIN
    FOR p IN SELECT policyname, tablename FROM pg_catalog.pg_policies WHERE schemaname = 'countersign' LOOP
        EXECUTE format('DROP POLICY %I ON %I', p.policyname, p.tablename);
    END LOOP;
    FOR p IN SELECT DISTINCT relname AS tablename FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace WHERE nspname = 'countersign' AND relrowsecurity LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', p.tablename);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', p.tablename);
    END LOOP;
END $$;
-- +goose StatementEnd
