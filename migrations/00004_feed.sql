-- The feed: one order of all events, given after they have committed. An event's own transaction only puts
-- it into feed_queue; a sequencer, any server's, moves what it sees there into feed, where its position is
-- its place for good. A transaction that commits late gets a later position and is never read past.

-- +goose Up

-- What has no position yet. It is deleted from as fast as it is filled: vacuum it by count, not by share.
CREATE TABLE feed_queue (
    seq          bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    event_id     uuid NOT NULL,
    workspace_id uuid NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

-- Positions come from the identity's sequence, which outlives the rows: none is given twice. They rise and
-- may have gaps. Who reads a workspace's events is to find them by its id, and not among everybody's by their
-- position: so the one index over all workspaces is of an expression, which only the feed's end is asked by.
CREATE TABLE feed (
    position     bigint GENERATED ALWAYS AS IDENTITY,
    event_id     uuid NOT NULL UNIQUE REFERENCES events (id) ON DELETE CASCADE,
    workspace_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, position)
);
CREATE UNIQUE INDEX feed_end ON feed ((position + 0));

-- The last position of a workspace that is no longer kept. Who has read to here or further has missed
-- nothing; who has not is told so.
CREATE TABLE feed_floor (
    workspace_id uuid PRIMARY KEY,
    position     bigint NOT NULL
);

-- Where the database was restored from an older one: what was given after lost_after is lost, and none of it is
-- given again, since positions go on after begins. Who gives positions locks this table, for which a right is
-- needed that nobody else has: no other login can hold up the feed.
CREATE TABLE feed_restores (
    lost_after bigint NOT NULL,
    begins     bigint PRIMARY KEY
);

INSERT INTO feed_queue (event_id, workspace_id) SELECT id, workspace_id FROM events ORDER BY at, id;

-- +goose StatementBegin
-- Whoever writes an event has it queued; nobody is notified in the transaction of a deed, whose commits
-- would stand in line for it.
CREATE FUNCTION queue_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO feed_queue (event_id, workspace_id) VALUES (NEW.id, NEW.workspace_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_queue AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION queue_event();

-- +goose StatementBegin
CREATE FUNCTION raise_feed_floor() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO feed_floor AS kept (workspace_id, position)
    SELECT workspace_id, max(position) FROM gone GROUP BY workspace_id ORDER BY workspace_id
    ON CONFLICT (workspace_id) DO UPDATE SET position = greatest(kept.position, excluded.position);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER feed_floor AFTER DELETE ON feed REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION raise_feed_floor();
CREATE TRIGGER feed_append_only BEFORE UPDATE OR TRUNCATE ON feed FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose StatementBegin
-- sequence_feed gives positions to at most so many events of the queue above a seq, in the queue's order,
-- and tells the other servers. It answers how many it took, the highest seq among them, and the feed's last
-- position. One caller at a time: each statement here sees what had committed when it began, so the lock,
-- a statement of its own, comes before the look at the queue. An event that is gone gets no position.
CREATE FUNCTION sequence_feed(above bigint, most integer, OUT taken integer, OUT top bigint, OUT head bigint)
LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    due   bigint[];
    given bigint;
BEGIN
    LOCK TABLE feed_restores IN EXCLUSIVE MODE;
    due := ARRAY(SELECT seq FROM feed_queue WHERE seq > above ORDER BY seq LIMIT most);
    taken := cardinality(due);
    top := due[taken];
    IF taken > 0 THEN
        WITH placed AS (
            INSERT INTO feed (event_id, workspace_id)
            SELECT q.event_id, q.workspace_id FROM feed_queue q JOIN events e ON e.id = q.event_id
            WHERE q.seq = ANY (due) ORDER BY q.seq
            ON CONFLICT (event_id) DO NOTHING
            RETURNING position)
        SELECT max(position) INTO given FROM placed;
        DELETE FROM feed_queue WHERE seq = ANY (due);
        IF given IS NOT NULL THEN
            PERFORM pg_notify('countersign_feed', given::text);
        END IF;
    END IF;
    head := coalesce(given, (SELECT max(position + 0) FROM feed), 0);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- renew_feed is for whoever restores a backup, once, before a server runs on it: cursors from the time that was
-- lost are told so, as what is not kept any more is, and are never taken for places among what comes now.
CREATE FUNCTION renew_feed() RETURNS void LANGUAGE plpgsql SET search_path = countersign, pg_catalog, pg_temp AS $$
DECLARE last bigint;
BEGIN
    LOCK TABLE feed_restores IN EXCLUSIVE MODE;
    last := greatest((SELECT max(position + 0) FROM feed), (SELECT max(position) FROM feed_floor), 0);
    INSERT INTO feed_restores (lost_after, begins)
    SELECT last, setval('feed_position_seq', coalesce(pg_sequence_last_value('feed_position_seq'::regclass), 0) + 4294967296);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['feed', 'feed_floor', 'feed_queue', 'feed_restores'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['feed', 'feed_floor'] LOOP
        EXECUTE format($p$CREATE POLICY in_workspace ON %I USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid)$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

CREATE POLICY everyone_reads ON feed_restores FOR SELECT USING (true);
-- The worker sequences the events of every workspace in one order.
CREATE POLICY worker_sequences ON events FOR SELECT TO countersign_worker USING (true);
CREATE POLICY worker_sequences ON feed TO countersign_worker USING (true);
CREATE POLICY worker_sequences ON feed_queue TO countersign_worker USING (true);
CREATE POLICY definer_queues ON feed_queue FOR INSERT TO countersign_definer WITH CHECK (true);
CREATE POLICY definer_raises ON feed_floor TO countersign_definer USING (true);

GRANT SELECT ON feed, feed_floor, feed_restores TO countersign_reader, countersign_worker;
GRANT UPDATE ON feed_restores TO countersign_worker; -- to lock it; no policy lets it change a row
GRANT SELECT ON SEQUENCE feed_position_seq TO countersign_reader;
GRANT INSERT (event_id, workspace_id) ON feed TO countersign_worker;
GRANT SELECT, DELETE ON feed_queue TO countersign_worker;
GRANT INSERT (event_id, workspace_id) ON feed_queue TO countersign_definer;
GRANT SELECT, INSERT, UPDATE ON feed_floor TO countersign_definer;

REVOKE ALL ON FUNCTION queue_event, raise_feed_floor, sequence_feed, renew_feed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sequence_feed TO countersign_worker;
GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to become the owner below, no longer
ALTER FUNCTION queue_event OWNER TO countersign_definer;
ALTER FUNCTION raise_feed_floor OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;

-- +goose Down
DROP TRIGGER events_queue ON events;
DROP POLICY worker_sequences ON events;
DROP FUNCTION sequence_feed, renew_feed;
DROP TABLE feed_queue, feed, feed_floor, feed_restores;
DROP FUNCTION queue_event, raise_feed_floor;
