-- name: BeginDecision :exec
-- The workspace, and the longest that one statement of a decision waits and runs.
SELECT set_config('countersign.workspace', sqlc.arg(workspace)::text, true),
    set_config('lock_timeout', sqlc.arg(lock_timeout)::text, true),
    set_config('statement_timeout', sqlc.arg(statement_timeout)::text, true);

-- name: LockProposal :exec
-- A statement of its own: what it read along would be from before it waited.
SELECT FROM proposals WHERE id = @id FOR UPDATE;

-- name: LockPolicies :exec
-- A statement of its own, for the same reason: a policy that is being saved is waited for, and then holds.
SELECT FROM policies WHERE workspace_id = @workspace_id FOR SHARE;

-- name: Facts :one
-- What a decision goes by, held still until it commits: the locked proposal, the database's clock, whether
-- the sign-in lives, the role of its membership ('' where that is gone), whether the turn that proposed stands,
-- what its records do, each as entity and operation, and the policies that may bear on it.
SELECT sqlc.embed(p), clock_timestamp()::timestamptz AS now,
    EXISTS (SELECT FROM sign_ins s WHERE s.id = @sign_in_id AND s.user_id = @user_id AND s.workspace_id = @workspace_id
            AND s.ended_at IS NULL AND s.expires_at > clock_timestamp() FOR SHARE) AS signed_in,
    EXISTS (SELECT FROM users u WHERE u.id = @user_id AND u.disabled_at IS NULL) AS enabled,
    coalesce((SELECT m.role::text FROM memberships m WHERE m.user_id = @user_id AND m.workspace_id = @workspace_id FOR SHARE), '')::text AS role,
    coalesce((SELECT t.status = 'complete' OR (t.status = 'running' AND t.lease_until > clock_timestamp()) FROM turns t WHERE t.id = p.turn_id), true)::boolean AS turn_holds,
    coalesce((SELECT array_agg(DISTINCT r.entity || ' ' || r.operation) FROM proposal_records r WHERE r.proposal_id = p.id), '{}')::text[] AS written,
    (SELECT w.policy_version FROM workspaces w WHERE w.id = @workspace_id)::bigint AS policy_version,
    coalesce((SELECT jsonb_agg(to_jsonb(held)) FROM (
        SELECT o.entity, o.operation, o.tool, o.switched_off, o.preview_only, o.approvals, o.approver, o.fields, o.bulk_cap, extract(epoch FROM o.lifetime)::float8 AS lifetime, o.roles
        FROM policies o WHERE o.workspace_id = @workspace_id
            AND (o.tool IS NOT NULL OR o.entity = p.entity OR o.entity IN (SELECT r.entity FROM proposal_records r WHERE r.proposal_id = p.id))) AS held), '[]')::jsonb AS policies
FROM proposals p WHERE p.id = @proposal_id;

-- name: DecisionsBefore :many
-- What was decided on the locked proposal, with who did and what that person is in the workspace now, held
-- still until this decision commits: '' where they are no member or disabled.
SELECT sqlc.embed(d), coalesce(u.name, '')::text AS person,
    coalesce((SELECT m.role::text FROM memberships m WHERE m.user_id = d.person_id AND m.workspace_id = d.workspace_id AND u.disabled_at IS NULL FOR SHARE), '')::text AS role
FROM proposal_decisions d
LEFT JOIN users u ON u.id = d.person_id
WHERE d.proposal_id = @proposal_id ORDER BY d.id;

-- name: OtherApprovers :one
-- How many people of a role there are beside two.
SELECT count(*)::integer FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.workspace_id = @workspace_id AND m.role = @role AND u.disabled_at IS NULL AND m.user_id NOT IN (@acting_user_id, @person_id);

-- name: InsertDecision :exec
INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, fingerprint, reason, at)
VALUES (@proposal_id, @workspace_id, @kind, @final, @person_id, @sign_in_id, sqlc.narg(fingerprint), sqlc.narg(reason), @at);

