-- Guards: keys of requests that were answered with what was open already, whose approval counts where the
-- configuration came to ask for more, policies that narrow what countersign.yaml offers, and budgets.

-- +goose Up

-- What a request with a key was answered with: the proposal it made, or the one that was open already.
CREATE TABLE idempotency_keys (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    user_id      uuid NOT NULL REFERENCES users (id),
    key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
    request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
    proposal_id  uuid NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace_id, user_id, key)
);
CREATE INDEX idempotency_keys_of_proposal ON idempotency_keys (proposal_id);
ALTER TABLE proposals NO FORCE ROW LEVEL SECURITY; -- to be read here, by its owner
INSERT INTO idempotency_keys (workspace_id, user_id, key, request_hash, proposal_id)
SELECT workspace_id, acting_user_id, idempotency_key, request_hash, id FROM proposals WHERE idempotency_key IS NOT NULL;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;

-- approver_raised: of whom the configuration asked for approval when it was confirmed, where that was a higher role
-- than the card says.
ALTER TABLE proposals DROP COLUMN idempotency_key, DROP COLUMN request_hash,
    ADD COLUMN approver_raised text CHECK (approver_raised IN ('member', 'approver', 'operator'));
DROP INDEX proposals_awaiting;
CREATE INDEX proposals_awaiting ON proposals (workspace_id, (coalesce(approver_raised, approver_role)), number DESC) WHERE status = 'awaiting_approval';
CREATE INDEX proposals_of_call ON proposals (tool_call_id) WHERE tool_call_id IS NOT NULL;
CREATE INDEX tool_calls_of_proposal ON tool_calls (proposal_id) WHERE proposal_id IS NOT NULL;
CREATE INDEX tool_calls_of_turn ON tool_calls (turn_id) WHERE turn_id IS NOT NULL;
GRANT UPDATE (approver_raised) ON proposals TO countersign_gate;
GRANT UPDATE (turn_id, tool_call_id) ON proposals TO countersign_definer;

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
    coalesce(p.approver_raised, p.approver_role) AS approver_role, p.approval_lifetime, p.shared, p.record_count, p.matched, p.changes, p.rehearsal, p.warnings, p.intent, p.revision_of_id, p.failed_positions, p.conflicts, p.outcome_keys
FROM proposals p;

CREATE OR REPLACE VIEW proposals_open WITH (security_invoker = true) AS
SELECT p.id, p.workspace_id, p.number, p.status, p.acting_user_id, p.entity, p.action_kind, p.shared, coalesce(p.approver_raised, p.approver_role) AS approver_role
FROM proposals p
WHERE CASE WHEN p.expires_at <= clock_timestamp() THEN false WHEN p.turn_id IS NULL THEN true ELSE (SELECT count(*) FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) = 0 END;

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
-- +goose StatementEnd

-- What belongs to a proposal is of its workspace: row-level security looks at the one, the key at both.
ALTER TABLE proposals ADD CONSTRAINT proposals_in_workspace UNIQUE (id, workspace_id);
ALTER TABLE proposal_records DROP CONSTRAINT proposal_records_proposal_id_fkey,
    ADD CONSTRAINT proposal_records_of_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES proposals (id, workspace_id) ON DELETE CASCADE;
ALTER TABLE proposal_decisions DROP CONSTRAINT proposal_decisions_proposal_id_fkey,
    ADD CONSTRAINT decisions_of_their_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES proposals (id, workspace_id) ON DELETE CASCADE;
ALTER TABLE events DROP CONSTRAINT events_proposal_id_fkey,
    ADD CONSTRAINT events_of_their_proposal FOREIGN KEY (proposal_id, workspace_id) REFERENCES proposals (id, workspace_id) ON DELETE CASCADE;

-- A policy narrows, in one workspace, what countersign.yaml offers of an entity, of one of its operations, or of a
-- tool; what would widen it has no effect. fields are those that may still be proposed, roles those who may still
-- use it. share_lock has no meaning: to hold a row still one has to have the right to update something of it.
CREATE TABLE policies (
    id            uuid PRIMARY KEY,
    workspace_id  uuid NOT NULL REFERENCES workspaces (id),
    entity        text CHECK (entity ~ '^[^.]+\.[^.]+$'),
    operation     text CHECK (operation IN ('list', 'get', 'create', 'update', 'delete', 'bulk_update')),
    tool          text CHECK (length(tool) BETWEEN 1 AND 64),
    switched_off  boolean NOT NULL DEFAULT false,
    preview_only  boolean NOT NULL DEFAULT false,
    approvals     integer CHECK (approvals BETWEEN 1 AND 20),
    approver      text CHECK (approver IN ('member', 'approver', 'operator')),
    fields        text[],
    bulk_cap      integer CHECK (bulk_cap BETWEEN 1 AND 10000),
    lifetime      interval CHECK (lifetime BETWEEN interval '1 second' AND interval '30 days'),
    roles         text[] CHECK (roles <@ ARRAY['member', 'approver', 'operator', 'auditor']),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    share_lock    boolean NOT NULL DEFAULT false,
    CONSTRAINT policies_subject CHECK (num_nonnulls(entity, tool) = 1 AND (operation IS NULL OR entity IS NOT NULL)),
    CONSTRAINT policies_approver CHECK (approver IS NULL OR approvals IS NOT NULL),
    CONSTRAINT policies_one UNIQUE NULLS NOT DISTINCT (workspace_id, entity, operation, tool)
);

