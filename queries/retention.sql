-- Retention: the worker deletes, in one workspace after the other, a batch a transaction. The age is by the time
-- at which the statement began, by which an index can be searched.

-- name: AllWorkspaces :many
SELECT id FROM workspaces ORDER BY id;

-- name: LockOldProposals :many
-- The oldest that have ended or lapsed so many days ago, but for those that somebody holds, and those passed over.
SELECT id, record_count FROM proposals
WHERE workspace_id = @workspace_id AND CASE WHEN resolved_at IS NULL THEN expires_at ELSE resolved_at END < statement_timestamp() - make_interval(days => @days::integer) AND id <> ALL (@passed_over::uuid[])
ORDER BY CASE WHEN resolved_at IS NULL THEN expires_at ELSE resolved_at END LIMIT @most FOR UPDATE SKIP LOCKED;

-- name: HeldByReference :many
-- Of these, those that another proposal names which somebody holds: deleting one would wait for that. The
-- others that name one of these are held from now on.
WITH free AS MATERIALIZED (
    SELECT id FROM proposals
    WHERE superseded_by_id = ANY (@ids::uuid[]) OR revision_of_id = ANY (@ids::uuid[]) OR revert_of_id = ANY (@ids::uuid[])
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
SELECT o.id FROM proposals o
WHERE o.id = ANY (@ids::uuid[]) AND EXISTS (
    SELECT FROM proposals r WHERE (r.superseded_by_id = o.id OR r.revision_of_id = o.id OR r.revert_of_id = o.id) AND NOT EXISTS (SELECT FROM free f WHERE f.id = r.id))
ORDER BY o.id;

-- name: AuditLapsed :exec
-- What has lapsed and was never stored as that leaves its entry before it goes.
INSERT INTO audit_events (id, workspace_id, at, verb, outcome, proposal_id, tool, entity, operation, fingerprint)
SELECT gen_random_uuid(), workspace_id, expires_at, 'expire', 'expired', id, tool, entity, operation::text, fingerprint
FROM proposals WHERE id = ANY (@ids::uuid[]) AND resolved_at IS NULL;

-- name: DeleteProposals :execrows
DELETE FROM proposals WHERE id = ANY (@ids::uuid[]);

-- name: DeleteOldToolCalls :execrows
-- Those about a proposal that is gone.
DELETE FROM tool_calls WHERE id IN (
    SELECT c.id FROM tool_calls c
    WHERE c.workspace_id = @workspace_id AND c.proposal_id IS NOT NULL AND c.finished_at < statement_timestamp() - make_interval(days => @days::integer)
      AND NOT EXISTS (SELECT FROM proposals p WHERE p.id = c.proposal_id)
    ORDER BY c.finished_at LIMIT @most FOR UPDATE SKIP LOCKED);

-- name: DeleteOldUsage :execrows
-- No budget looks further back than this month.
DELETE FROM usage WHERE ctid = ANY (ARRAY(
    SELECT u.ctid FROM usage u
    WHERE u.workspace_id = @workspace_id AND u.measure = ANY (ARRAY['tool_calls', 'proposals', 'model_tokens']) AND u.at < statement_timestamp() - interval '2 months'
    LIMIT @most));