-- name: MoveProposal :exec
-- The one way a status changes: from the one that was locked, with its event, its audit entry and its
-- tool-call row. It fails, dividing by nothing, where no proposal moved: so the commit can be sent along.
WITH moved AS (
    UPDATE proposals p SET status = @status, resolved_at = @resolved_at,
        outcome_record_id = sqlc.narg(outcome_record_id), outcome_record = sqlc.narg(outcome_record), outcome_affected = sqlc.narg(outcome_affected),
        failure_code = sqlc.narg(failure_code), failure_message = sqlc.narg(failure_message), failure_field = sqlc.narg(failure_field),
        failed_positions = sqlc.narg(failed_positions), outcome_keys = sqlc.narg(outcome_keys), superseded_by_id = sqlc.narg(superseded_by), expires_at = coalesce(sqlc.narg(expires_at), p.expires_at),
        approvals_raised = coalesce(sqlc.narg(approvals_raised)::integer, p.approvals_raised), approver_raised = coalesce(sqlc.narg(approver_raised)::text, p.approver_raised)
    WHERE p.id = @id AND p.status = @locked_status
    RETURNING p.*
), event AS (
    INSERT INTO events (id, workspace_id, proposal_id, type, status, actor_id, at)
    SELECT @event_id, moved.workspace_id, moved.id, @event_type, moved.status, @person_id, @at FROM moved
), audit AS (
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, address, conversation_id, proposal_id, tool, entity, operation, fingerprint, policy_version)
    SELECT @audit_id, moved.workspace_id, @at, sqlc.arg(verb)::text, moved.status::text, @person_id, @sign_in_id, sqlc.arg(address)::text, moved.conversation_id, moved.id, moved.tool, moved.entity, moved.operation::text, moved.fingerprint, sqlc.arg(policy_version)::bigint FROM moved
), call AS (
    INSERT INTO tool_calls (id, workspace_id, user_id, sign_in_id, conversation_id, turn_id, proposal_id, tool, entity, status, code, started_at, finished_at)
    SELECT @tool_call_id, moved.workspace_id, @person_id, @sign_in_id, moved.conversation_id, moved.turn_id, moved.id, sqlc.arg(verb)::text, moved.entity,
        (CASE WHEN moved.status = 'failed' THEN 'failed' ELSE 'succeeded' END)::tool_call_status, moved.failure_code::text, @at, clock_timestamp() FROM moved
)
SELECT 1 / count(*) FROM moved;

-- name: ExtendProposal :exec
-- More time, once, with its event and its audit entry. Where none is extended it fails, as MoveProposal does.
WITH extended AS (
    UPDATE proposals p SET expires_at = sqlc.arg(at)::timestamptz + p.lifetime, extended_at = @at
    WHERE p.id = @id AND p.status = 'pending' AND p.extended_at IS NULL AND p.expires_at > @at
    RETURNING p.*
), event AS (
    INSERT INTO events (id, workspace_id, proposal_id, type, status, actor_id, at)
    SELECT @event_id, extended.workspace_id, extended.id, 'extended', extended.status, @person_id, @at FROM extended
), audit AS (
    INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, address, conversation_id, proposal_id, tool, entity, operation, fingerprint, policy_version)
    SELECT @audit_id, extended.workspace_id, @at, 'extend', extended.status::text, @person_id, @sign_in_id, sqlc.arg(address)::text, extended.conversation_id, extended.id, extended.tool, extended.entity, extended.operation::text, extended.fingerprint, sqlc.arg(policy_version)::bigint FROM extended
), call AS (
    INSERT INTO tool_calls (id, workspace_id, user_id, sign_in_id, conversation_id, turn_id, proposal_id, tool, entity, status, started_at, finished_at)
    SELECT @tool_call_id, extended.workspace_id, @person_id, @sign_in_id, extended.conversation_id, extended.turn_id, extended.id, 'extend', extended.entity, 'succeeded', @at, clock_timestamp() FROM extended
)
SELECT 1 / count(*) FROM extended;

-- name: Lapsed :many
-- What has expired and is not stored as such, in any workspace.
SELECT id, workspace_id FROM proposals
WHERE status IN ('pending', 'awaiting_approval') AND expires_at <= clock_timestamp() ORDER BY expires_at LIMIT @max_rows;

-- name: LockLapsed :one
-- Not what a decision holds: whoever holds it will see the time for themselves.
SELECT * FROM proposals
WHERE id = @id AND status IN ('pending', 'awaiting_approval') AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED;

-- name: RecordExpiry :exec
WITH decided AS (
    INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, fingerprint, at)
    VALUES (@id, @workspace_id, 'expire', true, @fingerprint, @at)
), event AS (
    INSERT INTO events (id, workspace_id, proposal_id, type, status, at)
    VALUES (@event_id, @workspace_id, @id, 'expired', 'expired', @at)
)
INSERT INTO audit_events (id, workspace_id, at, verb, outcome, proposal_id, tool, entity, operation, fingerprint)
VALUES (@audit_id, @workspace_id, @at, 'expire', 'expired', @id, @tool, @entity, @operation, @fingerprint);

-- name: SetExpired :execrows
UPDATE proposals SET status = 'expired', resolved_at = expires_at WHERE id = @id AND status = @locked_status;

-- name: NextExpiry :one
-- Seconds until the next open proposal expires; -1 where none is open.
SELECT coalesce(greatest(extract(epoch FROM min(expires_at) - clock_timestamp()), 0), -1)::double precision AS seconds
FROM proposals WHERE status IN ('pending', 'awaiting_approval');
