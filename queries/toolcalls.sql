-- name: RecordToolCall :one
-- With what it says of budgets; null where no budget is spent or nearly so.
SELECT coalesce(record_tool_call(@id, @user_id, sqlc.narg(sign_in_id), sqlc.narg(token_id), sqlc.narg(conversation_id), sqlc.narg(turn_id), @tool, @entity, @input, true), 'null')::jsonb AS budgets;

-- name: RecordRevision :exec
-- A call that a person makes without an assistant: it counts against no budget.
SELECT record_tool_call(@id, @user_id, @sign_in_id, NULL, sqlc.narg(conversation_id), NULL, 'revise_proposal', @entity, @input, false);

-- name: FinishToolCall :exec
SELECT finish_tool_call(@id, @status, sqlc.narg(code), sqlc.narg(proposal_id), sqlc.narg(idempotency_key), sqlc.narg(request_hash))::boolean AS ended;

-- name: EndStaleToolCalls :execrows
-- In any workspace: calls that outlived their deadline, since their server is gone.
UPDATE tool_calls SET status = 'cut_short', code = 'CUT_SHORT', finished_at = clock_timestamp()
WHERE status = 'started' AND started_at < clock_timestamp() - @deadline::interval;
