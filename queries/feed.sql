-- name: SequenceFeed :one
SELECT taken::integer AS taken, coalesce(top, 0)::bigint AS top, head::bigint AS head FROM sequence_feed(@above::bigint, @most::integer);

-- name: FeedWriters :many
-- The transactions that are putting events into the queue now, each under a name of its own.
SELECT virtualtransaction::text FROM pg_catalog.pg_locks
WHERE locktype = 'relation' AND relation = 'feed_queue'::regclass AND mode = 'RowExclusiveLock' AND granted AND pid IS DISTINCT FROM pg_backend_pid()
ORDER BY 1;

-- name: FeedLast :one
-- The last position of all workspaces, for the worker.
SELECT coalesce(max(position + 0), 0)::bigint AS position FROM feed;

-- name: FeedHolder :one
-- The session that holds the lock under which positions are given; 0 for none.
SELECT coalesce((
    SELECT min(pid) FROM pg_catalog.pg_locks
    WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
      AND relation = 'feed_restores'::regclass AND mode <> 'AccessShareLock' AND granted AND pid <> pg_backend_pid()), 0)::integer AS pid;

-- name: FeedHead :one
-- The workspace's last position, also where it is no longer kept.
SELECT greatest(0, (SELECT max(f.position) FROM feed f WHERE f.workspace_id = @workspace_id), (SELECT k.position FROM feed_floor k WHERE k.workspace_id = @workspace_id))::bigint AS position;

-- name: FeedBounds :one
-- Between what is no longer kept, in the workspace, or was lost where the database was restored, and the last
-- position ever given, in any.
SELECT greatest((SELECT k.position FROM feed_floor k), (SELECT max(r.begins) FROM feed_restores r WHERE r.lost_after < @after::bigint AND r.begins > @after), 0)::bigint AS floor, coalesce(pg_sequence_last_value('feed_position_seq'::regclass), 0)::bigint AS last;

-- name: FeedSince :many
-- The events after a position, each with what says who may see it. The workspace is the one of the setting. The
-- floor is that of FeedBounds.
-- The LIMITs within keep a plan for any number of events on the keys of a few. Event and proposal have one
-- each: a join with the view, within, reads every proposal of the workspace for every event.
SELECT greatest((SELECT k.position FROM feed_floor k), (SELECT max(r.begins) FROM feed_restores r WHERE r.lost_after < @after::bigint AND r.begins > @after), 0)::bigint AS floor,
    place.position, of.*, whose.*
FROM (
    SELECT f.position, f.event_id FROM feed f
    WHERE f.position > @after ORDER BY f.position LIMIT @max_rows) AS place
CROSS JOIN LATERAL (
    SELECT e.id, e.workspace_id, e.proposal_id, e.type, e.status, e.actor_id, e.at
    FROM events e WHERE e.id = place.event_id LIMIT 1) AS of
CROSS JOIN LATERAL (
    SELECT p.acting_user_id, p.requires_approval, p.approver_role, p.shared, p.entity, p.operation, p.action_kind, p.conversation_id, p.status AS status_now,
        (CASE WHEN p.status = 'awaiting_approval' THEN ARRAY(SELECT d.person_id FROM proposal_decisions d WHERE d.proposal_id = p.id AND d.person_id IS NOT NULL) ELSE '{}' END)::uuid[] AS deciders
    FROM proposals_read p WHERE p.id = of.proposal_id LIMIT 1) AS whose
ORDER BY place.position;
