-- name: PatternsOfWorkspace :many
SELECT id, name, pattern FROM redaction_patterns WHERE workspace_id = @workspace_id ORDER BY id;

-- name: ListPatterns :many
-- In any workspace, for the owner; of one where its slug is given.
SELECT p.id, w.slug, p.name, p.pattern, p.created_at, coalesce(u.email, '')::text AS created_by
FROM redaction_patterns p JOIN workspaces w ON w.id = p.workspace_id LEFT JOIN users u ON u.id = p.created_by
WHERE sqlc.narg(slug)::text IS NULL OR w.slug = sqlc.narg(slug)::text ORDER BY w.slug, p.name;

-- name: InsertPattern :execrows
-- None where there is no such workspace.
INSERT INTO redaction_patterns (workspace_id, id, name, pattern, samples, created_by)
SELECT w.id, @id, @name, @pattern, @samples, (SELECT u.id FROM users u WHERE u.email = lower(sqlc.narg(created_by)::text)) FROM workspaces w WHERE w.slug = @slug;

-- name: CountPatterns :one
SELECT count(*) FROM redaction_patterns p JOIN workspaces w ON w.id = p.workspace_id WHERE w.slug = @slug;

-- name: DeletePattern :execrows
DELETE FROM redaction_patterns p USING workspaces w WHERE w.id = p.workspace_id AND w.slug = @slug AND p.name = @name;
