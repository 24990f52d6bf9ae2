-- name: Propose :exec
SELECT propose(@id, @tool, @entity, @operation, @action_kind, @headline, sqlc.narg(note), @fingerprint, @salt, @acting_user_id, sqlc.narg(sign_in_id), sqlc.narg(token_id), @channel, sqlc.narg(client_name), sqlc.narg(conversation_id), sqlc.narg(turn_id), @tool_call_id, @approvals_needed, @preview_only, @lifetime, sqlc.narg(idempotency_key), sqlc.narg(request_hash), @records)::bigint AS number;

-- name: ProposalByKey :one
-- What an earlier request with this key made, and the hash of what it asked for.
SELECT id, request_hash FROM proposals WHERE workspace_id = @workspace_id AND acting_user_id = @acting_user_id AND idempotency_key = sqlc.arg(idempotency_key)::text;

-- name: WithdrawAsAgent :one
SELECT coalesce(withdraw(@id::uuid, sqlc.narg(token_id)::uuid, sqlc.narg(reason)::text)::text, '')::text AS status;

-- name: GetProposal :one
-- Any proposal of the workspace; VisibleProposal says whether someone may see it.
SELECT * FROM proposals_read WHERE id = @id;

-- name: VisibleProposal :one
SELECT * FROM proposals_read
WHERE id = @id AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval));

-- name: ProposalsByID :many
SELECT * FROM proposals_read WHERE id = ANY(@ids::uuid[]) ORDER BY number;

-- name: ProposalsNewest :many
-- From the newest to older ones, before number @before.
SELECT * FROM proposals_read
WHERE workspace_id = @workspace_id AND number < @before::bigint
  AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND acting_user_id = @viewer AND status = 'pending'))
ORDER BY number DESC LIMIT @max_rows;

-- name: ProposalsNewestBackward :many
-- The same list from the other end: older to newer, from number @before on.
SELECT * FROM proposals_read
WHERE workspace_id = @workspace_id AND number > @before::bigint
  AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND acting_user_id = @viewer AND status = 'pending'))
ORDER BY number LIMIT @max_rows;

-- name: ProposalsExpiringSoonest :many
SELECT * FROM proposals_read
WHERE workspace_id = @workspace_id AND (expires_at, number) > (@after_expiry::timestamptz, @after_number::bigint)
  AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND acting_user_id = @viewer AND status = 'pending'))
ORDER BY expires_at, number LIMIT @max_rows;

-- name: ProposalsExpiringSoonestBackward :many
SELECT * FROM proposals_read
WHERE workspace_id = @workspace_id AND (expires_at, number) < (@after_expiry::timestamptz, @after_number::bigint)
  AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND acting_user_id = @viewer AND status = 'pending'))
ORDER BY expires_at DESC, number DESC LIMIT @max_rows;

-- name: CountActionable :one
-- Capped: 100 means 100 or more.
SELECT count(*)::integer FROM (
    SELECT FROM proposals WHERE workspace_id = @workspace_id AND acting_user_id = @viewer AND status = 'pending' AND expires_at > clock_timestamp() LIMIT 100) AS open;

-- name: RecordsOfProposal :many
SELECT * FROM proposal_records WHERE proposal_id = @proposal_id ORDER BY position;

-- name: RecordsOfProposals :many
SELECT * FROM proposal_records WHERE proposal_id = ANY(@proposals::uuid[]) ORDER BY proposal_id, position;

-- name: DecisionsOfProposals :many
SELECT * FROM proposal_decisions WHERE proposal_id = ANY(@proposals::uuid[]) ORDER BY proposal_id, id;

-- name: OtherOpenProposals :many
-- A few other open proposals on a record of these. BETWEEN says the same as =, and keeps the plan on the
-- records' index also where most open proposals are on one record.
SELECT DISTINCT mine.proposal_id, few.number
FROM proposal_records mine
CROSS JOIN LATERAL (
    SELECT other.number
    FROM proposal_records theirs
    JOIN proposals other ON other.id = theirs.proposal_id
    WHERE theirs.workspace_id = mine.workspace_id AND theirs.entity = mine.entity AND theirs.key BETWEEN mine.key AND mine.key
      AND theirs.proposal_id <> mine.proposal_id
      AND other.status IN ('pending', 'awaiting_approval') AND other.expires_at > clock_timestamp()
    LIMIT 10) AS few
WHERE mine.proposal_id = ANY(@proposals::uuid[])
ORDER BY mine.proposal_id, few.number;
