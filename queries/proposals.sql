-- name: Propose :exec
SELECT propose(@id, @tool, @entity, @operation, @action_kind, @headline, sqlc.narg(note), @fingerprint, @salt, @acting_user_id, sqlc.narg(sign_in_id), sqlc.narg(token_id), @channel, sqlc.narg(client_name), sqlc.narg(conversation_id), sqlc.narg(turn_id), @tool_call_id,
    @approvals_needed, @approver_role, @approval_lifetime, @preview_only, @shared, @lifetime, sqlc.narg(idempotency_key), sqlc.narg(request_hash), sqlc.narg(matched), sqlc.narg(changes), sqlc.narg(rehearsal), @warnings, @conflicts, sqlc.narg(intent), sqlc.narg(rejected_within), sqlc.narg(revision_of), sqlc.narg(revert_of), @besides::uuid[], sqlc.narg(most_of_turn), @policy_version, @records)::bigint AS number;

-- name: ProposalByKey :one
-- What an earlier request with this key was answered with, and the hash of what it asked for.
SELECT proposal_id, request_hash FROM idempotency_keys WHERE workspace_id = @workspace_id AND user_id = @user_id AND key = sqlc.arg(key)::text;

-- name: OpenProposalsByIntent :many
SELECT o.id FROM proposals o JOIN proposals_read p ON p.id = o.id
WHERE o.workspace_id = @workspace_id AND o.acting_user_id = @acting_user_id AND o.intent = @intent AND o.status IN ('pending', 'awaiting_approval')
  AND p.status IN ('pending', 'awaiting_approval') ORDER BY o.number DESC;

-- name: AppliedRevert :one
-- The number of the proposal that has undone this one and was not undone itself; 0 where there is none.
SELECT coalesce(max(r.number), 0)::bigint FROM proposals r
WHERE r.revert_of_id = sqlc.arg(of)::uuid AND r.status = 'applied'
  AND NOT EXISTS (SELECT FROM proposals again WHERE again.revert_of_id = r.id AND again.status = 'applied');

-- name: WithdrawAsAgent :one
SELECT coalesce(withdraw(@id::uuid, sqlc.narg(token_id)::uuid, sqlc.narg(reason)::text)::text, '')::text AS status;

-- name: GetProposal :one
-- Any proposal of the workspace; VisibleProposal says whether someone may see it.
SELECT * FROM proposals_read WHERE id = @id;

-- name: VisibleProposal :one
SELECT * FROM proposals_read
WHERE id = @id AND (acting_user_id = @viewer OR @sees_all::boolean OR requires_approval AND approver_role = ANY(@approvals_of::text[]) OR shared AND entity = ANY(@shared_entities::text[]));

-- name: ProposalsByID :many
SELECT * FROM proposals_read WHERE id = ANY(@ids::uuid[]) ORDER BY number;

-- name: ProposalsNewest :many
-- From the newest to older ones, before number @before.
SELECT * FROM proposals_read
WHERE proposals_read.workspace_id = @workspace_id AND number < @before::bigint
  AND (acting_user_id = @viewer OR @sees_all::boolean OR requires_approval AND approver_role = ANY(@approvals_of::text[]) OR shared AND entity = ANY(@shared_entities::text[]))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND CASE status
    WHEN 'pending' THEN acting_user_id = @viewer OR shared AND entity || ' ' || action_kind = ANY(@confirms::text[])
    WHEN 'awaiting_approval' THEN acting_user_id <> @viewer AND approver_role = @approves_as
        AND NOT EXISTS (SELECT FROM proposal_decisions d WHERE d.proposal_id = proposals_read.id AND d.person_id = @viewer)
    ELSE false END))
ORDER BY number DESC LIMIT @max_rows;

-- name: ProposalsNewestBackward :many
-- The same list from the other end: older to newer, from number @before on.
SELECT * FROM proposals_read
WHERE proposals_read.workspace_id = @workspace_id AND number > @before::bigint
  AND (acting_user_id = @viewer OR @sees_all::boolean OR requires_approval AND approver_role = ANY(@approvals_of::text[]) OR shared AND entity = ANY(@shared_entities::text[]))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND CASE status
    WHEN 'pending' THEN acting_user_id = @viewer OR shared AND entity || ' ' || action_kind = ANY(@confirms::text[])
    WHEN 'awaiting_approval' THEN acting_user_id <> @viewer AND approver_role = @approves_as
        AND NOT EXISTS (SELECT FROM proposal_decisions d WHERE d.proposal_id = proposals_read.id AND d.person_id = @viewer)
    ELSE false END))
ORDER BY number LIMIT @max_rows;

