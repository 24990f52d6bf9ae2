-- name: CreateWorkspace :exec
INSERT INTO workspaces (id, slug, name) VALUES (@id, @slug, @name);

-- name: GetWorkspace :one
SELECT * FROM workspaces WHERE id = @id;

-- name: GetWorkspaceBySlug :one
SELECT * FROM workspaces WHERE slug = @slug;

-- name: CreateUser :exec
INSERT INTO users (id, email, name, password_hash) VALUES (@id, @email, @name, @password_hash);

-- name: CreateMembership :exec
INSERT INTO memberships (user_id, workspace_id, role) VALUES (@user_id, @workspace_id, @role);

-- name: GetUserForSignIn :one
SELECT id, email, name, password_hash FROM users WHERE email = @email AND disabled_at IS NULL;

-- name: GetUserByEmail :one
SELECT id, email, name, disabled_at, created_at FROM users WHERE email = @email;

-- name: UsersByID :many
SELECT id, email, name FROM users WHERE id = ANY(@ids::uuid[]) ORDER BY id;

-- name: ListWorkspacesOfUser :many
SELECT w.* FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @user_id ORDER BY w.slug;

-- name: CreateSignIn :one
INSERT INTO sign_ins (id, user_id, workspace_id, kind, token_hash, address, user_agent, expires_at)
VALUES (@id, @user_id, @workspace_id, @kind, @token_hash, @address, @user_agent, clock_timestamp() + @lifetime::interval)
RETURNING expires_at;

-- name: PersonBySignIn :one
-- A live sign-in of a user who is not disabled; role is null where no workspace is active or the
-- membership is gone.
SELECT s.id AS sign_in_id, s.expires_at, s.address, u.id AS user_id, u.email, u.name, s.workspace_id, w.slug, w.name AS workspace_name, m.role
FROM sign_ins s
JOIN users u ON u.id = s.user_id
LEFT JOIN workspaces w ON w.id = s.workspace_id
LEFT JOIN memberships m ON m.user_id = s.user_id AND m.workspace_id = s.workspace_id
WHERE s.id = @id AND s.kind = 'cookie' AND s.ended_at IS NULL AND s.expires_at > clock_timestamp() AND u.disabled_at IS NULL;

-- name: PersonByToken :one
SELECT s.id AS sign_in_id, s.expires_at, s.address, u.id AS user_id, u.email, u.name, s.workspace_id, w.slug, w.name AS workspace_name, m.role
FROM sign_ins s
JOIN users u ON u.id = s.user_id
LEFT JOIN workspaces w ON w.id = s.workspace_id
LEFT JOIN memberships m ON m.user_id = s.user_id AND m.workspace_id = s.workspace_id
WHERE s.token_hash = @token_hash AND s.kind = 'bearer' AND s.ended_at IS NULL AND s.expires_at > clock_timestamp() AND u.disabled_at IS NULL;

-- name: SwitchWorkspace :execrows
UPDATE sign_ins s SET workspace_id = @workspace_id
WHERE s.id = @id AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
  AND EXISTS (SELECT FROM memberships m WHERE m.user_id = s.user_id AND m.workspace_id = @workspace_id);

-- name: EndSignIn :execrows
UPDATE sign_ins SET ended_at = clock_timestamp() WHERE id = @id AND ended_at IS NULL;

-- name: CreateToken :one
INSERT INTO api_tokens (id, user_id, workspace_id, name, token_hash, scopes, expires_at)
VALUES (@id, @user_id, @workspace_id, @name, @token_hash, @scopes, clock_timestamp() + sqlc.narg(lifetime)::interval)
RETURNING expires_at;

-- name: AgentByToken :one
SELECT t.id AS token_id, t.expires_at, t.scopes, t.last_used_at, t.name AS token_name, u.id AS user_id, u.email, u.name, t.workspace_id, w.slug, w.name AS workspace_name, m.role
FROM api_tokens t
JOIN users u ON u.id = t.user_id
JOIN workspaces w ON w.id = t.workspace_id
JOIN memberships m ON m.user_id = t.user_id AND m.workspace_id = t.workspace_id
WHERE t.token_hash = @token_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()) AND u.disabled_at IS NULL;

-- name: TouchToken :exec
-- At most once a minute, so that a busy token is not a busy row.
UPDATE api_tokens SET last_used_at = clock_timestamp()
WHERE id = @id AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute');

-- name: BlockedUntil :one
-- The latest time until which one of these subjects has to wait; the epoch where none has to.
SELECT coalesce(max(blocked_until), 'epoch')::timestamptz AS blocked_until, clock_timestamp()::timestamptz AS now
FROM sign_in_failures WHERE subject = ANY(@subjects::bytea[]) AND blocked_until > clock_timestamp();

-- name: RecordSignInFailure :exec
-- Past @free failures in a row the next try waits 2, 4, 8 … seconds, at most @longest.
INSERT INTO sign_in_failures AS f (subject, failures, last_at, blocked_until)
VALUES (@subject, 1, clock_timestamp(), clock_timestamp())
ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN f.last_at < clock_timestamp() - interval '1 hour' THEN 1 ELSE f.failures + 1 END,
    last_at = clock_timestamp(),
    blocked_until = CASE WHEN f.last_at < clock_timestamp() - interval '1 hour' OR f.failures + 1 <= @free::integer THEN clock_timestamp()
        ELSE clock_timestamp() + least(interval '1 second' * 2 ^ least(f.failures + 1 - @free::integer, 20), @longest::interval) END;

-- name: ClearSignInFailures :exec
DELETE FROM sign_in_failures WHERE subject = ANY(@subjects::bytea[]);

-- name: FindSession :one
SELECT data FROM sessions WHERE token = @token AND expiry > clock_timestamp() AND length(data) > 0;

-- name: CommitSession :exec
INSERT INTO sessions (token, data, expiry) VALUES (@token, @data, @expiry)
ON CONFLICT (token) DO UPDATE SET data = excluded.data, expiry = excluded.expiry WHERE length(sessions.data) > 0;

-- name: DestroySession :exec
-- Leaves a tombstone: see the table.
UPDATE sessions SET data = '' WHERE token = @token;

-- name: SweepSessions :execrows
DELETE FROM sessions WHERE expiry < clock_timestamp();
