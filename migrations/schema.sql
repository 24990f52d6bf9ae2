-- The schema countersign as the migrations leave it, for readers. Dumped, never edited:
-- UPDATE_SCHEMA=1 go test ./internal/postgres -run TestTheSchemaIsAsDumped

CREATE SCHEMA countersign;

CREATE TYPE countersign.channel AS ENUM (
    'chat',
    'mcp',
    'api',
    'console'
);

CREATE TYPE countersign.decision_kind AS ENUM (
    'confirm',
    'reject',
    'approve',
    'disapprove',
    'withdraw',
    'supersede',
    'expire'
);

CREATE TYPE countersign.event_type AS ENUM (
    'proposed',
    'extended',
    'confirmed',
    'approved',
    'applied',
    'rejected',
    'disapproved',
    'expired',
    'withdrawn',
    'superseded',
    'failed'
);

CREATE TYPE countersign.failure_code AS ENUM (
    'record_changed',
    'record_gone',
    'record_unreadable',
    'not_permitted',
    'switched_off',
    'constraint_violation',
    'invalid_value',
    'source_unavailable',
    'source_refused',
    'outcome_unknown',
    'internal'
);

CREATE TYPE countersign.message_role AS ENUM (
    'user',
    'assistant'
);

CREATE TYPE countersign.message_status AS ENUM (
    'complete',
    'cut_short',
    'failed'
);

CREATE TYPE countersign.proposal_status AS ENUM (
    'pending',
    'awaiting_approval',
    'applied',
    'rejected',
    'disapproved',
    'expired',
    'withdrawn',
    'superseded',
    'failed'
);

CREATE DOMAIN countersign.redacted AS jsonb;

CREATE TYPE countersign.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);

CREATE TYPE countersign.role AS ENUM (
    'member',
    'approver',
    'operator',
    'auditor'
);

CREATE TYPE countersign.sign_in_kind AS ENUM (
    'cookie',
    'bearer'
);

CREATE TYPE countersign.tool_call_status AS ENUM (
    'started',
    'succeeded',
    'refused',
    'failed',
    'cut_short'
);

CREATE TYPE countersign.turn_failure_code AS ENUM (
    'model_unavailable',
    'budget_spent',
    'switched_off',
    'cut_short',
    'internal'
);

CREATE TYPE countersign.turn_status AS ENUM (
    'running',
    'complete',
    'cut_short',
    'failed'
);

CREATE TYPE countersign.write_operation AS ENUM (
    'create',
    'update',
    'delete',
    'bulk_update',
    'action'
);

CREATE FUNCTION countersign.append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'CS002';
END $$;

CREATE FUNCTION countersign.audit_address() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.address := (SELECT s.address FROM sign_ins s WHERE s.id = NEW.sign_in_id);
    RETURN NEW;
END $$;

ALTER FUNCTION countersign.audit_address() OWNER TO countersign_definer;

CREATE TABLE countersign.budgets (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    subject text NOT NULL,
    user_id uuid,
    token_id uuid,
    measure text NOT NULL,
    period text NOT NULL,
    hard_limit bigint,
    soft_limit bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT budgets_hard_limit_check CHECK ((hard_limit >= 0)),
    CONSTRAINT budgets_limit CHECK (((num_nonnulls(hard_limit, soft_limit) > 0) AND ((soft_limit <= hard_limit) IS NOT FALSE))),
    CONSTRAINT budgets_measure_check CHECK ((measure = ANY (ARRAY['tool_calls'::text, 'proposals'::text, 'model_tokens'::text]))),
    CONSTRAINT budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text]))),
    CONSTRAINT budgets_soft_limit_check CHECK ((soft_limit >= 0)),
    CONSTRAINT budgets_subject CHECK ((((subject = 'user'::text) OR (user_id IS NULL)) AND ((subject = 'token'::text) OR (token_id IS NULL)))),
    CONSTRAINT budgets_subject_check CHECK ((subject = ANY (ARRAY['workspace'::text, 'user'::text, 'token'::text])))
);

ALTER TABLE ONLY countersign.budgets FORCE ROW LEVEL SECURITY;

CREATE FUNCTION countersign.budget_used(b countersign.budgets, actor uuid, by_token uuid) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE began timestamptz := date_trunc(b.period, clock_timestamp(), 'UTC');
BEGIN
    RETURN CASE b.subject
        WHEN 'workspace' THEN (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.measure = b.measure AND u.at >= began)
        WHEN 'user' THEN (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.user_id = actor AND u.measure = b.measure AND u.at >= began)
        ELSE (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.token_id = by_token AND u.measure = b.measure AND u.at >= began) END;
END $$;

CREATE FUNCTION countersign.count_policy_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE workspaces SET policy_version = policy_version + 1 WHERE id = coalesce(NEW.workspace_id, OLD.workspace_id);
    RETURN NULL;
END $$;

CREATE FUNCTION countersign.finish_tool_call(call_id uuid, ended countersign.tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE call tool_calls;
BEGIN
    UPDATE tool_calls SET status = ended, code = with_code, proposal_id = coalesce(made_proposal, proposal_id), finished_at = clock_timestamp()
    WHERE id = call_id AND (status = 'started' OR status = 'succeeded' AND ended = 'cut_short' AND finished_at > clock_timestamp() - interval '1 minute') RETURNING * INTO call;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF ended = 'cut_short' THEN
        UPDATE proposals p SET tool_call_id = other.id
        FROM (SELECT DISTINCT ON (c.proposal_id) c.proposal_id, c.id FROM tool_calls c JOIN proposals o ON o.id = c.proposal_id
              WHERE o.tool_call_id = call_id AND c.id <> call_id AND c.status = 'succeeded' AND c.tool = call.tool ORDER BY c.proposal_id, c.id DESC) AS other
        WHERE p.id = other.proposal_id AND p.status = 'pending';
        DELETE FROM idempotency_keys k USING proposals p WHERE k.proposal_id = p.id AND p.tool_call_id = call_id AND p.status = 'pending';
        PERFORM withdraw(p.id, NULL, 'The call that proposed it was cut short.') FROM proposals p
        WHERE p.tool_call_id = call_id AND p.status = 'pending';
    END IF;
    IF made_proposal IS NOT NULL AND NOT EXISTS (SELECT FROM proposals p WHERE p.id = made_proposal AND p.acting_user_id = call.user_id) THEN
        RAISE EXCEPTION 'the proposal is not of the person of this call' USING ERRCODE = 'CS003';
    END IF;
    IF with_code = 'BUDGET_SPENT' THEN
        INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, token_id, conversation_id, tool, entity, policy_version)
        VALUES (gen_random_uuid(), call.workspace_id, call.finished_at, 'call', 'budget_spent', call.user_id, call.sign_in_id, call.token_id, call.conversation_id, call.tool, call.entity,
            (SELECT w.policy_version FROM workspaces w WHERE w.id = call.workspace_id));
    END IF;
    IF made_proposal IS NOT NULL AND once_key IS NOT NULL THEN
        INSERT INTO idempotency_keys (workspace_id, user_id, key, request_hash, proposal_id) VALUES (call.workspace_id, call.user_id, once_key, once_hash, made_proposal);
    END IF;
    UPDATE proposals p SET turn_id = call.turn_id
    WHERE p.id = made_proposal AND p.status = 'pending' AND p.tool_call_id IS DISTINCT FROM call_id AND p.turn_id IS DISTINCT FROM call.turn_id
      AND EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id AND t.status = 'running');
    RETURN true;
END $$;

ALTER FUNCTION countersign.finish_tool_call(call_id uuid, ended countersign.tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea) OWNER TO countersign_definer;

CREATE FUNCTION countersign.proposals_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE kinds decision_kind[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'pending' THEN
            RAISE EXCEPTION 'a proposal is made pending, not %', NEW.status USING ERRCODE = 'CS002';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.workspace_id, NEW.number, NEW.tool, NEW.entity, NEW.operation, NEW.action_kind, NEW.headline, NEW.fingerprint, NEW.salt, NEW.acting_user_id, NEW.approvals_needed, NEW.preview_only, NEW.created_at,
        NEW.approver_role, NEW.approval_lifetime, NEW.shared, NEW.record_count, NEW.matched, NEW.changes, NEW.rehearsal, NEW.warnings, NEW.conflicts, NEW.intent)
       IS DISTINCT FROM
       (OLD.id, OLD.workspace_id, OLD.number, OLD.tool, OLD.entity, OLD.operation, OLD.action_kind, OLD.headline, OLD.fingerprint, OLD.salt, OLD.acting_user_id, OLD.approvals_needed, OLD.preview_only, OLD.created_at,
        OLD.approver_role, OLD.approval_lifetime, OLD.shared, OLD.record_count, OLD.matched, OLD.changes, OLD.rehearsal, OLD.warnings, OLD.conflicts, OLD.intent)
       OR NEW.assistant_note IS DISTINCT FROM OLD.assistant_note THEN
        RAISE EXCEPTION 'the card of proposal % does not change', OLD.id USING ERRCODE = 'CS002';
    END IF;
    IF NEW.status = OLD.status THEN
        IF OLD.resolved_at IS NOT NULL AND (NEW.resolved_at, NEW.outcome_record_id, NEW.outcome_record, NEW.outcome_affected, NEW.failure_code, NEW.failure_message, NEW.failure_field, NEW.expires_at, NEW.extended_at, NEW.failed_positions, NEW.outcome_keys, NEW.approvals_raised, NEW.approver_raised)
           IS DISTINCT FROM (OLD.resolved_at, OLD.outcome_record_id, OLD.outcome_record, OLD.outcome_affected, OLD.failure_code, OLD.failure_message, OLD.failure_field, OLD.expires_at, OLD.extended_at, OLD.failed_positions, OLD.outcome_keys, OLD.approvals_raised, OLD.approver_raised) THEN
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

