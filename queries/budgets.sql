-- name: SaveBudget :exec
INSERT INTO budgets (id, workspace_id, subject, user_id, token_id, measure, period, hard_limit, soft_limit)
VALUES (gen_random_uuid(), @workspace_id, @subject, sqlc.narg(user_id), sqlc.narg(token_id), @measure, @period, sqlc.narg(hard_limit), sqlc.narg(soft_limit))
ON CONFLICT ON CONSTRAINT budgets_one DO UPDATE SET hard_limit = excluded.hard_limit, soft_limit = excluded.soft_limit;

-- name: ClearBudget :execrows
DELETE FROM budgets WHERE workspace_id = @workspace_id AND subject = @subject AND user_id IS NOT DISTINCT FROM sqlc.narg(user_id) AND token_id IS NOT DISTINCT FROM sqlc.narg(token_id)
    AND measure = @measure AND period = @period;

-- name: ListBudgets :many
-- With whom each is for, and how much of it is used; of a budget of each user or token, by the one that used most.
SELECT sqlc.embed(b), coalesce(u.email, '')::text AS email,
    coalesce(CASE
        WHEN b.subject = 'workspace' OR b.user_id IS NOT NULL OR b.token_id IS NOT NULL THEN budget_used(b, b.user_id, b.token_id)
        WHEN b.subject = 'user' THEN (SELECT max(budget_used(b, m.user_id, NULL)) FROM memberships m WHERE m.workspace_id = b.workspace_id)
        ELSE (SELECT max(budget_used(b, NULL, t.id)) FROM api_tokens t WHERE t.workspace_id = b.workspace_id) END, 0)::bigint AS used
FROM budgets b LEFT JOIN users u ON u.id = b.user_id
WHERE b.workspace_id = @workspace_id ORDER BY b.measure, b.period, b.subject, email;

-- name: SpentBudget :one
-- The first budget with nothing left of a measure, as JSON; null where all have some.
SELECT coalesce((
    SELECT s.said FROM budgets b
    CROSS JOIN LATERAL (SELECT spent(b, budget_used(b, @user_id, sqlc.narg(token_id)), 1) AS said OFFSET 0) AS s
    WHERE b.workspace_id = @workspace_id AND b.measure = @measure AND s.said IS NOT NULL
      AND CASE b.subject WHEN 'workspace' THEN true WHEN 'user' THEN coalesce(b.user_id, @user_id) = @user_id ELSE coalesce(b.token_id, sqlc.narg(token_id)) = sqlc.narg(token_id) END
    ORDER BY b.id LIMIT 1), 'null')::jsonb AS budget;

-- name: RecordUsage :exec
INSERT INTO usage (workspace_id, user_id, token_id, measure, amount) VALUES (@workspace_id, @user_id, sqlc.narg(token_id), @measure, @amount);
