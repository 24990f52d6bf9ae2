-- name: CreateWorkspace :exec
INSERT INTO workspaces (id, slug, name) VALUES (@id, @slug, @name);

-- name: CreateUser :exec
INSERT INTO users (id, email, name, password_hash) VALUES (@id, @email, @name, @password_hash);

-- name: EnsureWorkspace :one
-- The workspace with this slug, made where there is none.
INSERT INTO workspaces (id, slug, name) VALUES (@id, @slug, @name)
ON CONFLICT (slug) DO UPDATE SET slug = excluded.slug
RETURNING *;

-- name: CreateMembership :exec
INSERT INTO memberships (user_id, workspace_id, role) VALUES (@user_id, @workspace_id, @role);

-- name: GetUserForSignIn :one
SELECT id, email, name, password_hash FROM users WHERE email = @email AND disabled_at IS NULL;

-- name: GetWorkspaceBySlug :one
SELECT * FROM workspaces WHERE slug = @slug;

-- name: GetUserByEmail :one
SELECT id, email, name, disabled_at, created_at FROM users WHERE email = @email;

-- name: UsersByID :many
SELECT id, email, name FROM users WHERE id = ANY(@ids::uuid[]) ORDER BY id;

-- name: ListWorkspacesOfUser :many
SELECT w.* FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @user_id ORDER BY w.slug;

-- name: ListMembershipsOfUser :many
SELECT w.id AS workspace_id, w.slug, w.name, m.role
FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
WHERE m.user_id = @user_id ORDER BY w.slug;

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
WHERE s.id = @id AND s.user_id = @user_id AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
  AND EXISTS (SELECT FROM memberships m WHERE m.user_id = s.user_id AND m.workspace_id = @workspace_id);

-- name: EndSignIn :execrows
UPDATE sign_ins SET ended_at = clock_timestamp() WHERE id = @id AND ended_at IS NULL;

-- name: CreateToken :one
INSERT INTO api_tokens (id, user_id, workspace_id, name, token_hash, scopes, expires_at)
VALUES (@id, @user_id, @workspace_id, @name, @token_hash, @scopes, clock_timestamp() + sqlc.narg(lifetime)::interval)
RETURNING expires_at;

-- name: AgentByToken :one
SELECT t.id AS token_id, t.expires_at, t.scopes, t.name AS token_name,
    (t.last_used_at IS NULL OR t.last_used_at < clock_timestamp() - interval '1 minute')::boolean AS stale,
    u.id AS user_id, u.email, u.name, t.workspace_id, w.slug, w.name AS workspace_name, m.role
FROM api_tokens t
JOIN users u ON u.id = t.user_id
JOIN workspaces w ON w.id = t.workspace_id
JOIN memberships m ON m.user_id = t.user_id AND m.workspace_id = t.workspace_id
WHERE t.token_hash = @token_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()) AND u.disabled_at IS NULL;

-- name: TouchToken :exec
-- At most once a minute, however many requests saw it as stale, so that a busy token is not a busy row.
UPDATE api_tokens SET last_used_at = clock_timestamp()
WHERE id = @id AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute');

-- name: ListTokens :many
-- The API tokens of everybody, or of one user, the newest last.
SELECT t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at, u.email, w.slug
FROM api_tokens t JOIN users u ON u.id = t.user_id JOIN workspaces w ON w.id = t.workspace_id
WHERE sqlc.narg(email)::text IS NULL OR u.email = sqlc.narg(email)
ORDER BY t.created_at, t.id;

-- name: RevokeToken :execrows
UPDATE api_tokens SET revoked_at = clock_timestamp() WHERE id = @id AND revoked_at IS NULL;

-- name: LockSignInAttempts :many
-- Holds the counts of these subjects until the transaction ends and tells how long each has to wait.
-- An hour without an attempt begins anew. In one order, so that two sign-ins do not wait for each other.
INSERT INTO sign_in_failures AS f (subject, failures, last_at, blocked_until)
SELECT s, 0, clock_timestamp(), clock_timestamp() FROM unnest(@subjects::bytea[]) AS s ORDER BY s
ON CONFLICT (subject) DO UPDATE SET failures = CASE WHEN f.last_at < clock_timestamp() - interval '1 hour' THEN 0 ELSE f.failures END
RETURNING greatest(f.blocked_until - clock_timestamp(), interval '0')::interval AS wait;

-- name: CountSignInAttempt :one
-- Past the free attempts without a success the next has to wait, then twice as long each time, up to the
-- longest. (sqlc.arg: sqlc misreads "- @name".)
UPDATE sign_in_failures SET
    failures = failures + 1,
    last_at = clock_timestamp(),
    blocked_until = clock_timestamp() + CASE WHEN failures < sqlc.arg(free)::integer THEN interval '0'
        ELSE least(sqlc.arg(first)::interval * 2 ^ least(failures - sqlc.arg(free)::integer, 20), sqlc.arg(longest)::interval) END
WHERE subject = @subject
RETURNING last_at;

-- name: ForgiveSignInAttempt :exec
-- Takes back one attempt, which was none of a wrong password; a wait that it began ends.
UPDATE sign_in_failures SET
    failures = greatest(failures - 1, 0),
    blocked_until = CASE WHEN last_at = @counted_at::timestamptz THEN clock_timestamp() ELSE blocked_until END
WHERE subject = @subject;

-- name: ClearSignInFailures :exec
DELETE FROM sign_in_failures WHERE subject = @subject;

-- name: SweepSignInFailures :execrows
DELETE FROM sign_in_failures WHERE last_at < clock_timestamp() - interval '1 hour' AND blocked_until < clock_timestamp();

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

-- name: IsMember :one
SELECT EXISTS (SELECT FROM memberships WHERE user_id = @user_id AND workspace_id = @workspace_id) AS member;
