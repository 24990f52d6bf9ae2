-- name: LockProposal :one
-- A statement of its own: a precondition in it would not be evaluated again after it had waited.
SELECT * FROM proposals WHERE id = @id FOR UPDATE;

-- name: Rights :one
-- What the deciding transaction goes by, held still until it commits: the database's clock, whether the
-- sign-in lives, and the role of its membership (null where that is gone).
SELECT clock_timestamp()::timestamptz AS now,
    EXISTS (SELECT FROM sign_ins s WHERE s.id = @sign_in_id AND s.user_id = @user_id AND s.workspace_id = @workspace_id
            AND s.ended_at IS NULL AND s.expires_at > clock_timestamp() FOR SHARE) AS signed_in,
    EXISTS (SELECT FROM users u WHERE u.id = @user_id AND u.disabled_at IS NULL) AS enabled,
    coalesce((SELECT m.role::text FROM memberships m WHERE m.user_id = @user_id AND m.workspace_id = @workspace_id FOR SHARE), '')::text AS role;

-- name: TurnHolds :one
-- False where the turn that proposed it was cut short, failed, or lost its lease.
SELECT (t.status = 'complete' OR (t.status = 'running' AND t.lease_until > clock_timestamp()))::boolean AS holds FROM turns t WHERE t.id = @id;

-- name: InsertDecision :exec
INSERT INTO proposal_decisions (proposal_id, workspace_id, kind, final, person_id, sign_in_id, token_id, fingerprint, reason, at)
VALUES (@proposal_id, @workspace_id, @kind, @final, sqlc.narg(person_id), sqlc.narg(sign_in_id), sqlc.narg(token_id), sqlc.narg(fingerprint), sqlc.narg(reason), @at);

-- name: MoveProposal :execrows
-- The one way a status changes: from the one that was locked.
UPDATE proposals SET status = @status, resolved_at = @resolved_at,
    outcome_record_id = sqlc.narg(outcome_record_id), outcome_record = sqlc.narg(outcome_record), outcome_affected = sqlc.narg(outcome_affected),
    failure_code = sqlc.narg(failure_code), failure_message = sqlc.narg(failure_message), failure_field = sqlc.narg(failure_field)
WHERE id = @id AND status = @locked_status;

-- name: ExtendProposal :execrows
UPDATE proposals SET expires_at = sqlc.arg(now)::timestamptz + lifetime, extended_at = @now::timestamptz
WHERE id = @id AND status = 'pending' AND extended_at IS NULL AND expires_at > sqlc.arg(now)::timestamptz;

-- name: ExpireProposal :execrows
UPDATE proposals SET status = 'expired', resolved_at = expires_at
WHERE id = @id AND status = @locked_status AND expires_at <= clock_timestamp();

-- name: Lapsed :many
-- What has expired and is not stored as such, in any workspace.
SELECT id, workspace_id FROM proposals
WHERE status IN ('pending', 'awaiting_approval') AND expires_at <= clock_timestamp() ORDER BY expires_at LIMIT @max_rows;

-- name: NextExpiry :one
-- Seconds until the next open proposal expires; -1 where none is open.
SELECT coalesce(greatest(extract(epoch FROM min(expires_at) - clock_timestamp()), 0), -1)::double precision AS seconds
FROM proposals WHERE status IN ('pending', 'awaiting_approval');

-- name: InsertEvent :exec
INSERT INTO events (id, workspace_id, proposal_id, type, status, actor_id, at)
VALUES (@id, @workspace_id, @proposal_id, @type, @status, sqlc.narg(actor_id), @at);

-- name: InsertAudit :exec
INSERT INTO audit_events (id, workspace_id, at, verb, outcome, actor_id, sign_in_id, address, conversation_id, proposal_id, tool, entity, operation, fingerprint)
VALUES (@id, @workspace_id, @at, @verb, @outcome, sqlc.narg(actor_id), sqlc.narg(sign_in_id), sqlc.narg(address), sqlc.narg(conversation_id), @proposal_id, @tool, @entity, @operation, @fingerprint);

-- name: InsertDecisionCall :exec
-- The tool-call row of a decision.
INSERT INTO tool_calls (id, workspace_id, user_id, sign_in_id, conversation_id, turn_id, proposal_id, tool, entity, status, code, started_at, finished_at)
VALUES (@id, @workspace_id, @user_id, @sign_in_id, sqlc.narg(conversation_id), sqlc.narg(turn_id), @proposal_id, @tool, @entity, @status, sqlc.narg(code), @started_at, clock_timestamp());
