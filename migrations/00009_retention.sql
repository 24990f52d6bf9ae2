-- Retention: what the worker may delete, and the tables of the queue that retention runs on. And whoever signed in is
-- audited with their address.

-- +goose Up

-- From when on a proposal is old: since it ended, or, where nobody has stored its end, since it lapsed. A CASE, since
-- under row-level security an index is not searched by a coalesce.
CREATE INDEX proposals_oldest ON proposals (workspace_id, (CASE WHEN resolved_at IS NULL THEN expires_at ELSE resolved_at END));
CREATE INDEX tool_calls_oldest ON tool_calls (workspace_id, finished_at) WHERE proposal_id IS NOT NULL;

-- What goes with a proposal goes by its foreign keys; the worker has no right to delete any of that by itself.
GRANT DELETE ON proposals, tool_calls TO countersign_worker;
GRANT SELECT, DELETE ON usage TO countersign_worker;
CREATE POLICY worker_forgets ON proposals AS RESTRICTIVE FOR DELETE TO countersign_worker
    USING (status NOT IN ('pending', 'awaiting_approval') OR expires_at <= clock_timestamp());
CREATE POLICY worker_forgets ON tool_calls AS RESTRICTIVE FOR DELETE TO countersign_worker
    USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid AND finished_at IS NOT NULL AND proposal_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM proposals p WHERE p.id = proposal_id));
CREATE POLICY worker_forgets ON usage AS RESTRICTIVE FOR DELETE TO countersign_worker USING (at < clock_timestamp() - interval '2 months');

-- +goose StatementBegin
-- Where a deed was a person's, its entry says from where they signed in, whichever statement wrote it.
CREATE FUNCTION audit_address() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_catalog, pg_temp AS $$
BEGIN
    NEW.address := (SELECT s.address FROM sign_ins s WHERE s.id = NEW.sign_in_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_address BEFORE INSERT ON audit_events FOR EACH ROW WHEN (NEW.sign_in_id IS NOT NULL AND NEW.address IS NULL) EXECUTE FUNCTION audit_address();
REVOKE ALL ON FUNCTION audit_address FROM PUBLIC;
GRANT CREATE ON SCHEMA countersign TO countersign_definer; -- to become the owner below, no longer
ALTER FUNCTION audit_address OWNER TO countersign_definer;
REVOKE CREATE ON SCHEMA countersign FROM countersign_definer;

-- From here on it is the schema of River (github.com/riverqueue/river, version 8 of its line "main"), as its own
-- migrations leave it, under the Mozilla Public License 2.0. Jobs hold nothing of a workspace.
CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');

CREATE TABLE river_job (
    id            bigserial PRIMARY KEY,
    state         river_job_state NOT NULL DEFAULT 'available',
    attempt       smallint NOT NULL DEFAULT 0,
    max_attempts  smallint NOT NULL DEFAULT 25,
    attempted_at  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    finalized_at  timestamptz,
    scheduled_at  timestamptz NOT NULL DEFAULT now(),
    priority      smallint NOT NULL DEFAULT 1,
    args          jsonb NOT NULL,
    attempted_by  text[],
    errors        jsonb[],
    kind          text NOT NULL,
    metadata      jsonb NOT NULL DEFAULT '{}',
    queue         text NOT NULL DEFAULT 'default',
    tags          varchar(255)[] NOT NULL DEFAULT '{}',
    unique_key    bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))),
    CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (char_length(queue) > 0 AND char_length(queue) < 128),
    CONSTRAINT kind_length CHECK (char_length(kind) > 0 AND char_length(kind) < 128)
);

-- +goose StatementBegin
CREATE FUNCTION river_job_state_in_bitmask(bitmask bit(8), state river_job_state) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
-- +goose StatementEnd

CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_args_index ON river_job USING gin (args);
CREATE INDEX river_job_metadata_index ON river_job USING gin (metadata);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND river_job_state_in_bitmask(unique_states, state);

CREATE UNLOGGED TABLE river_leader (
    elected_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    leader_id  text NOT NULL,
    name       text PRIMARY KEY DEFAULT 'default',
    CONSTRAINT name_length CHECK (name = 'default'),
    CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128)
);

CREATE TABLE river_queue (
    name       text PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    metadata   jsonb NOT NULL DEFAULT '{}',
    paused_at  timestamptz,
    updated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE river_notification (
    id         bigserial PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    payload    text NOT NULL,
    topic      text NOT NULL,
    CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
CREATE INDEX river_notification_created_at_idx ON river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON river_notification (topic, id);

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['river_job', 'river_leader', 'river_queue', 'river_notification'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY worker_works ON %I TO countersign_worker USING (true)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO countersign_worker', name);
    END LOOP;
END $$;
-- +goose StatementEnd
GRANT USAGE, SELECT ON SEQUENCE river_job_id_seq, river_notification_id_seq TO countersign_worker;
REVOKE ALL ON FUNCTION river_job_state_in_bitmask FROM PUBLIC;
GRANT EXECUTE ON FUNCTION river_job_state_in_bitmask TO countersign_worker;

-- +goose Down
DROP TRIGGER audit_events_address ON audit_events;
DROP FUNCTION audit_address;
DROP TABLE river_notification, river_queue, river_leader, river_job;
DROP FUNCTION river_job_state_in_bitmask;
DROP TYPE river_job_state;
DROP POLICY worker_forgets ON proposals;
DROP POLICY worker_forgets ON tool_calls;
DROP POLICY worker_forgets ON usage;
REVOKE DELETE ON proposals, tool_calls FROM countersign_worker;
REVOKE SELECT, DELETE ON usage FROM countersign_worker;
DROP INDEX proposals_oldest, tool_calls_oldest;
