-- name: Standing :many
-- What has become of sign-ins and tokens, in one query for all of them: whether each still counts, where it
-- acts now (the zero id in a sign-in without a workspace) and as what, empty where the membership is gone, and whose
-- it is.
SELECT s.id::uuid AS credential, coalesce(s.workspace_id, '00000000-0000-0000-0000-000000000000')::uuid AS in_workspace, coalesce(m.role::text, '')::text AS role, '{}'::text[] AS scopes,
    (s.ended_at IS NULL AND s.expires_at > clock_timestamp() AND u.disabled_at IS NULL)::boolean AS live, s.user_id::uuid AS of_user
FROM sign_ins s
JOIN users u ON u.id = s.user_id
LEFT JOIN memberships m ON m.user_id = s.user_id AND m.workspace_id = s.workspace_id
WHERE s.id = ANY(@sign_ins::uuid[])
UNION ALL
SELECT t.id::uuid, t.workspace_id::uuid, coalesce(m.role::text, '')::text, t.scopes,
    (t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()) AND u.disabled_at IS NULL)::boolean, t.user_id::uuid
FROM api_tokens t
JOIN users u ON u.id = t.user_id
LEFT JOIN memberships m ON m.user_id = t.user_id AND m.workspace_id = t.workspace_id
WHERE t.id = ANY(@tokens::uuid[])
ORDER BY 1;
