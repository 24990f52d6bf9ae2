-- name: RecordRevision :exec
-- A call that a person makes without an assistant: it counts against no budget, and its input is one that no pattern
-- of an administrator can be about.
SELECT record_tool_call(@id, @user_id, @sign_in_id, NULL, sqlc.narg(conversation_id), NULL, 'revise_proposal', @entity, @input::redacted, false);

-- name: RecordToolCallRedactedBy :one
-- What it says of budgets, as JSON: null where none is spent or nearly so. {"outdated": true}, and nothing is
-- written, where other patterns hold now than those that the input was redacted by.
SELECT (CASE WHEN ARRAY(SELECT p.id FROM redaction_patterns p WHERE p.workspace_id = @workspace_id ORDER BY p.id) = @patterns::uuid[]
    THEN coalesce(record_tool_call(@id, @user_id, sqlc.narg(sign_in_id), sqlc.narg(token_id), sqlc.narg(conversation_id), sqlc.narg(turn_id), @tool, @entity, @input::redacted, true), 'null')
    ELSE '{"outdated": true}' END)::jsonb AS budgets;

-- name: FinishToolCall :exec
SELECT finish_tool_call(@id, @status, sqlc.narg(code), NULL, NULL, NULL)::boolean AS ended;

-- name: FulfilToolCall :exec
-- In the transaction of what a call made. It fails, dividing by nothing, where the call has ended meanwhile, cut
-- short say: what it made is then undone.
SELECT 1 / finish_tool_call(@id, 'succeeded', NULL, @proposal_id, sqlc.narg(idempotency_key), sqlc.narg(request_hash))::integer;

-- name: EndStaleToolCalls :execrows
-- In any workspace: calls that outlived their deadline, since their server is gone.
UPDATE tool_calls SET status = 'cut_short', code = 'CUT_SHORT', finished_at = clock_timestamp()
WHERE status = 'started' AND started_at < clock_timestamp() - @deadline::interval;
