-- name: Bearings :one
-- What stands around every page: the database's clock, the feed's last position in the workspace, how many
-- proposals wait for the viewer (100 means 100 or more), and the workspaces they may act in, by slug.
SELECT clock_timestamp()::timestamptz AS now,
    greatest(0, (SELECT max(f.position) FROM feed f WHERE f.workspace_id = @workspace_id), (SELECT k.position FROM feed_floor k WHERE k.workspace_id = @workspace_id))::bigint AS head,
    (SELECT count(*) FROM (
        SELECT FROM proposals p WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending'
            AND p.expires_at > clock_timestamp() LIMIT 100) AS open)::integer AS waiting,
    ARRAY(SELECT w.slug FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @viewer ORDER BY w.slug)::text[] AS slugs,
    ARRAY(SELECT w.name FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @viewer ORDER BY w.slug)::text[] AS names;

-- name: Queue :many
-- What waits for the viewer to confirm, longest waiting first, after number @after: a page of 25 and one
-- more. The inner query is what the partial index on pending proposals answers; as an array, its rows are
-- then found by their keys.
SELECT * FROM proposals_read
WHERE id = ANY(ARRAY(
    SELECT p.id FROM proposals p
    WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending'
      AND p.expires_at > clock_timestamp() AND p.number > @after::bigint
    ORDER BY p.number LIMIT 26))
ORDER BY number;

-- name: BesideCards :many
-- What stands beside cards: for whom, in which conversation of the viewer's (empty for none), and the numbers
-- of a few other open proposals on a record of theirs. BETWEEN says the same as =, and keeps the plan on the
-- records' index also where most open proposals are on one record.
SELECT p.id, u.name AS acting, coalesce(c.title, '')::text AS conversation,
    ARRAY(SELECT DISTINCT few.number
        FROM proposal_records mine
        CROSS JOIN LATERAL (
            SELECT other.number
            FROM proposal_records theirs
            JOIN proposals other ON other.id = theirs.proposal_id
            WHERE theirs.workspace_id = mine.workspace_id AND theirs.entity = mine.entity AND theirs.key BETWEEN mine.key AND mine.key
              AND theirs.proposal_id <> mine.proposal_id
              AND other.status IN ('pending', 'awaiting_approval') AND other.expires_at > clock_timestamp()
            LIMIT 10) AS few
        WHERE mine.proposal_id = p.id ORDER BY few.number LIMIT 10)::bigint[] AS others
FROM proposals p
JOIN users u ON u.id = p.acting_user_id
LEFT JOIN conversations c ON c.id = p.conversation_id AND c.user_id = @viewer
WHERE p.id = ANY(@proposals::uuid[]) ORDER BY p.number;

-- name: DecisionsWithNames :many
SELECT sqlc.embed(d), coalesce(u.name, '')::text AS person
FROM proposal_decisions d LEFT JOIN users u ON u.id = d.person_id
WHERE d.proposal_id = ANY(@proposals::uuid[]) ORDER BY d.proposal_id, d.id;

-- name: VisibleProposalsOfTurns :many
SELECT * FROM proposals_read
WHERE turn_id = ANY(@turns::uuid[])
  AND (acting_user_id = @viewer OR @sees_all::boolean OR (@sees_approvals::boolean AND requires_approval))
ORDER BY number;
