-- name: Bearings :one
-- What stands around every page: the database's clock, the feed's last position in the workspace, how many
-- proposals wait for the viewer (100 means 100 or more), and the workspaces they may act in, by slug.
SELECT clock_timestamp()::timestamptz AS now,
    greatest(0, (SELECT max(f.position) FROM feed f WHERE f.workspace_id = @workspace_id), (SELECT k.position FROM feed_floor k WHERE k.workspace_id = @workspace_id))::bigint AS head,
    (SELECT count(*) FROM (
    (SELECT p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.acting_user_id = @viewer AND p.status = 'pending' ORDER BY p.number DESC LIMIT 100)
    UNION ALL
    (SELECT few.number FROM unnest(@confirms_in::text[]) AS e (name) CROSS JOIN LATERAL (
        SELECT p.number FROM proposals_open p
        WHERE p.workspace_id = @workspace_id AND p.entity = e.name AND p.shared AND p.status = 'pending'
          AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE p.entity || ' ' || p.action_kind = ANY(@confirms::text[]) END ORDER BY p.number DESC LIMIT 100) AS few LIMIT 100)
    UNION ALL
    (SELECT p.number FROM proposals_open p
     WHERE p.workspace_id = @workspace_id AND p.approver_role = @approves_as AND p.status = 'awaiting_approval'
       AND CASE WHEN p.acting_user_id = @viewer THEN false ELSE (SELECT count(*) FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.person_id = @viewer) = 0 END ORDER BY p.number DESC LIMIT 100)
    LIMIT 100) AS open)::integer AS waiting,
    ARRAY(SELECT w.slug FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @viewer ORDER BY w.slug)::text[] AS slugs,
    ARRAY(SELECT w.name FROM workspaces w JOIN memberships m ON m.workspace_id = w.id WHERE m.user_id = @viewer ORDER BY w.slug)::text[] AS names;

-- name: BesideCards :many
-- What stands beside cards: for whom, in which conversation of the viewer's (empty for none), and the numbers
-- of a few other open proposals on a record of theirs, 0 for those that the viewer may not see. BETWEEN says the same as =, and keeps the plan on the
-- records' index also where most open proposals are on one record.
SELECT p.id, u.name AS acting, coalesce(c.title, '')::text AS conversation,
    ARRAY(SELECT DISTINCT few.number
        FROM proposal_records mine
        CROSS JOIN LATERAL (
            SELECT CASE WHEN other.acting_user_id = @viewer OR @sees_all::boolean OR (other.requires_approval OR other.approvals_raised > 0) AND other.approver_role = ANY(@approvals_of::text[])
                    OR other.shared AND other.entity = ANY(@shared_entities::text[]) THEN other.number ELSE 0 END AS number
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

-- name: VisibleProposalsOfTurns :many
-- What the calls of some turns proposed, or were answered with since it was open already; each with its turn.
SELECT calls.turn_id, sqlc.embed(p)
FROM (SELECT DISTINCT c.turn_id, c.proposal_id FROM tool_calls c WHERE c.turn_id = ANY(@turns::uuid[]) AND c.proposal_id IS NOT NULL) AS calls
JOIN proposals_read p ON p.id = calls.proposal_id
WHERE p.acting_user_id = @viewer OR @sees_all::boolean OR p.requires_approval AND p.approver_role = ANY(@approvals_of::text[]) OR p.shared AND p.entity = ANY(@shared_entities::text[])
ORDER BY p.number;