CREATE FUNCTION countersign.propose(new_id uuid, with_tool text, on_entity text, does countersign.write_operation, kind text, with_headline text, note text, card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through countersign.channel, client text, in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers countersign.role, approval_lives interval, preview boolean, shares boolean, lives interval, once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval, revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    workspace uuid := NULLIF(current_setting('countersign.workspace', true), '')::uuid;
    made      timestamptz := clock_timestamp();
    given     bigint;
    spent     jsonb;
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
    IF does <> 'action' AND EXISTS (SELECT FROM jsonb_to_recordset(records) AS r (entity text, operation write_operation)
                   WHERE r.entity IS DISTINCT FROM on_entity OR r.operation IS DISTINCT FROM (CASE does WHEN 'bulk_update' THEN 'update' ELSE does END)) THEN
        RAISE EXCEPTION 'a record is not what the proposal says' USING ERRCODE = 'CS003';
    END IF;
    IF approvals > (SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id
                    WHERE m.workspace_id = workspace AND m.role = approvers AND m.user_id <> actor AND u.disabled_at IS NULL) THEN
        RAISE EXCEPTION 'nobody could approve this' USING ERRCODE = 'CS004';
    END IF;
    IF with_intent IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(actor::text || encode(with_intent, 'hex'), 0));
        IF EXISTS (SELECT FROM proposals o JOIN proposals_read p ON p.id = o.id
                   WHERE o.acting_user_id = actor AND o.intent = with_intent AND o.status IN ('pending', 'awaiting_approval')
                     AND p.status IN ('pending', 'awaiting_approval') AND o.workspace_id = workspace AND o.id IS DISTINCT FROM revises AND o.id <> ALL (coalesce(besides, '{}'))) THEN
            RAISE EXCEPTION 'the same is proposed already' USING ERRCODE = 'CS006';
        END IF;
    END IF;
    IF (rejected_within IS NOT NULL OR by_token IS NOT NULL) AND EXISTS (
        SELECT FROM proposals p
        JOIN proposal_records theirs ON theirs.proposal_id = p.id
        JOIN jsonb_to_recordset(records) AS ours (entity text, operation write_operation, key text, changes jsonb)
          ON ours.entity = theirs.entity AND ours.operation = theirs.operation AND coalesce(ours.key, '') = coalesce(theirs.key, '') -- hashable
        WHERE p.acting_user_id = actor AND p.workspace_id = workspace AND p.status = 'rejected' AND p.resolved_at > made - coalesce(rejected_within, interval '30 minutes')
          AND targets(ours.changes) @> targets(theirs.changes)) THEN
        RAISE EXCEPTION 'a person rejected this just now' USING ERRCODE = 'CS005';
    END IF;
    IF in_turn IS NOT NULL AND most_of_turn IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(in_turn::text, 0));
        IF (SELECT count(*) FROM tool_calls c JOIN proposals p ON p.tool_call_id = c.id WHERE c.turn_id = in_turn) >= most_of_turn THEN
            RAISE EXCEPTION 'this turn has proposed enough' USING ERRCODE = 'CS007', DETAIL = jsonb_build_object('turn', most_of_turn);
        END IF;
    END IF;
    spent := CASE WHEN revises IS NULL THEN spend('proposals', 1, actor, by_token) END;
    IF spent ? 'spent' THEN
        RAISE EXCEPTION 'a budget is spent' USING ERRCODE = 'CS007', DETAIL = spent;
    END IF;
    INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, assistant_note, fingerprint, salt, acting_user_id, token_id,
        channel, client_name, conversation_id, turn_id, tool_call_id, approvals_needed, preview_only, lifetime, created_at, expires_at,
        approver_role, approval_lifetime, shared, record_count, matched, changes, rehearsal, warnings, conflicts, intent, revision_of_id, revert_of_id)
    VALUES (new_id, workspace, with_tool, on_entity, does, kind, with_headline, note, card_fingerprint, card_salt, actor, by_token,
        through, client, in_conversation, in_turn, in_call, approvals, preview, lives, made, made + lives,
        approvers::text, approval_lives, shares, jsonb_array_length(records), with_matched, with_changes, rehearsed, warns, with_conflicts, with_intent, revises, reverts)
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
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, token_id, conversation_id, proposal_id, tool, entity, operation, fingerprint, policy_version)
    VALUES (gen_random_uuid(), workspace, made, 'propose', 'pending', actor, by_sign_in, by_token, in_conversation, new_id, with_tool, on_entity, does::text, card_fingerprint, under_policies);
    IF once_key IS NOT NULL THEN
        INSERT INTO idempotency_keys (workspace_id, user_id, key, request_hash, proposal_id) VALUES (workspace, actor, once_key, once_hash, new_id);
    END IF;
    RETURN given;
END $$;

ALTER FUNCTION countersign.propose(new_id uuid, with_tool text, on_entity text, does countersign.write_operation, kind text, with_headline text, note text, card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through countersign.channel, client text, in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers countersign.role, approval_lives interval, preview boolean, shares boolean, lives interval, once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval, revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb) OWNER TO countersign_definer;

CREATE FUNCTION countersign.queue_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO feed_queue (event_id, workspace_id) VALUES (NEW.id, NEW.workspace_id);
    RETURN NULL;
END $$;

ALTER FUNCTION countersign.queue_event() OWNER TO countersign_definer;

CREATE FUNCTION countersign.raise_feed_floor() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO feed_floor AS kept (workspace_id, position)
    SELECT workspace_id, max(position) FROM gone GROUP BY workspace_id ORDER BY workspace_id
    ON CONFLICT (workspace_id) DO UPDATE SET position = greatest(kept.position, excluded.position);
    RETURN NULL;
END $$;

ALTER FUNCTION countersign.raise_feed_floor() OWNER TO countersign_definer;

CREATE FUNCTION countersign.record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    workspace uuid := NULLIF(current_setting('countersign.workspace', true), '')::uuid;
    said      jsonb;
    soft      jsonb;
BEGIN
    IF num_nonnulls(by_sign_in, by_token) <> 1
       OR NOT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id
                   WHERE m.workspace_id = workspace AND m.user_id = actor AND u.disabled_at IS NULL)
       OR by_sign_in IS NOT NULL AND NOT EXISTS (SELECT FROM sign_ins s
                   WHERE s.id = by_sign_in AND s.user_id = actor AND s.workspace_id = workspace AND s.ended_at IS NULL AND s.expires_at > clock_timestamp())
       OR by_token IS NOT NULL AND NOT EXISTS (SELECT FROM api_tokens t
                   WHERE t.id = by_token AND t.user_id = actor AND t.workspace_id = workspace AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())) THEN
        RAISE EXCEPTION 'not a credential of this person here' USING ERRCODE = 'CS003';
    END IF;
    INSERT INTO tool_calls (id, workspace_id, user_id, sign_in_id, token_id, conversation_id, turn_id, tool, entity, input)
    VALUES (call_id, workspace, actor, by_sign_in, by_token, in_conversation, in_turn, left(tool_name, 64), left(on_entity, 128), logged_input);
    IF NOT counts THEN
        RETURN NULL;
    END IF;
    said := spend('tool_calls', 1, actor, by_token);
    SELECT jsonb_agg(jsonb_build_object('measure', b.measure, 'of', b.subject, 'period', b.period, 'limit', b.soft_limit)) INTO soft
    FROM budgets b WHERE b.workspace_id = workspace AND b.measure <> 'tool_calls' AND b.soft_limit IS NOT NULL
        AND CASE b.subject WHEN 'workspace' THEN true WHEN 'user' THEN coalesce(b.user_id, actor) = actor ELSE coalesce(b.token_id, by_token) = by_token END
        AND budget_used(b, actor, by_token) >= b.soft_limit;
    RETURN CASE WHEN soft IS NULL OR said ? 'spent' THEN said ELSE jsonb_build_object('soft', coalesce(said -> 'soft', '[]') || soft) END;
END $$;

ALTER FUNCTION countersign.record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean) OWNER TO countersign_definer;

CREATE FUNCTION countersign.renew_feed() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE last bigint;
BEGIN
    LOCK TABLE feed_restores IN EXCLUSIVE MODE;
    last := greatest((SELECT max(position + 0) FROM feed), (SELECT max(position) FROM feed_floor), 0);
    INSERT INTO feed_restores (lost_after, begins)
    SELECT last, setval('feed_position_seq', coalesce(pg_sequence_last_value('feed_position_seq'::regclass), 0) + 4294967296);
END $$;

