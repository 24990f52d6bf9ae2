-- Every kind of proposal: sets and bulk changes, custom actions, approvals, what the workspace may confirm,
-- rehearsals, revisions and reverts, and the same wish twice.

-- +goose Up

-- shared: the entity let the whole workspace confirm it when it was proposed. matched: the filter of a bulk
-- change, by field. changes: what all records of a bulk change get, see card.BulkChange; NULL for others.
-- rehearsal: see card.Rehearsal. warnings: what the planner said, see card.Notice; no part of the
-- fingerprint. intent: a digest of what is wanted for whom, by which the same wish is known again.
-- conflicts: what a revert leaves as it is, see card.Conflict. outcome_keys: the keys of a set's records, by
-- position, where it created any. failed_positions: the records that refused a set. approvals_raised: how many approvals the configuration
-- asked for when it was confirmed, where those were more than the card says. approver_role: of the type role,
-- but that under row-level security an index is not searched by an enum.
ALTER TABLE proposals
    ADD COLUMN approver_role     text NOT NULL DEFAULT 'approver' CHECK (approver_role IN ('member', 'approver', 'operator')),
    ADD COLUMN approval_lifetime interval NOT NULL DEFAULT interval '7 days' CHECK (approval_lifetime BETWEEN interval '1 second' AND interval '90 days'),
    ADD COLUMN shared            boolean NOT NULL DEFAULT false,
    ADD COLUMN record_count      integer NOT NULL DEFAULT 1 CHECK (record_count BETWEEN 1 AND 10000),
    ADD COLUMN matched           jsonb CHECK (jsonb_typeof(matched) = 'object'),
    ADD COLUMN changes           jsonb CHECK (jsonb_typeof(changes) = 'array'),
    ADD COLUMN rehearsal         jsonb CHECK (jsonb_typeof(rehearsal) = 'object'),
    ADD COLUMN warnings          jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    ADD COLUMN conflicts         jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(conflicts) = 'array'),
    ADD COLUMN intent            bytea CHECK (length(intent) = 32),
    ADD COLUMN revision_of_id    uuid REFERENCES proposals (id) ON DELETE SET NULL,
    ADD COLUMN outcome_keys      text[],
    ADD COLUMN failed_positions  integer[],
    ADD COLUMN approvals_raised  integer NOT NULL DEFAULT 0 CHECK (approvals_raised BETWEEN 0 AND 20),
    ADD CONSTRAINT proposals_failed_positions CHECK (status = 'failed' OR failed_positions IS NULL),
    ADD CONSTRAINT proposals_outcome_keys CHECK (status = 'applied' OR outcome_keys IS NULL),
    DROP CONSTRAINT proposals_approval,
    ADD CONSTRAINT proposals_approval CHECK (status NOT IN ('awaiting_approval', 'disapproved') OR approvals_needed > 0 OR approvals_raised > 0);
ALTER TABLE proposals ALTER COLUMN record_count DROP DEFAULT;

CREATE INDEX proposals_intent ON proposals (acting_user_id, intent) WHERE status IN ('pending', 'awaiting_approval');
CREATE INDEX proposals_rejected ON proposals (acting_user_id, resolved_at) WHERE status = 'rejected';
CREATE INDEX proposals_awaiting ON proposals (workspace_id, approver_role, number DESC) WHERE status = 'awaiting_approval';
CREATE INDEX proposals_shared ON proposals (workspace_id, entity, number DESC) WHERE status = 'pending' AND shared;
CREATE INDEX proposals_superseded_by ON proposals (superseded_by_id) WHERE superseded_by_id IS NOT NULL;
CREATE INDEX proposals_revision_of ON proposals (revision_of_id) WHERE revision_of_id IS NOT NULL;
CREATE INDEX proposals_revert_of ON proposals (revert_of_id) WHERE revert_of_id IS NOT NULL;