-- policy_version counts the changes of a workspace's policies; an audit entry says which one held.
ALTER TABLE workspaces ADD COLUMN policy_version bigint NOT NULL DEFAULT 0;
ALTER TABLE audit_events ADD COLUMN policy_version bigint;

-- +goose StatementBegin
CREATE FUNCTION count_policy_change() RETURNS trigger LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
BEGIN
    UPDATE workspaces SET policy_version = policy_version + 1 WHERE id = coalesce(NEW.workspace_id, OLD.workspace_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER policies_count AFTER INSERT OR UPDATE OR DELETE ON policies FOR EACH ROW EXECUTE FUNCTION count_policy_change();

-- A budget bounds what is used in a day or a month (of UTC) by a workspace, or by each user or token of it, or by
-- the one that is named. Past the hard limit a call is refused, past the soft one it is told of.
-- Measures are of the type text, since under row-level security an index is not searched by an enum.
CREATE TABLE budgets (
    id           uuid PRIMARY KEY,
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    subject      text NOT NULL CHECK (subject IN ('workspace', 'user', 'token')),
    user_id      uuid REFERENCES users (id),
    token_id     uuid REFERENCES api_tokens (id),
    measure      text NOT NULL CHECK (measure IN ('tool_calls', 'proposals', 'model_tokens')),
    period       text NOT NULL CHECK (period IN ('day', 'month')),
    hard_limit   bigint CHECK (hard_limit >= 0),
    soft_limit   bigint CHECK (soft_limit >= 0),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT budgets_limit CHECK (num_nonnulls(hard_limit, soft_limit) > 0 AND (soft_limit <= hard_limit) IS NOT FALSE),
    CONSTRAINT budgets_subject CHECK ((subject = 'user' OR user_id IS NULL) AND (subject = 'token' OR token_id IS NULL)),
    CONSTRAINT budgets_one UNIQUE NULLS NOT DISTINCT (workspace_id, subject, user_id, token_id, measure, period)
);

-- What was used: rows are added, summed, and in time removed.
CREATE TABLE usage (
    workspace_id uuid NOT NULL,
    user_id      uuid NOT NULL,
    token_id     uuid,
    measure      text NOT NULL CHECK (measure IN ('tool_calls', 'proposals', 'model_tokens')),
    amount       bigint NOT NULL CHECK (amount > 0),
    at           timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02); -- a sum reads the index alone where its pages are known to be visible
CREATE INDEX usage_of_workspace ON usage (workspace_id, measure, at) INCLUDE (amount);
CREATE INDEX usage_of_user ON usage (workspace_id, user_id, measure, at) INCLUDE (amount);
CREATE INDEX usage_of_token ON usage (workspace_id, token_id, measure, at) INCLUDE (amount) WHERE token_id IS NOT NULL;

-- +goose StatementBegin
-- budget_used is what counts against a budget in the period there is now: one aggregate, over the index alone.
CREATE FUNCTION budget_used(b budgets, actor uuid, by_token uuid)
RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = countersign, pg_catalog, pg_temp AS $$
DECLARE began timestamptz := date_trunc(b.period, clock_timestamp(), 'UTC');
BEGIN
    RETURN CASE b.subject
        WHEN 'workspace' THEN (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.measure = b.measure AND u.at >= began)
        WHEN 'user' THEN (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.user_id = actor AND u.measure = b.measure AND u.at >= began)
        ELSE (SELECT coalesce(sum(u.amount), 0) FROM usage u WHERE u.workspace_id = b.workspace_id AND u.token_id = by_token AND u.measure = b.measure AND u.at >= began) END;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- spent says which budget has not so much left, and when it begins anew; NULL: each has.
CREATE FUNCTION spent(b budgets, used bigint, many bigint) RETURNS jsonb LANGUAGE sql STABLE SET search_path = countersign, pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object('spent', b.measure, 'of', b.subject, 'period', b.period, 'limit', b.hard_limit,
        'resets', (date_trunc(b.period, clock_timestamp() AT TIME ZONE 'UTC') + ('1 ' || b.period)::interval) AT TIME ZONE 'UTC')
    WHERE used + many > b.hard_limit
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- spend takes an amount from every budget it counts against, one after the other, so that two calls at the edge of
-- one do not both pass: each waits until the other has committed. It takes nothing where one of them is spent, and
-- says which; else it names those past their soft limit, or is NULL.
CREATE FUNCTION spend(what text, many bigint, actor uuid, by_token uuid)
RETURNS jsonb LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
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
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['idempotency_keys', 'policies', 'budgets', 'usage'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format($p$CREATE POLICY in_workspace ON %I USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid)$p$, name);
        EXECUTE format('GRANT SELECT ON %I TO countersign_gate, countersign_agent, countersign_reader, countersign_definer', name);
    END LOOP;
END $$;
-- +goose StatementEnd
GRANT UPDATE (share_lock) ON policies TO countersign_gate;
GRANT INSERT ON usage TO countersign_agent, countersign_definer;
GRANT INSERT, DELETE ON idempotency_keys TO countersign_definer;

SET LOCAL ROLE countersign_definer;
DROP FUNCTION propose, record_tool_call, finish_tool_call;
RESET ROLE;
-- +goose StatementBegin
-- propose stores a card: the proposal, its records, its event and its audit entry. It is refused with
-- CS001 where its tool call or its turn has ended, CS003 where the acting user may not propose (any more),
-- by this credential or in this conversation, or where a record is not of the kind that the proposal is of, CS004 where there are not as many who could approve as have
-- to, CS005 where a person has rejected the same values for one of the records within the window given, and
-- CS006 where the same intent is open already, but for besides, those whose records were found to have changed since, and CS007 where a budget
-- is spent: the DETAIL says which, as JSON.
CREATE FUNCTION propose(
    new_id uuid, with_tool text, on_entity text, does write_operation, kind text, with_headline text, note text,
    card_fingerprint text, card_salt bytea, actor uuid, by_sign_in uuid, by_token uuid, through channel, client text,
    in_conversation uuid, in_turn uuid, in_call uuid, approvals integer, approvers role, approval_lives interval, preview boolean, shares boolean, lives interval,
    once_key text, once_hash bytea, with_matched jsonb, with_changes jsonb, rehearsed jsonb, warns jsonb, with_conflicts jsonb, with_intent bytea, rejected_within interval,
    revises uuid, reverts uuid, besides uuid[], most_of_turn integer, under_policies bigint, records jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
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
-- +goose StatementEnd

-- +goose StatementBegin
-- record_tool_call writes the row of a call before the tool runs, and says what is spent: NULL, or, as JSON, the
-- budget that has no call left, after which the call is not made, or those past their soft limit: of calls with this
-- one, of what else is counted before it. What a person does
-- without an assistant does not count. CS003: the
-- credential is not one of this person's here, or not any more, or the person is disabled or no member.
CREATE FUNCTION record_tool_call(call_id uuid, actor uuid, by_sign_in uuid, by_token uuid, in_conversation uuid, in_turn uuid, tool_name text, on_entity text, logged_input jsonb, counts boolean)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
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
-- +goose StatementEnd

-- +goose StatementBegin
-- finish_tool_call says how a call ended; a call ends once, but that one that had succeeded is cut short where its
-- answer did not arrive. What a call proposed that is cut short is withdrawn with it, and its key means nothing any
-- more, unless another call has been answered with it since, whose it then is. A proposal that was open
-- before the call is answered under the call's key from now on, and does not end with the turn it was made in, but
-- with the call's: that one wants it too, and later. False: the call had ended, or is not there.
CREATE FUNCTION finish_tool_call(call_id uuid, ended tool_call_status, with_code text, made_proposal uuid, once_key text, once_hash bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
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
-- +goose StatementEnd

GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to own the functions below, no longer
SET LOCAL ROLE countersign_definer;
-- +goose StatementBegin
-- withdraw takes an open proposal back: by the token that proposed it, or, without a token, by the
-- system where the turn that proposed it was cut short or failed, or the call was cut short. It answers the status there is now.
-- No row, or not theirs: NULL.
CREATE OR REPLACE FUNCTION withdraw(which uuid, by_token uuid, why text)
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
-- +goose StatementEnd

RESET ROLE;
REVOKE ALL ON FUNCTION propose, record_tool_call, finish_tool_call, spend, spent, budget_used, count_policy_change FROM PUBLIC;
GRANT EXECUTE ON FUNCTION spend TO countersign_definer;
GRANT EXECUTE ON FUNCTION spent, budget_used TO countersign_definer, countersign_agent;
GRANT EXECUTE ON FUNCTION record_tool_call, finish_tool_call, propose TO countersign_agent, countersign_gate;
ALTER FUNCTION propose OWNER TO countersign_definer;
ALTER FUNCTION record_tool_call OWNER TO countersign_definer;
ALTER FUNCTION finish_tool_call OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;

-- +goose Down
DROP INDEX proposals_of_call, tool_calls_of_turn, tool_calls_of_proposal;
SET LOCAL ROLE countersign_definer;
DROP FUNCTION propose, record_tool_call, finish_tool_call;
RESET ROLE;
DROP FUNCTION spend, spent, budget_used;
DROP TABLE usage, budgets, policies;
DROP FUNCTION count_policy_change;
ALTER TABLE proposal_records DROP CONSTRAINT proposal_records_of_proposal, ADD CONSTRAINT proposal_records_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES proposals (id) ON DELETE CASCADE;
ALTER TABLE proposal_decisions DROP CONSTRAINT decisions_of_their_proposal, ADD CONSTRAINT proposal_decisions_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES proposals (id) ON DELETE CASCADE;
ALTER TABLE events DROP CONSTRAINT events_of_their_proposal, ADD CONSTRAINT events_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES proposals (id) ON DELETE CASCADE;
ALTER TABLE proposals DROP CONSTRAINT proposals_in_workspace;
ALTER TABLE audit_events DROP COLUMN policy_version;
ALTER TABLE workspaces DROP COLUMN policy_version;
ALTER TABLE proposals ADD COLUMN idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 200), ADD COLUMN request_hash bytea CHECK (length(request_hash) = 32),
    ADD CONSTRAINT proposals_key UNIQUE (workspace_id, acting_user_id, idempotency_key),
    ADD CONSTRAINT proposals_key_hash CHECK ((idempotency_key IS NULL) = (request_hash IS NULL));
ALTER TABLE proposals NO FORCE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys NO FORCE ROW LEVEL SECURITY;
UPDATE proposals p SET idempotency_key = k.key, request_hash = k.request_hash FROM (SELECT DISTINCT ON (proposal_id) * FROM idempotency_keys ORDER BY proposal_id, key) AS k WHERE k.proposal_id = p.id;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
DROP TABLE idempotency_keys;
DROP VIEW proposals_open, proposals_read;
DROP INDEX proposals_awaiting;
ALTER TABLE proposals DROP COLUMN approver_raised;
CREATE INDEX proposals_awaiting ON proposals (workspace_id, approver_role, number DESC) WHERE status = 'awaiting_approval';
REVOKE UPDATE (turn_id, tool_call_id) ON proposals FROM countersign_definer;
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
    greatest(p.approvals_needed, p.approvals_raised)::integer AS approvals_needed, (p.requires_approval OR p.approvals_raised > 0)::boolean AS requires_approval, p.preview_only, p.lifetime, p.created_at, p.expires_at, p.extended_at,
    (CASE WHEN p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= clock_timestamp() THEN p.expires_at ELSE p.resolved_at END)::timestamptz AS resolved_at,
    p.outcome_record_id, p.outcome_record, p.outcome_affected,
    p.failure_code, p.failure_message, p.failure_field, p.superseded_by_id, p.revert_of_id,
    p.approver_role, p.approval_lifetime, p.shared, p.record_count, p.matched, p.changes, p.rehearsal, p.warnings, p.intent, p.revision_of_id, p.failed_positions, p.conflicts, p.outcome_keys
FROM proposals p;
CREATE VIEW proposals_open WITH (security_invoker = true) AS
SELECT p.id, p.workspace_id, p.number, p.status, p.acting_user_id, p.entity, p.action_kind, p.shared, p.approver_role
FROM proposals p
WHERE CASE WHEN p.expires_at <= clock_timestamp() THEN false WHEN p.turn_id IS NULL THEN true ELSE (SELECT count(*) FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) = 0 END;

GRANT SELECT ON proposals_read, proposals_open TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;
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

GRANT CREATE ON SCHEMA countersign TO countersign_definer;
SET LOCAL ROLE countersign_definer;
-- +goose StatementBegin
-- withdraw takes an open proposal back: by the token that proposed it, or, without a token, by the
-- system where the turn that proposed it was cut short or failed. It answers the status there is now.
-- No row, or not theirs: NULL.
CREATE OR REPLACE FUNCTION withdraw(which uuid, by_token uuid, why text)
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

RESET ROLE;
REVOKE ALL ON FUNCTION propose, record_tool_call, finish_tool_call FROM PUBLIC;
GRANT EXECUTE ON FUNCTION propose, record_tool_call, finish_tool_call TO countersign_agent, countersign_gate;
ALTER FUNCTION propose OWNER TO countersign_definer;
ALTER FUNCTION record_tool_call OWNER TO countersign_definer;
ALTER FUNCTION finish_tool_call OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;