CREATE FUNCTION countersign.river_job_state_in_bitmask(bitmask bit, state countersign.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;

CREATE FUNCTION countersign.sequence_feed(above bigint, most integer, OUT taken integer, OUT top bigint, OUT head bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    due   bigint[];
    given bigint;
BEGIN
    LOCK TABLE feed_restores IN EXCLUSIVE MODE;
    due := ARRAY(SELECT seq FROM feed_queue WHERE seq > above ORDER BY seq LIMIT most);
    taken := cardinality(due);
    top := due[taken];
    IF taken > 0 THEN
        WITH placed AS (
            INSERT INTO feed (event_id, workspace_id)
            SELECT q.event_id, q.workspace_id FROM feed_queue q JOIN events e ON e.id = q.event_id
            WHERE q.seq = ANY (due) ORDER BY q.seq
            ON CONFLICT (event_id) DO NOTHING
            RETURNING position)
        SELECT max(position) INTO given FROM placed;
        DELETE FROM feed_queue WHERE seq = ANY (due);
        IF given IS NOT NULL THEN
            PERFORM pg_notify('countersign_feed', given::text);
        END IF;
    END IF;
    head := coalesce(given, (SELECT max(position + 0) FROM feed), 0);
END $$;

CREATE FUNCTION countersign.spend(what text, many bigint, actor uuid, by_token uuid) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    workspace uuid := NULLIF(current_setting('countersign.workspace', true), '')::uuid;
    b         budgets;
    used      bigint;
    soft      jsonb := '[]';
BEGIN
    FOR b IN SELECT * FROM budgets WHERE workspace_id = workspace AND measure = what
        AND CASE subject WHEN 'workspace' THEN true WHEN 'user' THEN coalesce(user_id, actor) = actor ELSE coalesce(token_id, by_token) = by_token END ORDER BY id
    LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(b.id::text || CASE b.subject WHEN 'user' THEN actor::text WHEN 'token' THEN by_token::text ELSE '' END, 0));
        used := budget_used(b, actor, by_token); -- as it is now that the lock is had
        IF spent(b, used, many) IS NOT NULL THEN
            RETURN spent(b, used, many);
        ELSIF used + many > b.soft_limit THEN
            soft := soft || jsonb_build_object('measure', what, 'of', b.subject, 'period', b.period, 'limit', b.soft_limit);
        END IF;
    END LOOP;
    INSERT INTO usage (workspace_id, user_id, token_id, measure, amount) VALUES (workspace, actor, by_token, what, many);
    RETURN CASE WHEN soft <> '[]' THEN jsonb_build_object('soft', soft) END;
END $$;

CREATE FUNCTION countersign.spent(b countersign.budgets, used bigint, many bigint) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
    SELECT jsonb_build_object('spent', b.measure, 'of', b.subject, 'period', b.period, 'limit', b.hard_limit,
        'resets', (date_trunc(b.period, clock_timestamp() AT TIME ZONE 'UTC') + ('1 ' || b.period)::interval) AT TIME ZONE 'UTC')
    WHERE used + many > b.hard_limit
$$;

CREATE FUNCTION countersign.targets(changes jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    SELECT coalesce(jsonb_object_agg(c ->> 'field', coalesce(
        CASE WHEN c ->> 'type' = 'DECIMAL' AND c -> 'to' ->> 'json' ~ '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$'
             THEN to_jsonb(trim_scale((c -> 'to' ->> 'json')::numeric)) ELSE c -> 'to' -> 'json' END, 'null'::jsonb)), '{}'::jsonb)
    FROM jsonb_array_elements(changes) AS c
$_$;

CREATE FUNCTION countersign.withdraw(which uuid, by_token uuid, why text) RETURNS countersign.proposal_status
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'countersign', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    p   proposals;
    at_ timestamptz;
BEGIN
    SELECT * INTO p FROM proposals WHERE id = which FOR UPDATE;
    at_ := clock_timestamp();
    IF NOT FOUND
       OR by_token IS NOT NULL AND (p.token_id IS DISTINCT FROM by_token
            OR NOT EXISTS (SELECT FROM api_tokens t WHERE t.id = by_token AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > at_)))
       OR by_token IS NULL AND NOT EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id AND t.status IN ('cut_short', 'failed'))
           AND NOT EXISTS (SELECT FROM tool_calls c WHERE c.id = p.tool_call_id AND c.status = 'cut_short') THEN
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
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, token_id, conversation_id, proposal_id, tool, entity, operation, fingerprint, policy_version)
    VALUES (gen_random_uuid(), p.workspace_id, at_, 'withdraw', 'withdrawn', CASE WHEN by_token IS NOT NULL THEN p.acting_user_id END, by_token, p.conversation_id, which, p.tool, p.entity, p.operation::text, p.fingerprint, (SELECT w.policy_version FROM workspaces w WHERE w.id = p.workspace_id));
    INSERT INTO tool_calls (id, workspace_id, user_id, token_id, conversation_id, turn_id, proposal_id, tool, entity, status, started_at, finished_at)
    VALUES (gen_random_uuid(), p.workspace_id, CASE WHEN by_token IS NOT NULL THEN p.acting_user_id END, by_token, p.conversation_id, p.turn_id, which, 'withdraw', p.entity, 'succeeded', at_, clock_timestamp());
    RETURN 'withdrawn';
END $$;

ALTER FUNCTION countersign.withdraw(which uuid, by_token uuid, why text) OWNER TO countersign_definer;

CREATE TABLE countersign.api_tokens (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    token_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_tokens_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT api_tokens_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'propose'::text, 'subscribe'::text]) AND (cardinality(scopes) > 0))),
    CONSTRAINT api_tokens_token_hash_check CHECK ((length(token_hash) = 32))
);

CREATE TABLE countersign.audit_events (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    verb text NOT NULL,
    outcome text NOT NULL,
    actor_id uuid,
    sign_in_id uuid,
    token_id uuid,
    address text,
    conversation_id uuid,
    proposal_id uuid,
    tool text,
    entity text,
    operation text,
    fingerprint text,
    policy_version bigint
);

ALTER TABLE ONLY countersign.audit_events FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.conversations (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    title text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT conversations_title_check CHECK (((length(title) >= 1) AND (length(title) <= 200)))
);