-- name: ProposalsExpiringSoonest :many
SELECT * FROM proposals_read
WHERE proposals_read.workspace_id = @workspace_id AND (expires_at, number) > (@after_expiry::timestamptz, @after_number::bigint)
  AND (acting_user_id = @viewer OR @sees_all::boolean OR requires_approval AND approver_role = ANY(@approvals_of::text[]) OR shared AND entity = ANY(@shared_entities::text[]))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND CASE status
    WHEN 'pending' THEN acting_user_id = @viewer OR shared AND entity || ' ' || action_kind = ANY(@confirms::text[])
    WHEN 'awaiting_approval' THEN acting_user_id <> @viewer AND approver_role = @approves_as
        AND NOT EXISTS (SELECT FROM proposal_decisions d WHERE d.proposal_id = proposals_read.id AND d.person_id = @viewer)
    ELSE false END))
ORDER BY expires_at, number LIMIT @max_rows;

-- name: ProposalsExpiringSoonestBackward :many
SELECT * FROM proposals_read
WHERE proposals_read.workspace_id = @workspace_id AND (expires_at, number) < (@after_expiry::timestamptz, @after_number::bigint)
  AND (acting_user_id = @viewer OR @sees_all::boolean OR requires_approval AND approver_role = ANY(@approvals_of::text[]) OR shared AND entity = ANY(@shared_entities::text[]))
  AND (sqlc.narg(statuses)::text[] IS NULL OR status = ANY(sqlc.narg(statuses)::text[]::proposal_status[]))
  AND (sqlc.narg(entities)::text[] IS NULL OR entity = ANY(sqlc.narg(entities)::text[]))
  AND (sqlc.narg(operations)::text[] IS NULL OR operation = ANY(sqlc.narg(operations)::text[]::write_operation[]))
  AND (sqlc.narg(in_conversation)::uuid IS NULL OR conversation_id = sqlc.narg(in_conversation)::uuid)
  AND (sqlc.narg(acting_user)::uuid IS NULL OR acting_user_id = sqlc.narg(acting_user)::uuid)
  AND (sqlc.narg(actionable)::boolean IS NULL OR sqlc.narg(actionable)::boolean = (@decides::boolean AND CASE status
    WHEN 'pending' THEN acting_user_id = @viewer OR shared AND entity || ' ' || action_kind = ANY(@confirms::text[])
    WHEN 'awaiting_approval' THEN acting_user_id <> @viewer AND approver_role = @approves_as
        AND NOT EXISTS (SELECT FROM proposal_decisions d WHERE d.proposal_id = proposals_read.id AND d.person_id = @viewer)
    ELSE false END))
ORDER BY expires_at DESC, number DESC LIMIT @max_rows;

-- name: Actionable :many
-- What the viewer may decide now, from the newest to older ones, before number @before: their own, what the
-- workspace shares and they have the right to, and what awaits their approval. Each part is a walk along a
-- partial index, which a CASE and a count keep from becoming a join; as an array, its rows are then found by their keys.
SELECT * FROM proposals_read WHERE id = ANY(ARRAY(SELECT waiting.id FROM (
    (SELECT p.id, p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending' AND p.number < @before::bigint ORDER BY p.number DESC LIMIT @max_rows)
    UNION ALL
    (SELECT few.id, few.number FROM unnest(@confirms_in::text[]) AS e (name) CROSS JOIN LATERAL (
        SELECT p.id, p.number FROM proposals_open p
        WHERE p.workspace_id = @workspace_id AND p.entity = e.name AND p.shared AND p.status = 'pending'
          AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE p.entity || ' ' || p.action_kind = ANY(@confirms::text[]) END AND p.number < @before::bigint ORDER BY p.number DESC LIMIT @max_rows) AS few ORDER BY few.number DESC LIMIT @max_rows)
    UNION ALL
    (SELECT p.id, p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.approver_role = @approves_as AND p.status = 'awaiting_approval'
       AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.person_id = @viewer) = 0 END AND p.number < @before::bigint ORDER BY p.number DESC LIMIT @max_rows)
    ) AS waiting ORDER BY waiting.number DESC LIMIT @max_rows))
ORDER BY number DESC;

