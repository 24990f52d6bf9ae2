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
-- may have gaps.
CREATE TABLE feed (
    position     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    event_id     uuid NOT NULL UNIQUE REFERENCES events (id) ON DELETE CASCADE,
    workspace_id uuid NOT NULL
);
CREATE INDEX feed_of_workspace ON feed (workspace_id, position);

-- The last position of a workspace that is no longer kept. Who has read to here or further has missed
-- nothing; who has not is told so.
CREATE TABLE feed_floor (
    workspace_id uuid PRIMARY KEY,
    position     bigint NOT NULL
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
    PERFORM pg_advisory_xact_lock(hashtextextended('countersign feed', 0));
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
    head := coalesce(given, (SELECT max(position) FROM feed), 0);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['feed', 'feed_floor', 'feed_queue'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['feed', 'feed_floor'] LOOP
        EXECUTE format($p$CREATE POLICY in_workspace ON %I USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid)$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- The worker sequences the events of every workspace in one order.
CREATE POLICY worker_sequences ON events FOR SELECT TO countersign_worker USING (true);
CREATE POLICY worker_sequences ON feed TO countersign_worker USING (true);
CREATE POLICY worker_sequences ON feed_queue TO countersign_worker USING (true);
CREATE POLICY definer_queues ON feed_queue FOR INSERT TO countersign_definer WITH CHECK (true);
CREATE POLICY definer_raises ON feed_floor TO countersign_definer USING (true);

GRANT SELECT ON feed, feed_floor TO countersign_reader, countersign_worker;
GRANT SELECT ON SEQUENCE feed_position_seq TO countersign_reader;
GRANT INSERT (event_id, workspace_id) ON feed TO countersign_worker;
GRANT SELECT, DELETE ON feed_queue TO countersign_worker;
GRANT INSERT (event_id, workspace_id) ON feed_queue TO countersign_definer;
GRANT SELECT, INSERT, UPDATE ON feed_floor TO countersign_definer;

REVOKE ALL ON FUNCTION queue_event, raise_feed_floor, sequence_feed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sequence_feed TO countersign_worker;
GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to become the owner below, no longer
ALTER FUNCTION queue_event OWNER TO countersign_definer;
ALTER FUNCTION raise_feed_floor OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;

-- +goose Down
DROP TRIGGER events_queue ON events;
DROP POLICY worker_sequences ON events;
DROP FUNCTION sequence_feed;
DROP TABLE feed_queue, feed, feed_floor;
DROP FUNCTION queue_event, raise_feed_floor;