ALTER TABLE ONLY countersign.conversations FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.events (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    proposal_id uuid NOT NULL,
    type countersign.event_type NOT NULL,
    status countersign.proposal_status NOT NULL,
    actor_id uuid,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY countersign.events FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.feed (
    "position" bigint NOT NULL,
    event_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY countersign.feed FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.feed_floor (
    workspace_id uuid NOT NULL,
    "position" bigint NOT NULL
);

ALTER TABLE ONLY countersign.feed_floor FORCE ROW LEVEL SECURITY;

ALTER TABLE countersign.feed ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME countersign.feed_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE countersign.feed_queue (
    seq bigint NOT NULL,
    event_id uuid NOT NULL,
    workspace_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_threshold='-1', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='100000');

ALTER TABLE ONLY countersign.feed_queue FORCE ROW LEVEL SECURITY;

ALTER TABLE countersign.feed_queue ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME countersign.feed_queue_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE countersign.feed_restores (
    lost_after bigint NOT NULL,
    begins bigint NOT NULL
);

ALTER TABLE ONLY countersign.feed_restores FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.idempotency_keys (
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    proposal_id uuid NOT NULL,
    CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT idempotency_keys_request_hash_check CHECK ((length(request_hash) = 32))
);

ALTER TABLE ONLY countersign.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.memberships (
    user_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    role countersign.role NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    share_lock boolean DEFAULT false NOT NULL
);

CREATE TABLE countersign.messages (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    role countersign.message_role NOT NULL,
    status countersign.message_status DEFAULT 'complete'::countersign.message_status NOT NULL,
    content text NOT NULL,
    citations jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY countersign.messages FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.policies (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    entity text,
    operation text,
    tool text,
    switched_off boolean DEFAULT false NOT NULL,
    preview_only boolean DEFAULT false NOT NULL,
    approvals integer,
    approver text,
    fields text[],
    bulk_cap integer,
    lifetime interval,
    roles text[],
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    share_lock boolean DEFAULT false NOT NULL,
    CONSTRAINT policies_approvals_check CHECK (((approvals >= 1) AND (approvals <= 20))),
    CONSTRAINT policies_approver CHECK (((approver IS NULL) OR (approvals IS NOT NULL))),
    CONSTRAINT policies_approver_check CHECK ((approver = ANY (ARRAY['member'::text, 'approver'::text, 'operator'::text]))),
    CONSTRAINT policies_bulk_cap_check CHECK (((bulk_cap >= 1) AND (bulk_cap <= 10000))),
    CONSTRAINT policies_entity_check CHECK ((entity ~ '^[^.]+\.[^.]+$'::text)),
    CONSTRAINT policies_lifetime_check CHECK (((lifetime >= '00:00:01'::interval) AND (lifetime <= '30 days'::interval))),
    CONSTRAINT policies_operation_check CHECK ((operation = ANY (ARRAY['list'::text, 'get'::text, 'create'::text, 'update'::text, 'delete'::text, 'bulk_update'::text]))),
    CONSTRAINT policies_roles_check CHECK ((roles <@ ARRAY['member'::text, 'approver'::text, 'operator'::text, 'auditor'::text])),
    CONSTRAINT policies_subject CHECK (((num_nonnulls(entity, tool) = 1) AND ((operation IS NULL) OR (entity IS NOT NULL)))),
    CONSTRAINT policies_tool_check CHECK (((length(tool) >= 1) AND (length(tool) <= 64)))
);

ALTER TABLE ONLY countersign.policies FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.proposal_created (
    proposal_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    "position" integer NOT NULL,
    version text NOT NULL,
    CONSTRAINT proposal_created_version_check CHECK ((version ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY countersign.proposal_created FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.proposal_decisions (
    id bigint NOT NULL,
    proposal_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    kind countersign.decision_kind NOT NULL,
    final boolean NOT NULL,
    person_id uuid,
    sign_in_id uuid,
    token_id uuid,
    fingerprint text,
    reason text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT decisions_by_a_signed_in_person CHECK (
CASE kind
    WHEN 'expire'::countersign.decision_kind THEN ((person_id IS NULL) AND (sign_in_id IS NULL) AND (token_id IS NULL))
    WHEN 'withdraw'::countersign.decision_kind THEN (((person_id IS NULL) = (sign_in_id IS NULL)) AND ((person_id IS NULL) OR (token_id IS NULL)))
    ELSE ((person_id IS NOT NULL) AND (sign_in_id IS NOT NULL) AND (token_id IS NULL))
END),
    CONSTRAINT decisions_on_a_card CHECK (((kind <> ALL (ARRAY['confirm'::countersign.decision_kind, 'approve'::countersign.decision_kind, 'supersede'::countersign.decision_kind])) OR (fingerprint IS NOT NULL))),
    CONSTRAINT decisions_that_wait CHECK ((final OR (kind = ANY (ARRAY['confirm'::countersign.decision_kind, 'approve'::countersign.decision_kind])))),
    CONSTRAINT proposal_decisions_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT proposal_decisions_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 2000)))
);

ALTER TABLE ONLY countersign.proposal_decisions FORCE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposal_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME countersign.proposal_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE countersign.proposal_records (
    proposal_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    "position" integer NOT NULL,
    entity text NOT NULL,
    operation countersign.write_operation NOT NULL,
    key text,
    label text NOT NULL,
    url text,
    version text,
    before jsonb NOT NULL,
    changes jsonb NOT NULL,
    CONSTRAINT proposal_records_changes_check CHECK ((jsonb_typeof(changes) = 'array'::text)),
    CONSTRAINT proposal_records_operation_check CHECK ((operation = ANY (ARRAY['create'::countersign.write_operation, 'update'::countersign.write_operation, 'delete'::countersign.write_operation]))),
    CONSTRAINT proposal_records_position_check CHECK (("position" >= 1)),
    CONSTRAINT proposal_records_version CHECK (((operation = 'create'::countersign.write_operation) OR ((key IS NOT NULL) AND (version IS NOT NULL)))),
    CONSTRAINT proposal_records_version_check CHECK ((version ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY countersign.proposal_records FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.proposals (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    number bigint NOT NULL,
    status countersign.proposal_status DEFAULT 'pending'::countersign.proposal_status NOT NULL,
    tool text NOT NULL,
    entity text NOT NULL,
    module text GENERATED ALWAYS AS (split_part(entity, '.'::text, 1)) STORED NOT NULL,
    operation countersign.write_operation NOT NULL,
    action_kind text NOT NULL,
    headline text NOT NULL,
    assistant_note text,
    fingerprint text NOT NULL,
    salt bytea NOT NULL,
    acting_user_id uuid NOT NULL,
    token_id uuid,
    channel countersign.channel NOT NULL,
    client_name text,
    conversation_id uuid,
    turn_id uuid,
    tool_call_id uuid,
    approvals_needed integer NOT NULL,
    requires_approval boolean GENERATED ALWAYS AS ((approvals_needed > 0)) STORED NOT NULL,
    preview_only boolean NOT NULL,
    lifetime interval NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    extended_at timestamp with time zone,
    resolved_at timestamp with time zone,
    outcome_record_id text,
    outcome_record jsonb,
    outcome_affected integer,
    failure_code countersign.failure_code,
    failure_message text,
    failure_field text,
    superseded_by_id uuid,
    revert_of_id uuid,
    approver_role text DEFAULT 'approver'::text NOT NULL,
    approval_lifetime interval DEFAULT '7 days'::interval NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    record_count integer NOT NULL,
    matched jsonb,
    changes jsonb,
    rehearsal jsonb,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    conflicts jsonb DEFAULT '[]'::jsonb NOT NULL,
    intent bytea,
    revision_of_id uuid,
    outcome_keys text[],
    failed_positions integer[],
    approvals_raised integer DEFAULT 0 NOT NULL,
    approver_raised text,
    CONSTRAINT proposals_action_kind_check CHECK (((length(action_kind) >= 1) AND (length(action_kind) <= 64))),
    CONSTRAINT proposals_approval CHECK (((status <> ALL (ARRAY['awaiting_approval'::countersign.proposal_status, 'disapproved'::countersign.proposal_status])) OR (approvals_needed > 0) OR (approvals_raised > 0))),
    CONSTRAINT proposals_approval_lifetime_check CHECK (((approval_lifetime >= '00:00:01'::interval) AND (approval_lifetime <= '90 days'::interval))),
    CONSTRAINT proposals_approvals_needed_check CHECK (((approvals_needed >= 0) AND (approvals_needed <= 20))),
    CONSTRAINT proposals_approvals_raised_check CHECK (((approvals_raised >= 0) AND (approvals_raised <= 20))),
    CONSTRAINT proposals_approver_raised_check CHECK ((approver_raised = ANY (ARRAY['member'::text, 'approver'::text, 'operator'::text]))),
    CONSTRAINT proposals_approver_role_check CHECK ((approver_role = ANY (ARRAY['member'::text, 'approver'::text, 'operator'::text]))),
    CONSTRAINT proposals_assistant_note_check CHECK ((length(assistant_note) <= 2000)),
    CONSTRAINT proposals_changes_check CHECK ((jsonb_typeof(changes) = 'array'::text)),
    CONSTRAINT proposals_client_name_check CHECK ((length(client_name) <= 100)),
    CONSTRAINT proposals_conflicts_check CHECK ((jsonb_typeof(conflicts) = 'array'::text)),
    CONSTRAINT proposals_entity_check CHECK ((entity ~ '^[^.]+\.[^.]+$'::text)),
    CONSTRAINT proposals_expires_at_check CHECK (isfinite(expires_at)),
    CONSTRAINT proposals_failed_positions CHECK (((status = 'failed'::countersign.proposal_status) OR (failed_positions IS NULL))),
    CONSTRAINT proposals_failure CHECK (((status = 'failed'::countersign.proposal_status) = ((failure_code IS NOT NULL) AND (failure_message IS NOT NULL)))),
    CONSTRAINT proposals_failure_field CHECK (((status = 'failed'::countersign.proposal_status) OR (failure_field IS NULL))),
    CONSTRAINT proposals_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT proposals_headline_check CHECK ((((length(headline) >= 1) AND (length(headline) <= 200)) AND (headline !~ '[\n\r]'::text))),
    CONSTRAINT proposals_intent_check CHECK ((length(intent) = 32)),
    CONSTRAINT proposals_lifetime_check CHECK (((lifetime >= '00:00:01'::interval) AND (lifetime <= '30 days'::interval))),
    CONSTRAINT proposals_matched_check CHECK ((jsonb_typeof(matched) = 'object'::text)),
    CONSTRAINT proposals_outcome CHECK (((status = 'applied'::countersign.proposal_status) = (outcome_affected IS NOT NULL))),
    CONSTRAINT proposals_outcome_keys CHECK (((status = 'applied'::countersign.proposal_status) OR (outcome_keys IS NULL))),
    CONSTRAINT proposals_outcome_record CHECK (((status = 'applied'::countersign.proposal_status) OR ((outcome_record IS NULL) AND (outcome_record_id IS NULL)))),
    CONSTRAINT proposals_record_count_check CHECK (((record_count >= 1) AND (record_count <= 10000))),
    CONSTRAINT proposals_rehearsal_check CHECK ((jsonb_typeof(rehearsal) = 'object'::text)),
    CONSTRAINT proposals_resolved CHECK (((status = ANY (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status])) = (resolved_at IS NULL))),
    CONSTRAINT proposals_salt_check CHECK ((length(salt) = 16)),
    CONSTRAINT proposals_tool_check CHECK (((length(tool) >= 1) AND (length(tool) <= 64))),
    CONSTRAINT proposals_warnings_check CHECK ((jsonb_typeof(warnings) = 'array'::text))
);

ALTER TABLE ONLY countersign.proposals FORCE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposals ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME countersign.proposals_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE countersign.turns (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    idempotency_key text,
    request_hash bytea NOT NULL,
    status countersign.turn_status DEFAULT 'running'::countersign.turn_status NOT NULL,
    failure_code countersign.turn_failure_code,
    failure_message text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT turns_end CHECK (((status = 'running'::countersign.turn_status) = (finished_at IS NULL))),
    CONSTRAINT turns_failure CHECK (((status = ANY (ARRAY['cut_short'::countersign.turn_status, 'failed'::countersign.turn_status])) = (failure_code IS NOT NULL))),
    CONSTRAINT turns_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 200))),
    CONSTRAINT turns_request_hash_check CHECK ((length(request_hash) = 32))
);

ALTER TABLE ONLY countersign.turns FORCE ROW LEVEL SECURITY;

CREATE VIEW countersign.proposals_open WITH (security_invoker='true') AS
 SELECT p.id,
    p.workspace_id,
    p.number,
    p.status,
    p.acting_user_id,
    p.entity,
    p.action_kind,
    p.shared,
    COALESCE(p.approver_raised, p.approver_role) AS approver_role
   FROM countersign.proposals p
  WHERE
        CASE
            WHEN (p.expires_at <= clock_timestamp()) THEN false
            WHEN (p.turn_id IS NULL) THEN true
            ELSE (( SELECT count(*) AS count
               FROM countersign.turns t
              WHERE ((t.id = p.turn_id) AND ((t.status = ANY (ARRAY['cut_short'::countersign.turn_status, 'failed'::countersign.turn_status])) OR ((t.status = 'running'::countersign.turn_status) AND (t.lease_until <= clock_timestamp()))))) = 0)
        END;

CREATE VIEW countersign.proposals_read WITH (security_invoker='true') AS
 SELECT p.id,
    p.workspace_id,
    p.number,
        CASE
            WHEN (p.status <> ALL (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status])) THEN p.status
            WHEN (p.expires_at <= clock_timestamp()) THEN 'expired'::countersign.proposal_status
            WHEN ((p.turn_id IS NOT NULL) AND (EXISTS ( SELECT
               FROM countersign.turns t
              WHERE ((t.id = p.turn_id) AND ((t.status = ANY (ARRAY['cut_short'::countersign.turn_status, 'failed'::countersign.turn_status])) OR ((t.status = 'running'::countersign.turn_status) AND (t.lease_until <= clock_timestamp()))))))) THEN 'withdrawn'::countersign.proposal_status
            ELSE p.status
        END AS status,
    p.tool,
    p.entity,
    p.module,
    p.operation,
    p.action_kind,
    p.headline,
    p.assistant_note,
    p.fingerprint,
    p.acting_user_id,
    p.token_id,
    p.channel,
    p.client_name,
    p.conversation_id,
    p.turn_id,
    GREATEST(p.approvals_needed, p.approvals_raised) AS approvals_needed,
    (p.requires_approval OR (p.approvals_raised > 0)) AS requires_approval,
    p.preview_only,
    p.lifetime,
    p.created_at,
    p.expires_at,
    p.extended_at,
        CASE
            WHEN ((p.status = ANY (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status])) AND (p.expires_at <= clock_timestamp())) THEN p.expires_at
            ELSE p.resolved_at
        END AS resolved_at,
    p.outcome_record_id,
    p.outcome_record,
    p.outcome_affected,
    p.failure_code,
    p.failure_message,
    p.failure_field,
    p.superseded_by_id,
    p.revert_of_id,
    COALESCE(p.approver_raised, p.approver_role) AS approver_role,
    p.approval_lifetime,
    p.shared,
    p.record_count,
    p.matched,
    p.changes,
    p.rehearsal,
    p.warnings,
    p.intent,
    p.revision_of_id,
    p.failed_positions,
    p.conflicts,
    p.outcome_keys
   FROM countersign.proposals p;

CREATE TABLE countersign.redaction_patterns (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    pattern text NOT NULL,
    samples jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by uuid,
    CONSTRAINT redaction_patterns_name_check CHECK (((length(name) >= 1) AND (length(name) <= 40))),
    CONSTRAINT redaction_patterns_pattern_check CHECK (((length(pattern) >= 1) AND (length(pattern) <= 1000))),
    CONSTRAINT redaction_patterns_samples_check CHECK ((jsonb_typeof(samples) = 'object'::text))
);