CREATE OR REPLACE VIEW proposals_read WITH (security_invoker = true) AS
SELECT
    p.id, p.workspace_id, p.number,
    (CASE
        WHEN p.status NOT IN ('pending', 'awaiting_approval') THEN p.status
        WHEN p.expires_at <= clock_timestamp() THEN 'expired'
        WHEN p.turn_id IS NOT NULL AND EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) THEN 'withdrawn'
        ELSE p.status END)::proposal_status AS status,
    p.tool, p.entity, p.module, p.operation, p.action_kind, p.headline, p.assistant_note, p.fingerprint,
    p.acting_user_id, p.token_id, p.channel, p.client_name, p.conversation_id, p.turn_id,
    greatest(p.approvals_needed, p.approvals_raised)::integer AS approvals_needed, (p.requires_approval OR p.approvals_raised > 0)::boolean AS requires_approval, p.preview_only, p.lifetime, p.created_at, p.expires_at, p.extended_at,
    (CASE WHEN p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= clock_timestamp() THEN p.expires_at ELSE p.resolved_at END)::timestamptz AS resolved_at,
    p.outcome_record_id, p.outcome_record, p.outcome_affected,
    p.failure_code, p.failure_message, p.failure_field, p.superseded_by_id, p.revert_of_id,
    p.approver_role, p.approval_lifetime, p.shared, p.record_count, p.matched, p.changes, p.rehearsal, p.warnings, p.intent, p.revision_of_id, p.failed_positions, p.conflicts, p.outcome_keys
FROM proposals p;

-- What can be decided, as proposals_read has it, with the stored columns that partial indexes go by. A CASE and a
-- count, for the turn to be looked up row by row: PostgreSQL would join or hash an EXISTS.
CREATE VIEW proposals_open WITH (security_invoker = true) AS
SELECT p.id, p.workspace_id, p.number, p.status, p.acting_user_id, p.entity, p.action_kind, p.shared, p.approver_role
FROM proposals p
WHERE CASE WHEN p.expires_at <= clock_timestamp() THEN false WHEN p.turn_id IS NULL THEN true ELSE (SELECT count(*) FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) = 0 END;
GRANT SELECT ON proposals_open TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION proposals_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
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
        IF OLD.resolved_at IS NOT NULL AND (NEW.resolved_at, NEW.outcome_record_id, NEW.outcome_record, NEW.outcome_affected, NEW.failure_code, NEW.failure_message, NEW.failure_field, NEW.expires_at, NEW.extended_at, NEW.failed_positions, NEW.outcome_keys, NEW.approvals_raised)
           IS DISTINCT FROM (OLD.resolved_at, OLD.outcome_record_id, OLD.outcome_record, OLD.outcome_affected, OLD.failure_code, OLD.failure_message, OLD.failure_field, OLD.expires_at, OLD.extended_at, OLD.failed_positions, OLD.outcome_keys, OLD.approvals_raised) THEN
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

-- +goose StatementBegin
-- targets are the values that changes lead to, by field; of one decimal however many zeros it is written with.
CREATE FUNCTION targets(changes jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(c ->> 'field', coalesce(
        CASE WHEN c ->> 'type' = 'DECIMAL' AND c -> 'to' ->> 'json' ~ '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$'
             THEN to_jsonb(trim_scale((c -> 'to' ->> 'json')::numeric)) ELSE c -> 'to' -> 'json' END, 'null'::jsonb)), '{}'::jsonb)
    FROM jsonb_array_elements(changes) AS c
$$;
-- +goose StatementEnd

DROP FUNCTION propose;
-- +goose StatementBegin
-- propose stores a card: the proposal, its records, its event and its audit entry. It is refused with
-- CS001 where its tool call or its turn has ended, CS003 where the acting user may not propose (any more),
-- by this credential or in this conversation, or where a record is not of the kind that the proposal is of, CS004 where there are not as many who could approve as have
-- to, CS005 where a person has rejected the same values for one of the records within the window given, and
-- CS006 where the same intent is open already.
CREATE FUNCTION propose(
    new_id uuid, with_tool text, on_entity text, does write_operation, kind text, with_headline text, note text,
    card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through channel, client text,
    in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers role, approval_lives interval, preview boolean, shares boolean, lives interval,
    once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval,
    revises uuid, reverts uuid, records jsonb)
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
                     AND p.status IN ('pending', 'awaiting_approval') AND o.workspace_id = workspace AND o.id IS DISTINCT FROM revises) THEN
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
    INSERT INTO proposals (id, workspace_id, tool, entity, operation, action_kind, headline, assistant_note, fingerprint, salt, acting_user_id, token_id,
        channel, client_name, conversation_id, turn_id, tool_call_id, approvals_needed, preview_only, lifetime, created_at, expires_at, idempotency_key, request_hash,
        approver_role, approval_lifetime, shared, record_count, matched, changes, rehearsal, warnings, conflicts, intent, revision_of_id, revert_of_id)
    VALUES (new_id, workspace, with_tool, on_entity, does, kind, with_headline, note, card_fingerprint, card_salt, actor, by_token,
        through, client, in_conversation, in_turn, in_call, approvals, preview, lives, made, made + lives, once_key, once_hash,
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
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, token_id, conversation_id, proposal_id, tool, entity, operation, fingerprint)
    VALUES (gen_random_uuid(), workspace, made, 'propose', 'pending', actor, by_sign_in, by_token, in_conversation, new_id, with_tool, on_entity, does::text, card_fingerprint);
    RETURN given;
