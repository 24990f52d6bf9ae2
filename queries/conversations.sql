-- name: CreateConversation :one
INSERT INTO conversations (id, workspace_id, user_id, title) VALUES (@id, @workspace_id, @user_id, @title) RETURNING *;

-- name: GetConversation :one
SELECT * FROM conversations WHERE id = @id;

-- name: ConversationsByID :many
SELECT * FROM conversations WHERE id = ANY(@ids::uuid[]) ORDER BY id;

-- name: ConversationsNewest :many
SELECT * FROM conversations
WHERE workspace_id = @workspace_id AND user_id = @user_id AND id < @before ORDER BY id DESC LIMIT @max_rows;

-- name: SpeakInConversation :exec
-- The first message names a conversation that has no name of its own.
UPDATE conversations SET updated_at = clock_timestamp(), title = CASE WHEN title = @untitled THEN @title ELSE title END WHERE id = @id;

-- name: FirstMessages :many
-- Of each of some conversations, after message @after.
SELECT * FROM messages WHERE id IN (
    SELECT page.id FROM unnest(@conversations::uuid[]) AS c (id)
    CROSS JOIN LATERAL (SELECT m.id FROM messages m WHERE m.conversation_id = c.id AND m.id > @after ORDER BY m.id LIMIT @max_rows) AS page)
ORDER BY conversation_id, id;

-- name: LastMessages :many
-- Of each of some conversations, before message @before, the last one first.
SELECT * FROM messages WHERE id IN (
    SELECT page.id FROM unnest(@conversations::uuid[]) AS c (id)
    CROSS JOIN LATERAL (SELECT m.id FROM messages m WHERE m.conversation_id = c.id AND m.id < @before ORDER BY m.id DESC LIMIT @max_rows) AS page)
ORDER BY conversation_id, id DESC;

-- name: MessagesBackward :many
SELECT * FROM messages WHERE conversation_id = @conversation_id AND id < @before ORDER BY id DESC LIMIT @max_rows;

-- name: GetMessage :one
SELECT * FROM messages WHERE id = @id;

-- name: MessagesOfTurn :many
SELECT * FROM messages WHERE turn_id = @turn_id ORDER BY role;

-- name: ProposalsOfConversations :many
-- Of each of some conversations, before number @before, the newest first.
SELECT * FROM proposals_read WHERE id IN (
    SELECT page.id FROM unnest(@conversations::uuid[]) AS c (id)
    CROSS JOIN LATERAL (
        SELECT p.id FROM proposals p WHERE p.conversation_id = c.id AND p.number < @before::bigint
          AND (p.acting_user_id = @viewer OR @sees_all::boolean OR p.approvals_needed + p.approvals_raised > 0 AND coalesce(p.approver_raised, p.approver_role) = ANY(@approvals_of::text[]) OR p.shared AND p.entity = ANY(@shared_entities::text[]))
        ORDER BY p.number DESC LIMIT @max_rows) AS page)
ORDER BY conversation_id, number DESC;

-- name: StartTurn :execrows
-- Nothing where the key has a turn already.
INSERT INTO turns (id, workspace_id, conversation_id, user_id, idempotency_key, request_hash, lease_until)
VALUES (@id, @workspace_id, @conversation_id, @user_id, sqlc.narg(idempotency_key), @request_hash, clock_timestamp() + @lease::interval)
ON CONFLICT (conversation_id, idempotency_key) DO NOTHING;

-- name: GetTurn :one
SELECT *, (status = 'running' AND lease_until <= clock_timestamp())::boolean AS lapsed FROM turns WHERE id = @id;

-- name: TurnByKey :one
SELECT *, (status = 'running' AND lease_until <= clock_timestamp())::boolean AS lapsed FROM turns
WHERE conversation_id = @conversation_id AND idempotency_key = @idempotency_key;

-- name: RenewTurn :execrows
UPDATE turns SET lease_until = clock_timestamp() + @lease::interval
WHERE id = @id AND status = 'running' AND lease_until > clock_timestamp();

-- name: CompleteTurn :execrows
UPDATE turns SET status = 'complete', finished_at = clock_timestamp()
WHERE id = @id AND status = 'running' AND lease_until > clock_timestamp();

-- name: EndTurn :execrows
-- Cut short or failed: from now on what it proposes is refused. The lock is stronger than the update's
-- own, so that it waits for a proposal of the turn that is being committed, which refers to the row.
WITH running AS (SELECT id FROM turns WHERE turns.id = @id AND status = 'running' FOR UPDATE)
UPDATE turns SET status = @status, failure_code = @failure_code, failure_message = @failure_message, finished_at = clock_timestamp()
FROM running WHERE turns.id = running.id;

-- name: LapsedTurns :many
SELECT id FROM turns
WHERE conversation_id = @conversation_id AND status = 'running' AND lease_until <= clock_timestamp() ORDER BY id;

-- name: OpenProposalsOfTurn :many
SELECT id FROM proposals WHERE turn_id = @turn_id AND status IN ('pending', 'awaiting_approval') ORDER BY number;

-- name: InsertMessage :one
INSERT INTO messages (id, workspace_id, conversation_id, turn_id, role, status, content, citations)
VALUES (@id, @workspace_id, @conversation_id, @turn_id, @role, @status, @content, @citations) RETURNING *;

-- name: LapsedTurnsAnywhere :many
-- In any workspace: the worker finds them. And those that ended badly whose server was gone, or lost the database,
-- before it had withdrawn what they proposed.
(SELECT t.id, t.workspace_id FROM turns t WHERE t.status = 'running' AND t.lease_until <= clock_timestamp() ORDER BY t.lease_until LIMIT 100)
UNION
(SELECT t.id, t.workspace_id FROM proposals p JOIN turns t ON t.id = p.turn_id
 WHERE p.status IN ('pending', 'awaiting_approval') AND p.expires_at > clock_timestamp() AND t.status IN ('cut_short', 'failed') LIMIT 100);