ALTER TABLE ONLY countersign.redaction_patterns FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.river_job (
    id bigint NOT NULL,
    state countersign.river_job_state DEFAULT 'available'::countersign.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::countersign.river_job_state, 'completed'::countersign.river_job_state, 'discarded'::countersign.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::countersign.river_job_state, 'completed'::countersign.river_job_state, 'discarded'::countersign.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);

ALTER TABLE ONLY countersign.river_job FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE countersign.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE countersign.river_job_id_seq OWNED BY countersign.river_job.id;

CREATE UNLOGGED TABLE countersign.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);

ALTER TABLE ONLY countersign.river_leader FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.river_notification (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);

ALTER TABLE ONLY countersign.river_notification FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE countersign.river_notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE countersign.river_notification_id_seq OWNED BY countersign.river_notification.id;

CREATE TABLE countersign.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

ALTER TABLE ONLY countersign.river_queue FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.sessions (
    token text NOT NULL,
    data bytea NOT NULL,
    expiry timestamp with time zone NOT NULL
);

CREATE TABLE countersign.sign_in_failures (
    subject bytea NOT NULL,
    failures integer NOT NULL,
    last_at timestamp with time zone NOT NULL,
    blocked_until timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_failures_subject_check CHECK ((length(subject) = 32))
);

CREATE TABLE countersign.sign_ins (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    workspace_id uuid,
    kind countersign.sign_in_kind NOT NULL,
    token_hash bytea,
    address text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    share_lock boolean DEFAULT false NOT NULL,
    CONSTRAINT sign_ins_bearer_has_token CHECK (((kind = 'bearer'::countersign.sign_in_kind) = (token_hash IS NOT NULL))),
    CONSTRAINT sign_ins_token_hash_check CHECK ((length(token_hash) = 32))
);

CREATE TABLE countersign.tool_calls (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    user_id uuid,
    sign_in_id uuid,
    token_id uuid,
    conversation_id uuid,
    turn_id uuid,
    proposal_id uuid,
    tool text NOT NULL,
    entity text,
    input jsonb DEFAULT '{}'::jsonb NOT NULL,
    status countersign.tool_call_status DEFAULT 'started'::countersign.tool_call_status NOT NULL,
    code text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT tool_calls_end CHECK (((status = 'started'::countersign.tool_call_status) = (finished_at IS NULL))),
    CONSTRAINT tool_calls_tool_check CHECK ((length(tool) <= 64))
);

ALTER TABLE ONLY countersign.tool_calls FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.usage (
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_id uuid,
    measure text NOT NULL,
    amount bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT usage_amount_check CHECK ((amount > 0)),
    CONSTRAINT usage_measure_check CHECK ((measure = ANY (ARRAY['tool_calls'::text, 'proposals'::text, 'model_tokens'::text])))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02');

ALTER TABLE ONLY countersign.usage FORCE ROW LEVEL SECURITY;

CREATE TABLE countersign.users (
    id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (email ~ '^[^@[:space:]]+@[^@[:space:]]+$'::text) AND (length(email) <= 320))),
    CONSTRAINT users_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE countersign.workspaces (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    policy_version bigint DEFAULT 0 NOT NULL,
    CONSTRAINT workspaces_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT workspaces_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);

ALTER TABLE ONLY countersign.river_job ALTER COLUMN id SET DEFAULT nextval('countersign.river_job_id_seq'::regclass);

ALTER TABLE ONLY countersign.river_notification ALTER COLUMN id SET DEFAULT nextval('countersign.river_notification_id_seq'::regclass);

ALTER TABLE ONLY countersign.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.api_tokens
    ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY countersign.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.budgets
    ADD CONSTRAINT budgets_one UNIQUE NULLS NOT DISTINCT (workspace_id, subject, user_id, token_id, measure, period);

ALTER TABLE ONLY countersign.budgets
    ADD CONSTRAINT budgets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.feed
    ADD CONSTRAINT feed_event_id_key UNIQUE (event_id);

ALTER TABLE ONLY countersign.feed_floor
    ADD CONSTRAINT feed_floor_pkey PRIMARY KEY (workspace_id);

ALTER TABLE ONLY countersign.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (workspace_id, "position");

ALTER TABLE ONLY countersign.feed_queue
    ADD CONSTRAINT feed_queue_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY countersign.feed_restores
    ADD CONSTRAINT feed_restores_pkey PRIMARY KEY (begins);

ALTER TABLE ONLY countersign.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (workspace_id, user_id, key);

ALTER TABLE ONLY countersign.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (user_id, workspace_id);

ALTER TABLE ONLY countersign.messages
    ADD CONSTRAINT messages_one_a_role UNIQUE (turn_id, role);

ALTER TABLE ONLY countersign.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.policies
    ADD CONSTRAINT policies_one UNIQUE NULLS NOT DISTINCT (workspace_id, entity, operation, tool);

ALTER TABLE ONLY countersign.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.proposal_created
    ADD CONSTRAINT proposal_created_pkey PRIMARY KEY (proposal_id, "position");

ALTER TABLE ONLY countersign.proposal_decisions
    ADD CONSTRAINT proposal_decisions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.proposal_records
    ADD CONSTRAINT proposal_records_pkey PRIMARY KEY (proposal_id, "position");

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_in_workspace UNIQUE (id, workspace_id);

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_number_key UNIQUE (number);

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.redaction_patterns
    ADD CONSTRAINT redaction_patterns_name UNIQUE (workspace_id, name);

ALTER TABLE ONLY countersign.redaction_patterns
    ADD CONSTRAINT redaction_patterns_pkey PRIMARY KEY (workspace_id, id);

ALTER TABLE ONLY countersign.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);

ALTER TABLE ONLY countersign.river_notification
    ADD CONSTRAINT river_notification_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);

ALTER TABLE ONLY countersign.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token);

ALTER TABLE ONLY countersign.sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY countersign.sign_ins
    ADD CONSTRAINT sign_ins_of_person UNIQUE (id, user_id);

ALTER TABLE ONLY countersign.sign_ins
    ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.sign_ins
    ADD CONSTRAINT sign_ins_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY countersign.tool_calls
    ADD CONSTRAINT tool_calls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.turns
    ADD CONSTRAINT turns_key UNIQUE (conversation_id, idempotency_key);

ALTER TABLE ONLY countersign.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.users
    ADD CONSTRAINT users_email_key UNIQUE (email);

ALTER TABLE ONLY countersign.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.workspaces
    ADD CONSTRAINT workspaces_pkey PRIMARY KEY (id);

ALTER TABLE ONLY countersign.workspaces
    ADD CONSTRAINT workspaces_slug_key UNIQUE (slug);

CREATE INDEX audit_events_newest ON countersign.audit_events USING btree (workspace_id, id DESC);

CREATE INDEX conversations_of_user ON countersign.conversations USING btree (workspace_id, user_id, id DESC);

CREATE INDEX decisions_of_proposal ON countersign.proposal_decisions USING btree (proposal_id, id);

CREATE UNIQUE INDEX decisions_one_confirm ON countersign.proposal_decisions USING btree (proposal_id) WHERE (kind = 'confirm'::countersign.decision_kind);

CREATE UNIQUE INDEX decisions_one_final ON countersign.proposal_decisions USING btree (proposal_id) WHERE final;

CREATE UNIQUE INDEX decisions_one_vote ON countersign.proposal_decisions USING btree (proposal_id, person_id) WHERE (kind = ANY (ARRAY['approve'::countersign.decision_kind, 'disapprove'::countersign.decision_kind]));

CREATE INDEX events_of_proposal ON countersign.events USING btree (proposal_id, id);

CREATE UNIQUE INDEX feed_end ON countersign.feed USING btree ((("position" + 0)));

CREATE INDEX idempotency_keys_of_proposal ON countersign.idempotency_keys USING btree (proposal_id);

CREATE INDEX messages_of_conversation ON countersign.messages USING btree (conversation_id, id);

CREATE INDEX proposal_records_of_record ON countersign.proposal_records USING btree (workspace_id, entity, key);

CREATE INDEX proposals_awaiting ON countersign.proposals USING btree (workspace_id, COALESCE(approver_raised, approver_role), number DESC) WHERE (status = 'awaiting_approval'::countersign.proposal_status);

CREATE INDEX proposals_created ON countersign.proposals USING btree (created_at);

CREATE INDEX proposals_intent ON countersign.proposals USING btree (acting_user_id, intent) WHERE (status = ANY (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status]));

CREATE INDEX proposals_newest ON countersign.proposals USING btree (workspace_id, number DESC);

CREATE INDEX proposals_of_call ON countersign.proposals USING btree (tool_call_id) WHERE (tool_call_id IS NOT NULL);

CREATE INDEX proposals_of_conversation ON countersign.proposals USING btree (conversation_id, number DESC) WHERE (conversation_id IS NOT NULL);

CREATE INDEX proposals_of_turn ON countersign.proposals USING btree (turn_id) WHERE (turn_id IS NOT NULL);

CREATE INDEX proposals_of_user ON countersign.proposals USING btree (acting_user_id, status, number DESC);

CREATE INDEX proposals_oldest ON countersign.proposals USING btree (workspace_id, (
CASE
    WHEN (resolved_at IS NULL) THEN expires_at
    ELSE resolved_at
END));

CREATE INDEX proposals_open_expiry ON countersign.proposals USING btree (expires_at) WHERE (status = ANY (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status]));

CREATE INDEX proposals_pending ON countersign.proposals USING btree (workspace_id, acting_user_id, number DESC) WHERE (status = 'pending'::countersign.proposal_status);

CREATE INDEX proposals_rejected ON countersign.proposals USING btree (acting_user_id, resolved_at) WHERE (status = 'rejected'::countersign.proposal_status);

CREATE INDEX proposals_revert_of ON countersign.proposals USING btree (revert_of_id) WHERE (revert_of_id IS NOT NULL);

CREATE INDEX proposals_revision_of ON countersign.proposals USING btree (revision_of_id) WHERE (revision_of_id IS NOT NULL);

CREATE INDEX proposals_shared ON countersign.proposals USING btree (workspace_id, entity, number DESC) WHERE ((status = 'pending'::countersign.proposal_status) AND shared);

CREATE INDEX proposals_superseded_by ON countersign.proposals USING btree (superseded_by_id) WHERE (superseded_by_id IS NOT NULL);