END $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION propose, targets FROM PUBLIC;
GRANT EXECUTE ON FUNCTION targets TO countersign_definer;
GRANT EXECUTE ON FUNCTION propose TO countersign_agent, countersign_gate;
SET LOCAL ROLE countersign_definer;
GRANT EXECUTE ON FUNCTION record_tool_call, finish_tool_call TO countersign_gate;
RESET ROLE;
GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to become the owner below, no longer
ALTER FUNCTION propose OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;
GRANT UPDATE (superseded_by_id, failed_positions, outcome_keys, approvals_raised) ON proposals TO countersign_gate;

-- +goose Down
DROP FUNCTION propose;
DROP FUNCTION targets;
-- +goose StatementBegin
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
REVOKE ALL ON FUNCTION propose FROM PUBLIC;
GRANT EXECUTE ON FUNCTION propose TO countersign_agent;
SET LOCAL ROLE countersign_definer;
REVOKE EXECUTE ON FUNCTION record_tool_call, finish_tool_call FROM countersign_gate;
RESET ROLE;
GRANT CREATE ON SCHEMA countersign TO countersign_definer;
ALTER FUNCTION propose OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION proposals_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
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

DROP VIEW proposals_open, proposals_read;
ALTER TABLE proposals DROP CONSTRAINT proposals_approval, ADD CONSTRAINT proposals_approval CHECK (status NOT IN ('awaiting_approval', 'disapproved') OR approvals_needed > 0) NOT VALID;
ALTER TABLE proposals DROP CONSTRAINT proposals_failed_positions, DROP COLUMN approver_role, DROP COLUMN approval_lifetime, DROP COLUMN shared, DROP COLUMN record_count,
    DROP COLUMN matched, DROP COLUMN changes, DROP COLUMN rehearsal, DROP COLUMN warnings, DROP COLUMN intent, DROP COLUMN revision_of_id, DROP COLUMN failed_positions, DROP COLUMN approvals_raised, DROP COLUMN conflicts, DROP COLUMN outcome_keys;
DROP INDEX proposals_rejected, proposals_superseded_by, proposals_revert_of;
CREATE VIEW proposals_read WITH (security_invoker = true) AS
SELECT
    p.id, p.workspace_id, p.number,
    (CASE
        WHEN p.status NOT IN ('pending', 'awaiting_approval') THEN p.status
        WHEN p.expires_at <= clock_timestamp() THEN 'expired'
        WHEN p.turn_id IS NOT NULL AND EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) THEN 'withdrawn'
        ELSE p.status END)::proposal_status AS status,
    p.tool, p.entity, p.module, p.operation, p.action_kind, p.headline, p.assistant_note, p.fingerprint,
    p.acting_user_id, p.token_id, p.channel, p.client_name, p.conversation_id, p.turn_id,
    p.approvals_needed, p.requires_approval, p.preview_only, p.lifetime, p.created_at, p.expires_at, p.extended_at,
    (CASE WHEN p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= clock_timestamp() THEN p.expires_at ELSE p.resolved_at END)::timestamptz AS resolved_at,
    p.outcome_record_id, p.outcome_record, p.outcome_affected,
    p.failure_code, p.failure_message, p.failure_field, p.superseded_by_id, p.revert_of_id
FROM proposals p;
GRANT SELECT ON proposals_read TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;