-- name: ActionableBackward :many
-- The same from the other end: older to newer, from number @before on.
SELECT * FROM proposals_read WHERE id = ANY(ARRAY(SELECT waiting.id FROM (
    (SELECT p.id, p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending' AND p.number > @before::bigint ORDER BY p.number LIMIT @max_rows)
    UNION ALL
    (SELECT few.id, few.number FROM unnest(@confirms_in::text[]) AS e (name) CROSS JOIN LATERAL (
        SELECT p.id, p.number FROM proposals_open p
        WHERE p.workspace_id = @workspace_id AND p.entity = e.name AND p.shared AND p.status = 'pending'
          AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE p.entity || ' ' || p.action_kind = ANY(@confirms::text[]) END AND p.number > @before::bigint ORDER BY p.number LIMIT @max_rows) AS few ORDER BY few.number LIMIT @max_rows)
    UNION ALL
    (SELECT p.id, p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.approver_role = @approves_as AND p.status = 'awaiting_approval'
       AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.person_id = @viewer) = 0 END AND p.number > @before::bigint ORDER BY p.number LIMIT @max_rows)
    ) AS waiting ORDER BY waiting.number LIMIT @max_rows))
ORDER BY number;

-- name: CountActionable :one
-- Capped: 100 means 100 or more. The orders keep each part on its partial index.
SELECT count(*)::integer FROM (
    (SELECT p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending' ORDER BY p.number DESC LIMIT 100)
    UNION ALL
    (SELECT few.number FROM unnest(@confirms_in::text[]) AS e (name) CROSS JOIN LATERAL (
        SELECT p.number FROM proposals_open p
        WHERE p.workspace_id = @workspace_id AND p.entity = e.name AND p.shared AND p.status = 'pending'
          AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE p.entity || ' ' || p.action_kind = ANY(@confirms::text[]) END ORDER BY p.number DESC LIMIT 100) AS few LIMIT 100)
    UNION ALL
    (SELECT p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.approver_role = @approves_as AND p.status = 'awaiting_approval'
       AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.person_id = @viewer) = 0 END ORDER BY p.number DESC LIMIT 100)
    LIMIT 100) AS open;

-- name: RecordsOfProposal :many
SELECT * FROM proposal_records WHERE proposal_id = @proposal_id ORDER BY position;

-- name: RecordsOfProposals :many
-- Some records of each: those after a position, up to another. Positions are counted from 1 without gaps.
SELECT * FROM proposal_records
WHERE proposal_id = ANY(@proposals::uuid[]) AND position > sqlc.arg(after)::integer AND position <= sqlc.arg(up_to)::integer
ORDER BY proposal_id, position;

-- name: RefusedRecordsOfProposals :many
-- The records that refused a set, after a position; of a proposal of one record, that one.
SELECT r.* FROM proposals p
CROSS JOIN LATERAL (
    SELECT few.position FROM unnest(coalesce(p.failed_positions, CASE WHEN p.record_count = 1 THEN ARRAY[1] END)) AS few (position)
    WHERE few.position > sqlc.arg(after)::integer ORDER BY few.position LIMIT @max_rows) AS place
JOIN proposal_records r ON r.proposal_id = p.id AND r.position = place.position
WHERE p.id = ANY(@proposals::uuid[]) AND p.status = 'failed'
ORDER BY r.proposal_id, r.position;

-- name: DecisionsOfProposals :many
-- With who took each, and what that person is in the workspace now: '' where they are no member or disabled.
SELECT sqlc.embed(d), coalesce(u.name, '')::text AS person, coalesce(CASE WHEN u.disabled_at IS NULL THEN m.role::text END, '')::text AS role
FROM proposal_decisions d
LEFT JOIN users u ON u.id = d.person_id
LEFT JOIN memberships m ON m.user_id = d.person_id AND m.workspace_id = d.workspace_id
WHERE d.proposal_id = ANY(@proposals::uuid[]) ORDER BY d.proposal_id, d.id;

-- name: OtherOpenProposals :many
-- A few other open proposals on a record of these, by their numbers: 0 stands for those that the viewer may not
-- see. BETWEEN says the same as =, and keeps the plan on the
-- records' index also where most open proposals are on one record.
SELECT DISTINCT mine.proposal_id, few.number::bigint AS number
FROM proposal_records mine
CROSS JOIN LATERAL (
    SELECT CASE WHEN other.acting_user_id = @viewer OR @sees_all::boolean OR (other.requires_approval OR other.approvals_raised > 0) AND other.approver_role = ANY(@approvals_of::text[])
            OR other.shared AND other.entity = ANY(@shared_entities::text[]) THEN other.number ELSE 0 END AS number
    FROM proposal_records theirs
    JOIN proposals other ON other.id = theirs.proposal_id
    WHERE theirs.workspace_id = mine.workspace_id AND theirs.entity = mine.entity AND theirs.key BETWEEN mine.key AND mine.key
      AND theirs.proposal_id <> mine.proposal_id
      AND other.status IN ('pending', 'awaiting_approval') AND other.expires_at > clock_timestamp()
    LIMIT 10) AS few
WHERE mine.proposal_id = ANY(@proposals::uuid[])
ORDER BY mine.proposal_id, few.number;