CREATE INDEX river_job_args_index ON countersign.river_job USING gin (args);

CREATE INDEX river_job_kind ON countersign.river_job USING btree (kind);

CREATE INDEX river_job_metadata_index ON countersign.river_job USING gin (metadata);

CREATE INDEX river_job_prioritized_fetching_index ON countersign.river_job USING btree (state, queue, priority, scheduled_at, id);

CREATE INDEX river_job_state_and_finalized_at_index ON countersign.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);

CREATE UNIQUE INDEX river_job_unique_idx ON countersign.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND countersign.river_job_state_in_bitmask(unique_states, state));

CREATE INDEX river_notification_created_at_idx ON countersign.river_notification USING btree (created_at);

CREATE INDEX river_notification_topic_id_idx ON countersign.river_notification USING btree (topic, id);

CREATE INDEX sessions_expiry ON countersign.sessions USING btree (expiry);

CREATE INDEX sign_ins_user ON countersign.sign_ins USING btree (user_id) WHERE (ended_at IS NULL);

CREATE INDEX tool_calls_newest ON countersign.tool_calls USING btree (workspace_id, id DESC);

CREATE INDEX tool_calls_of_proposal ON countersign.tool_calls USING btree (proposal_id) WHERE (proposal_id IS NOT NULL);

CREATE INDEX tool_calls_of_turn ON countersign.tool_calls USING btree (turn_id) WHERE (turn_id IS NOT NULL);

CREATE INDEX tool_calls_oldest ON countersign.tool_calls USING btree (workspace_id, finished_at) WHERE (proposal_id IS NOT NULL);

CREATE INDEX tool_calls_unfinished ON countersign.tool_calls USING btree (started_at) WHERE (status = 'started'::countersign.tool_call_status);

CREATE INDEX turns_running ON countersign.turns USING btree (lease_until) WHERE (status = 'running'::countersign.turn_status);

CREATE INDEX usage_of_token ON countersign.usage USING btree (workspace_id, token_id, measure, at) INCLUDE (amount) WHERE (token_id IS NOT NULL);

CREATE INDEX usage_of_user ON countersign.usage USING btree (workspace_id, user_id, measure, at) INCLUDE (amount);

CREATE INDEX usage_of_workspace ON countersign.usage USING btree (workspace_id, measure, at) INCLUDE (amount);

CREATE TRIGGER audit_events_address BEFORE INSERT ON countersign.audit_events FOR EACH ROW WHEN (((new.sign_in_id IS NOT NULL) AND (new.address IS NULL))) EXECUTE FUNCTION countersign.audit_address();

CREATE TRIGGER audit_events_append_only BEFORE UPDATE ON countersign.audit_events FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER events_append_only BEFORE UPDATE ON countersign.events FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER events_queue AFTER INSERT ON countersign.events FOR EACH ROW EXECUTE FUNCTION countersign.queue_event();

CREATE TRIGGER feed_append_only BEFORE UPDATE OR TRUNCATE ON countersign.feed FOR EACH STATEMENT EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER feed_floor AFTER DELETE ON countersign.feed REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION countersign.raise_feed_floor();

CREATE TRIGGER policies_count AFTER INSERT OR DELETE OR UPDATE ON countersign.policies FOR EACH ROW EXECUTE FUNCTION countersign.count_policy_change();

CREATE TRIGGER proposal_created_append_only BEFORE UPDATE ON countersign.proposal_created FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER proposal_decisions_append_only BEFORE UPDATE ON countersign.proposal_decisions FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER proposal_records_append_only BEFORE UPDATE ON countersign.proposal_records FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

CREATE TRIGGER proposals_guard BEFORE INSERT OR UPDATE ON countersign.proposals FOR EACH ROW EXECUTE FUNCTION countersign.proposals_guard();

CREATE TRIGGER redaction_patterns_append_only BEFORE UPDATE ON countersign.redaction_patterns FOR EACH ROW EXECUTE FUNCTION countersign.append_only();

ALTER TABLE ONLY countersign.api_tokens
    ADD CONSTRAINT api_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.api_tokens
    ADD CONSTRAINT api_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.budgets
    ADD CONSTRAINT budgets_token_id_fkey FOREIGN KEY (token_id) REFERENCES countersign.api_tokens(id);

