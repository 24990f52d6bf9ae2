-- name: PoliciesNow :one
-- Those of a workspace, as Facts gives them, with the number of their changes.
SELECT w.policy_version,
    coalesce((SELECT jsonb_agg(to_jsonb(held)) FROM (
        SELECT o.entity, o.operation, o.tool, o.switched_off, o.preview_only, o.approvals, o.approver, o.fields, o.bulk_cap, extract(epoch FROM o.lifetime)::float8 AS lifetime, o.roles
        FROM policies o WHERE o.workspace_id = @workspace_id) AS held), '[]')::jsonb AS policies
FROM workspaces w WHERE w.id = @workspace_id;

-- name: SavePolicy :exec
-- In place of what was said of the same.
INSERT INTO policies (id, workspace_id, entity, operation, tool, switched_off, preview_only, approvals, approver, fields, bulk_cap, lifetime, roles)
VALUES (gen_random_uuid(), @workspace_id, sqlc.narg(entity), sqlc.narg(operation), sqlc.narg(tool), @switched_off, @preview_only, sqlc.narg(approvals), sqlc.narg(approver), sqlc.narg(fields), sqlc.narg(bulk_cap), sqlc.narg(lifetime), sqlc.narg(roles))
ON CONFLICT ON CONSTRAINT policies_one DO UPDATE SET switched_off = excluded.switched_off, preview_only = excluded.preview_only, approvals = excluded.approvals, approver = excluded.approver,
    fields = excluded.fields, bulk_cap = excluded.bulk_cap, lifetime = excluded.lifetime, roles = excluded.roles, updated_at = clock_timestamp();

-- name: ShortenLives :execrows
-- What is open and lives longer than a policy now lets it has its time cut.
UPDATE proposals SET lifetime = sqlc.arg(at_most)::interval, expires_at = least(expires_at, coalesce(extended_at, created_at) + sqlc.arg(at_most)::interval)
WHERE workspace_id = @workspace_id AND status = 'pending' AND lifetime > sqlc.arg(at_most)::interval
  AND (entity = sqlc.narg(entity)::text AND (sqlc.narg(operation)::text IS NULL OR operation::text = sqlc.narg(operation)::text OR operation = 'bulk_update' AND sqlc.narg(operation)::text = 'update')
    OR action_kind = sqlc.narg(action)::text);

-- name: RaiseApprovals :execrows
-- What awaits approval and was asked for less is asked for as much as a policy now says, so that the queues of those
-- who approve go by it.
UPDATE proposals SET approvals_raised = greatest(approvals_raised, sqlc.arg(approvals)::integer),
    approver_raised = CASE WHEN array_position(ARRAY['member', 'approver', 'operator'], sqlc.arg(approver)::text) > array_position(ARRAY['member', 'approver', 'operator'], coalesce(approver_raised, approver_role)) THEN sqlc.arg(approver)::text ELSE approver_raised END
WHERE workspace_id = @workspace_id AND status = 'awaiting_approval'
  AND (entity = sqlc.narg(entity)::text AND (sqlc.narg(operation)::text IS NULL OR operation::text = sqlc.narg(operation)::text OR operation = 'bulk_update' AND sqlc.narg(operation)::text = 'update')
    OR action_kind = sqlc.narg(action)::text);

-- name: ClearPolicy :execrows
DELETE FROM policies WHERE workspace_id = @workspace_id AND entity IS NOT DISTINCT FROM sqlc.narg(entity) AND operation IS NOT DISTINCT FROM sqlc.narg(operation) AND tool IS NOT DISTINCT FROM sqlc.narg(tool);

-- name: ListPolicies :many
SELECT * FROM policies WHERE workspace_id = @workspace_id ORDER BY entity, operation NULLS FIRST, tool;

-- name: AuditPolicy :exec
-- Said under the owner's login, so by nobody who is signed in.
INSERT INTO audit_events (id, workspace_id, verb, outcome, tool, entity, operation, policy_version)
SELECT @id, w.id, @verb, @outcome, sqlc.narg(tool), sqlc.narg(entity), sqlc.narg(operation), w.policy_version FROM workspaces w WHERE w.id = @workspace_id;
