-- name: RecordToolCall :exec
SELECT record_tool_call(@id, @user_id, sqlc.narg(sign_in_id), sqlc.narg(token_id), sqlc.narg(conversation_id), sqlc.narg(turn_id), @tool, @entity, @input);

-- name: FinishToolCall :exec
SELECT finish_tool_call(@id, @status, sqlc.narg(code), sqlc.narg(proposal_id))::boolean AS ended;

-- name: EndStaleToolCalls :execrows
-- In any workspace: calls that outlived their deadline, since their server is gone.
UPDATE tool_calls SET status = 'cut_short', code = 'CUT_SHORT', finished_at = clock_timestamp()
WHERE status = 'started' AND started_at < clock_timestamp() - @deadline::interval;