ALTER TABLE ONLY countersign.budgets
    ADD CONSTRAINT budgets_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.budgets
    ADD CONSTRAINT budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.conversations
    ADD CONSTRAINT conversations_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.conversations
    ADD CONSTRAINT conversations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.proposal_decisions
    ADD CONSTRAINT decisions_of_their_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES countersign.proposals(id, workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.events
    ADD CONSTRAINT events_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.events
    ADD CONSTRAINT events_of_their_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES countersign.proposals(id, workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.feed
    ADD CONSTRAINT feed_event_id_fkey FOREIGN KEY (event_id) REFERENCES countersign.events(id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.idempotency_keys
    ADD CONSTRAINT idempotency_keys_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES countersign.proposals(id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.idempotency_keys
    ADD CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.idempotency_keys
    ADD CONSTRAINT idempotency_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.memberships
    ADD CONSTRAINT memberships_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.messages
    ADD CONSTRAINT messages_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES countersign.conversations(id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.messages
    ADD CONSTRAINT messages_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES countersign.turns(id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.messages
    ADD CONSTRAINT messages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.policies
    ADD CONSTRAINT policies_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.proposal_created
    ADD CONSTRAINT proposal_created_proposal_id_position_fkey FOREIGN KEY (proposal_id, "position") REFERENCES countersign.proposal_records(proposal_id, "position") ON DELETE CASCADE;

ALTER TABLE ONLY countersign.proposal_decisions
    ADD CONSTRAINT proposal_decisions_person_id_fkey FOREIGN KEY (person_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.proposal_decisions
    ADD CONSTRAINT proposal_decisions_sign_in_id_person_id_fkey FOREIGN KEY (sign_in_id, person_id) REFERENCES countersign.sign_ins(id, user_id);

ALTER TABLE ONLY countersign.proposal_decisions
    ADD CONSTRAINT proposal_decisions_token_id_fkey FOREIGN KEY (token_id) REFERENCES countersign.api_tokens(id);

ALTER TABLE ONLY countersign.proposal_records
    ADD CONSTRAINT proposal_records_of_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES countersign.proposals(id, workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_acting_user_id_fkey FOREIGN KEY (acting_user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES countersign.conversations(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_revert_of_id_fkey FOREIGN KEY (revert_of_id) REFERENCES countersign.proposals(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_revision_of_id_fkey FOREIGN KEY (revision_of_id) REFERENCES countersign.proposals(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_superseded_by_id_fkey FOREIGN KEY (superseded_by_id) REFERENCES countersign.proposals(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_token_id_fkey FOREIGN KEY (token_id) REFERENCES countersign.api_tokens(id);

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_tool_call_id_fkey FOREIGN KEY (tool_call_id) REFERENCES countersign.tool_calls(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES countersign.turns(id) ON DELETE SET NULL;

ALTER TABLE ONLY countersign.proposals
    ADD CONSTRAINT proposals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.redaction_patterns
    ADD CONSTRAINT redaction_patterns_created_by_fkey FOREIGN KEY (created_by) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.redaction_patterns
    ADD CONSTRAINT redaction_patterns_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.sign_ins
    ADD CONSTRAINT sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.sign_ins
    ADD CONSTRAINT sign_ins_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.tool_calls
    ADD CONSTRAINT tool_calls_sign_in_id_fkey FOREIGN KEY (sign_in_id) REFERENCES countersign.sign_ins(id);

ALTER TABLE ONLY countersign.tool_calls
    ADD CONSTRAINT tool_calls_token_id_fkey FOREIGN KEY (token_id) REFERENCES countersign.api_tokens(id);

ALTER TABLE ONLY countersign.tool_calls
    ADD CONSTRAINT tool_calls_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.tool_calls
    ADD CONSTRAINT tool_calls_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE ONLY countersign.turns
    ADD CONSTRAINT turns_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES countersign.conversations(id) ON DELETE CASCADE;

ALTER TABLE ONLY countersign.turns
    ADD CONSTRAINT turns_user_id_fkey FOREIGN KEY (user_id) REFERENCES countersign.users(id);

ALTER TABLE ONLY countersign.turns
    ADD CONSTRAINT turns_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES countersign.workspaces(id);

ALTER TABLE countersign.audit_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.budgets ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.conversations ENABLE ROW LEVEL SECURITY;

CREATE POLICY definer_proposes ON countersign.proposals AS RESTRICTIVE FOR INSERT TO countersign_definer WITH CHECK ((status = 'pending'::countersign.proposal_status));

CREATE POLICY definer_queues ON countersign.feed_queue FOR INSERT TO countersign_definer WITH CHECK (true);

CREATE POLICY definer_raises ON countersign.feed_floor TO countersign_definer USING (true);

CREATE POLICY definer_withdraws ON countersign.proposal_decisions AS RESTRICTIVE FOR INSERT TO countersign_definer WITH CHECK ((kind = 'withdraw'::countersign.decision_kind));

CREATE POLICY definer_withdraws ON countersign.proposals AS RESTRICTIVE FOR UPDATE TO countersign_definer USING (true) WITH CHECK ((status = ANY (ARRAY['pending'::countersign.proposal_status, 'withdrawn'::countersign.proposal_status])));

ALTER TABLE countersign.events ENABLE ROW LEVEL SECURITY;

CREATE POLICY everyone_reads ON countersign.feed_restores FOR SELECT USING (true);

ALTER TABLE countersign.feed ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.feed_floor ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.feed_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.feed_restores ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.idempotency_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY in_workspace ON countersign.audit_events USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.budgets USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.conversations USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.events USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.feed USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.feed_floor USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.idempotency_keys USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.messages USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.policies USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.proposal_created USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.proposal_decisions USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.proposal_records USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.proposals USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.redaction_patterns USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.tool_calls USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.turns USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

CREATE POLICY in_workspace ON countersign.usage USING ((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid));

ALTER TABLE countersign.messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposal_created ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposal_decisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposal_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.proposals ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.redaction_patterns ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.river_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.river_leader ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.river_notification ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.river_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.tool_calls ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE countersign.usage ENABLE ROW LEVEL SECURITY;

CREATE POLICY worker_ends ON countersign.tool_calls AS RESTRICTIVE FOR UPDATE TO countersign_worker USING (true) WITH CHECK ((status = 'cut_short'::countersign.tool_call_status));

CREATE POLICY worker_expires ON countersign.proposal_decisions AS RESTRICTIVE FOR INSERT TO countersign_worker WITH CHECK ((kind = 'expire'::countersign.decision_kind));

CREATE POLICY worker_expires ON countersign.proposals AS RESTRICTIVE FOR UPDATE TO countersign_worker USING (true) WITH CHECK (((status = 'expired'::countersign.proposal_status) AND (expires_at <= clock_timestamp())));

CREATE POLICY worker_finds ON countersign.proposals FOR SELECT TO countersign_worker USING (true);

CREATE POLICY worker_finds ON countersign.tool_calls TO countersign_worker USING (true);

CREATE POLICY worker_finds ON countersign.turns FOR SELECT TO countersign_worker USING (true);

CREATE POLICY worker_forgets ON countersign.proposals AS RESTRICTIVE FOR DELETE TO countersign_worker USING (((status <> ALL (ARRAY['pending'::countersign.proposal_status, 'awaiting_approval'::countersign.proposal_status])) OR (expires_at <= clock_timestamp())));

CREATE POLICY worker_forgets ON countersign.tool_calls AS RESTRICTIVE FOR DELETE TO countersign_worker USING (((workspace_id = (NULLIF(current_setting('countersign.workspace'::text, true), ''::text))::uuid) AND (finished_at IS NOT NULL) AND (proposal_id IS NOT NULL) AND (NOT (EXISTS ( SELECT
   FROM countersign.proposals p
  WHERE (p.id = tool_calls.proposal_id))))));

CREATE POLICY worker_forgets ON countersign.usage AS RESTRICTIVE FOR DELETE TO countersign_worker USING ((at < (clock_timestamp() - '2 mons'::interval)));

CREATE POLICY worker_sequences ON countersign.events FOR SELECT TO countersign_worker USING (true);

CREATE POLICY worker_sequences ON countersign.feed TO countersign_worker USING (true);

CREATE POLICY worker_sequences ON countersign.feed_queue TO countersign_worker USING (true);

CREATE POLICY worker_works ON countersign.river_job TO countersign_worker USING (true);

CREATE POLICY worker_works ON countersign.river_leader TO countersign_worker USING (true);

CREATE POLICY worker_works ON countersign.river_notification TO countersign_worker USING (true);

CREATE POLICY worker_works ON countersign.river_queue TO countersign_worker USING (true);

GRANT USAGE ON SCHEMA countersign TO countersign_gate;
GRANT USAGE ON SCHEMA countersign TO countersign_agent;
GRANT USAGE ON SCHEMA countersign TO countersign_reader;
GRANT USAGE ON SCHEMA countersign TO countersign_worker;
GRANT USAGE ON SCHEMA countersign TO countersign_identity;
GRANT USAGE ON SCHEMA countersign TO countersign_definer;

REVOKE ALL ON FUNCTION countersign.append_only() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.audit_address() FROM PUBLIC;

GRANT SELECT ON TABLE countersign.budgets TO countersign_gate;
GRANT SELECT ON TABLE countersign.budgets TO countersign_agent;
GRANT SELECT ON TABLE countersign.budgets TO countersign_reader;
GRANT SELECT ON TABLE countersign.budgets TO countersign_definer;

REVOKE ALL ON FUNCTION countersign.budget_used(b countersign.budgets, actor uuid, by_token uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.budget_used(b countersign.budgets, actor uuid, by_token uuid) TO countersign_definer;
GRANT ALL ON FUNCTION countersign.budget_used(b countersign.budgets, actor uuid, by_token uuid) TO countersign_agent;

REVOKE ALL ON FUNCTION countersign.count_policy_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.finish_tool_call(call_id uuid, ended countersign.tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.finish_tool_call(call_id uuid, ended countersign.tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea) TO countersign_agent;
GRANT ALL ON FUNCTION countersign.finish_tool_call(call_id uuid, ended countersign.tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea) TO countersign_gate;

REVOKE ALL ON FUNCTION countersign.proposals_guard() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.propose(new_id uuid, with_tool text, on_entity text, does countersign.write_operation, kind text, with_headline text, note text, card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through countersign.channel, client text, in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers countersign.role, approval_lives interval, preview boolean, shares boolean, lives interval, once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval, revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.propose(new_id uuid, with_tool text, on_entity text, does countersign.write_operation, kind text, with_headline text, note text, card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through countersign.channel, client text, in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers countersign.role, approval_lives interval, preview boolean, shares boolean, lives interval, once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval, revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb) TO countersign_agent;
GRANT ALL ON FUNCTION countersign.propose(new_id uuid, with_tool text, on_entity text, does countersign.write_operation, kind text, with_headline text, note text, card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through countersign.channel, client text, in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers countersign.role, approval_lives interval, preview boolean, shares boolean, lives interval, once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval, revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb) TO countersign_gate;

REVOKE ALL ON FUNCTION countersign.queue_event() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.raise_feed_floor() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean) TO countersign_agent;
GRANT ALL ON FUNCTION countersign.record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean) TO countersign_gate;

REVOKE ALL ON FUNCTION countersign.renew_feed() FROM PUBLIC;

REVOKE ALL ON FUNCTION countersign.river_job_state_in_bitmask(bitmask bit, state countersign.river_job_state) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.river_job_state_in_bitmask(bitmask bit, state countersign.river_job_state) TO countersign_worker;

REVOKE ALL ON FUNCTION countersign.sequence_feed(above bigint, most integer, OUT taken integer, OUT top bigint, OUT head bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.sequence_feed(above bigint, most integer, OUT taken integer, OUT top bigint, OUT head bigint) TO countersign_worker;

REVOKE ALL ON FUNCTION countersign.spend(what text, many bigint, actor uuid, by_token uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.spend(what text, many bigint, actor uuid, by_token uuid) TO countersign_definer;

REVOKE ALL ON FUNCTION countersign.spent(b countersign.budgets, used bigint, many bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.spent(b countersign.budgets, used bigint, many bigint) TO countersign_definer;
GRANT ALL ON FUNCTION countersign.spent(b countersign.budgets, used bigint, many bigint) TO countersign_agent;

REVOKE ALL ON FUNCTION countersign.targets(changes jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.targets(changes jsonb) TO countersign_definer;

REVOKE ALL ON FUNCTION countersign.withdraw(which uuid, by_token uuid, why text) FROM PUBLIC;
GRANT ALL ON FUNCTION countersign.withdraw(which uuid, by_token uuid, why text) TO countersign_agent;

GRANT SELECT,INSERT,UPDATE ON TABLE countersign.api_tokens TO countersign_identity;

GRANT SELECT(id) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(id) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT(user_id) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(user_id) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT(workspace_id) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(workspace_id) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT(scopes) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(scopes) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT(expires_at) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(expires_at) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT(revoked_at) ON TABLE countersign.api_tokens TO countersign_gate;
GRANT SELECT(revoked_at) ON TABLE countersign.api_tokens TO countersign_definer;

GRANT SELECT ON TABLE countersign.audit_events TO countersign_reader;
GRANT INSERT ON TABLE countersign.audit_events TO countersign_gate;
GRANT INSERT ON TABLE countersign.audit_events TO countersign_worker;
GRANT INSERT ON TABLE countersign.audit_events TO countersign_definer;

GRANT SELECT ON TABLE countersign.conversations TO countersign_gate;
GRANT SELECT,INSERT,UPDATE ON TABLE countersign.conversations TO countersign_agent;
GRANT SELECT ON TABLE countersign.conversations TO countersign_reader;
GRANT SELECT ON TABLE countersign.conversations TO countersign_worker;
GRANT SELECT ON TABLE countersign.conversations TO countersign_definer;

GRANT SELECT,INSERT ON TABLE countersign.events TO countersign_gate;
GRANT SELECT ON TABLE countersign.events TO countersign_agent;
GRANT SELECT ON TABLE countersign.events TO countersign_reader;
GRANT SELECT,INSERT ON TABLE countersign.events TO countersign_worker;
GRANT SELECT,INSERT ON TABLE countersign.events TO countersign_definer;

GRANT SELECT ON TABLE countersign.feed TO countersign_reader;
GRANT SELECT ON TABLE countersign.feed TO countersign_worker;

GRANT INSERT(event_id) ON TABLE countersign.feed TO countersign_worker;

GRANT INSERT(workspace_id) ON TABLE countersign.feed TO countersign_worker;

GRANT SELECT ON TABLE countersign.feed_floor TO countersign_reader;
GRANT SELECT ON TABLE countersign.feed_floor TO countersign_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE countersign.feed_floor TO countersign_definer;

GRANT SELECT ON SEQUENCE countersign.feed_position_seq TO countersign_reader;

GRANT SELECT,DELETE ON TABLE countersign.feed_queue TO countersign_worker;

GRANT INSERT(event_id) ON TABLE countersign.feed_queue TO countersign_definer;

GRANT INSERT(workspace_id) ON TABLE countersign.feed_queue TO countersign_definer;

GRANT SELECT ON TABLE countersign.feed_restores TO countersign_reader;
GRANT SELECT,UPDATE ON TABLE countersign.feed_restores TO countersign_worker;

GRANT SELECT ON TABLE countersign.idempotency_keys TO countersign_gate;
GRANT SELECT ON TABLE countersign.idempotency_keys TO countersign_agent;
GRANT SELECT ON TABLE countersign.idempotency_keys TO countersign_reader;
GRANT SELECT,INSERT,DELETE ON TABLE countersign.idempotency_keys TO countersign_definer;

GRANT SELECT ON TABLE countersign.memberships TO countersign_gate;
GRANT SELECT ON TABLE countersign.memberships TO countersign_agent;
GRANT SELECT ON TABLE countersign.memberships TO countersign_reader;
GRANT SELECT ON TABLE countersign.memberships TO countersign_worker;
GRANT SELECT ON TABLE countersign.memberships TO countersign_definer;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.memberships TO countersign_identity;

GRANT UPDATE(share_lock) ON TABLE countersign.memberships TO countersign_gate;

GRANT SELECT ON TABLE countersign.messages TO countersign_gate;
GRANT SELECT,INSERT,UPDATE ON TABLE countersign.messages TO countersign_agent;
GRANT SELECT ON TABLE countersign.messages TO countersign_reader;
GRANT SELECT ON TABLE countersign.messages TO countersign_worker;
GRANT SELECT ON TABLE countersign.messages TO countersign_definer;

GRANT SELECT ON TABLE countersign.policies TO countersign_gate;
GRANT SELECT ON TABLE countersign.policies TO countersign_agent;
GRANT SELECT ON TABLE countersign.policies TO countersign_reader;
GRANT SELECT ON TABLE countersign.policies TO countersign_definer;

GRANT UPDATE(share_lock) ON TABLE countersign.policies TO countersign_gate;

GRANT SELECT,INSERT ON TABLE countersign.proposal_created TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposal_created TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposal_created TO countersign_reader;
GRANT SELECT ON TABLE countersign.proposal_created TO countersign_worker;
GRANT SELECT ON TABLE countersign.proposal_created TO countersign_definer;

GRANT SELECT,INSERT ON TABLE countersign.proposal_decisions TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposal_decisions TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposal_decisions TO countersign_reader;
GRANT SELECT,INSERT ON TABLE countersign.proposal_decisions TO countersign_worker;
GRANT SELECT,INSERT ON TABLE countersign.proposal_decisions TO countersign_definer;

GRANT SELECT ON TABLE countersign.proposal_records TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposal_records TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposal_records TO countersign_reader;
GRANT SELECT ON TABLE countersign.proposal_records TO countersign_worker;
GRANT SELECT,INSERT ON TABLE countersign.proposal_records TO countersign_definer;

GRANT SELECT ON TABLE countersign.proposals TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposals TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposals TO countersign_reader;
GRANT SELECT,DELETE ON TABLE countersign.proposals TO countersign_worker;
GRANT SELECT,INSERT ON TABLE countersign.proposals TO countersign_definer;

GRANT UPDATE(status) ON TABLE countersign.proposals TO countersign_gate;
GRANT UPDATE(status) ON TABLE countersign.proposals TO countersign_worker;
GRANT UPDATE(status) ON TABLE countersign.proposals TO countersign_definer;

GRANT UPDATE(turn_id) ON TABLE countersign.proposals TO countersign_definer;

GRANT UPDATE(tool_call_id) ON TABLE countersign.proposals TO countersign_definer;

GRANT UPDATE(expires_at) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(extended_at) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(resolved_at) ON TABLE countersign.proposals TO countersign_gate;
GRANT UPDATE(resolved_at) ON TABLE countersign.proposals TO countersign_worker;
GRANT UPDATE(resolved_at) ON TABLE countersign.proposals TO countersign_definer;

GRANT UPDATE(outcome_record_id) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(outcome_record) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(outcome_affected) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(failure_code) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(failure_message) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(failure_field) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(superseded_by_id) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(outcome_keys) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(failed_positions) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(approvals_raised) ON TABLE countersign.proposals TO countersign_gate;

GRANT UPDATE(approver_raised) ON TABLE countersign.proposals TO countersign_gate;

GRANT SELECT ON TABLE countersign.turns TO countersign_gate;
GRANT SELECT,INSERT,UPDATE ON TABLE countersign.turns TO countersign_agent;
GRANT SELECT ON TABLE countersign.turns TO countersign_reader;
GRANT SELECT ON TABLE countersign.turns TO countersign_worker;
GRANT SELECT ON TABLE countersign.turns TO countersign_definer;

GRANT SELECT ON TABLE countersign.proposals_open TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposals_open TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposals_open TO countersign_reader;
GRANT SELECT ON TABLE countersign.proposals_open TO countersign_worker;
GRANT SELECT ON TABLE countersign.proposals_open TO countersign_definer;

GRANT SELECT ON TABLE countersign.proposals_read TO countersign_gate;
GRANT SELECT ON TABLE countersign.proposals_read TO countersign_agent;
GRANT SELECT ON TABLE countersign.proposals_read TO countersign_reader;
GRANT SELECT ON TABLE countersign.proposals_read TO countersign_worker;
GRANT SELECT ON TABLE countersign.proposals_read TO countersign_definer;

GRANT SELECT(workspace_id) ON TABLE countersign.redaction_patterns TO countersign_agent;
GRANT SELECT(workspace_id) ON TABLE countersign.redaction_patterns TO countersign_gate;

GRANT SELECT(id) ON TABLE countersign.redaction_patterns TO countersign_agent;
GRANT SELECT(id) ON TABLE countersign.redaction_patterns TO countersign_gate;

GRANT SELECT(name) ON TABLE countersign.redaction_patterns TO countersign_agent;
GRANT SELECT(name) ON TABLE countersign.redaction_patterns TO countersign_gate;

GRANT SELECT(pattern) ON TABLE countersign.redaction_patterns TO countersign_agent;
GRANT SELECT(pattern) ON TABLE countersign.redaction_patterns TO countersign_gate;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.river_job TO countersign_worker;

GRANT SELECT,USAGE ON SEQUENCE countersign.river_job_id_seq TO countersign_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.river_leader TO countersign_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.river_notification TO countersign_worker;

GRANT SELECT,USAGE ON SEQUENCE countersign.river_notification_id_seq TO countersign_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.river_queue TO countersign_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.sessions TO countersign_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE countersign.sign_in_failures TO countersign_identity;

GRANT SELECT,INSERT,UPDATE ON TABLE countersign.sign_ins TO countersign_identity;

GRANT SELECT(id) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(id) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(user_id) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(user_id) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(workspace_id) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(workspace_id) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(address) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(address) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(expires_at) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(expires_at) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(ended_at) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(ended_at) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT(share_lock),UPDATE(share_lock) ON TABLE countersign.sign_ins TO countersign_gate;
GRANT SELECT(share_lock) ON TABLE countersign.sign_ins TO countersign_definer;

GRANT SELECT,INSERT ON TABLE countersign.tool_calls TO countersign_gate;
GRANT SELECT ON TABLE countersign.tool_calls TO countersign_agent;
GRANT SELECT ON TABLE countersign.tool_calls TO countersign_reader;
GRANT SELECT,DELETE ON TABLE countersign.tool_calls TO countersign_worker;
GRANT SELECT,INSERT ON TABLE countersign.tool_calls TO countersign_definer;

GRANT UPDATE(proposal_id) ON TABLE countersign.tool_calls TO countersign_definer;

GRANT UPDATE(status) ON TABLE countersign.tool_calls TO countersign_worker;
GRANT UPDATE(status) ON TABLE countersign.tool_calls TO countersign_definer;

GRANT UPDATE(code) ON TABLE countersign.tool_calls TO countersign_worker;
GRANT UPDATE(code) ON TABLE countersign.tool_calls TO countersign_definer;

GRANT UPDATE(finished_at) ON TABLE countersign.tool_calls TO countersign_worker;
GRANT UPDATE(finished_at) ON TABLE countersign.tool_calls TO countersign_definer;

GRANT SELECT ON TABLE countersign.usage TO countersign_gate;
GRANT SELECT,INSERT ON TABLE countersign.usage TO countersign_agent;
GRANT SELECT ON TABLE countersign.usage TO countersign_reader;
GRANT SELECT,INSERT ON TABLE countersign.usage TO countersign_definer;
GRANT SELECT,DELETE ON TABLE countersign.usage TO countersign_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE countersign.users TO countersign_identity;

GRANT SELECT(id) ON TABLE countersign.users TO countersign_gate;
GRANT SELECT(id) ON TABLE countersign.users TO countersign_agent;
GRANT SELECT(id) ON TABLE countersign.users TO countersign_reader;
GRANT SELECT(id) ON TABLE countersign.users TO countersign_worker;
GRANT SELECT(id) ON TABLE countersign.users TO countersign_definer;

GRANT SELECT(email) ON TABLE countersign.users TO countersign_gate;
GRANT SELECT(email) ON TABLE countersign.users TO countersign_agent;
GRANT SELECT(email) ON TABLE countersign.users TO countersign_reader;
GRANT SELECT(email) ON TABLE countersign.users TO countersign_worker;
GRANT SELECT(email) ON TABLE countersign.users TO countersign_definer;

GRANT SELECT(name) ON TABLE countersign.users TO countersign_gate;
GRANT SELECT(name) ON TABLE countersign.users TO countersign_agent;
GRANT SELECT(name) ON TABLE countersign.users TO countersign_reader;
GRANT SELECT(name) ON TABLE countersign.users TO countersign_worker;
GRANT SELECT(name) ON TABLE countersign.users TO countersign_definer;

GRANT SELECT(disabled_at) ON TABLE countersign.users TO countersign_gate;
GRANT SELECT(disabled_at) ON TABLE countersign.users TO countersign_agent;
GRANT SELECT(disabled_at) ON TABLE countersign.users TO countersign_reader;
GRANT SELECT(disabled_at) ON TABLE countersign.users TO countersign_worker;
GRANT SELECT(disabled_at) ON TABLE countersign.users TO countersign_definer;

GRANT SELECT(created_at) ON TABLE countersign.users TO countersign_gate;
GRANT SELECT(created_at) ON TABLE countersign.users TO countersign_agent;
GRANT SELECT(created_at) ON TABLE countersign.users TO countersign_reader;
GRANT SELECT(created_at) ON TABLE countersign.users TO countersign_worker;
GRANT SELECT(created_at) ON TABLE countersign.users TO countersign_definer;

GRANT SELECT ON TABLE countersign.workspaces TO countersign_gate;
GRANT SELECT ON TABLE countersign.workspaces TO countersign_agent;
GRANT SELECT ON TABLE countersign.workspaces TO countersign_reader;
GRANT SELECT ON TABLE countersign.workspaces TO countersign_worker;
GRANT SELECT ON TABLE countersign.workspaces TO countersign_definer;
GRANT SELECT ON TABLE countersign.workspaces TO countersign_identity;
