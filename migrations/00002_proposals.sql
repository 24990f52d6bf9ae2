-- +goose Up
CREATE TYPE proposal_status AS ENUM ('pending', 'awaiting_approval', 'applied', 'rejected', 'disapproved', 'expired', 'withdrawn', 'superseded', 'failed');
CREATE TYPE write_operation AS ENUM ('create', 'update', 'delete', 'bulk_update', 'action');
CREATE TYPE channel AS ENUM ('chat', 'mcp', 'api', 'console');
CREATE TYPE decision_kind AS ENUM ('confirm', 'reject', 'approve', 'disapprove', 'withdraw', 'supersede', 'expire');
CREATE TYPE event_type AS ENUM ('proposed', 'extended', 'confirmed', 'approved', 'applied', 'rejected', 'disapproved', 'expired', 'withdrawn', 'superseded', 'failed');
CREATE TYPE failure_code AS ENUM ('record_changed', 'record_gone', 'record_unreadable', 'not_permitted', 'switched_off', 'constraint_violation', 'invalid_value', 'source_unavailable', 'source_refused', 'outcome_unknown', 'internal');
CREATE TYPE message_role AS ENUM ('user', 'assistant');
CREATE TYPE message_status AS ENUM ('complete', 'cut_short', 'failed');
CREATE TYPE turn_status AS ENUM ('running', 'complete', 'cut_short', 'failed');
CREATE TYPE turn_failure_code AS ENUM ('model_unavailable', 'budget_spent', 'switched_off', 'cut_short', 'internal');
CREATE TYPE tool_call_status AS ENUM ('started', 'succeeded', 'refused', 'failed', 'cut_short');

CREATE TABLE conversations (
    id           uuid PRIMARY KEY,
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    user_id      uuid NOT NULL REFERENCES users (id),
    title        text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX conversations_of_user ON conversations (workspace_id, user_id, id DESC);

-- One message being answered. The lease is renewed by the server that answers; a turn whose lease
-- lapsed is cut short by whoever sees it.
CREATE TABLE turns (
    id              uuid PRIMARY KEY,
    workspace_id    uuid NOT NULL REFERENCES workspaces (id),
    conversation_id uuid NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    user_id         uuid NOT NULL REFERENCES users (id),
    idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 200),
    request_hash    bytea NOT NULL CHECK (length(request_hash) = 32),
    status          turn_status NOT NULL DEFAULT 'running',
    failure_code    turn_failure_code,
    failure_message text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until     timestamptz NOT NULL,
    finished_at     timestamptz,
    CONSTRAINT turns_key UNIQUE (conversation_id, idempotency_key),
    CONSTRAINT turns_end CHECK ((status = 'running') = (finished_at IS NULL)),
    CONSTRAINT turns_failure CHECK ((status IN ('cut_short', 'failed')) = (failure_code IS NOT NULL))
);

CREATE INDEX turns_running ON turns (lease_until) WHERE status = 'running';

CREATE TABLE messages (
    id              uuid PRIMARY KEY,
    workspace_id    uuid NOT NULL REFERENCES workspaces (id),
    conversation_id uuid NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    turn_id         uuid NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    role            message_role NOT NULL,
    status          message_status NOT NULL DEFAULT 'complete',
    content         text NOT NULL,
    citations       jsonb NOT NULL DEFAULT '[]',
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT messages_one_a_role UNIQUE (turn_id, role)
);
CREATE INDEX messages_of_conversation ON messages (conversation_id, id);

-- One call of a tool, or one decision. input holds what may be logged of it, never the record's values
-- that exposure rules hide.
CREATE TABLE tool_calls (
    id              uuid PRIMARY KEY,
    workspace_id    uuid NOT NULL REFERENCES workspaces (id),
    user_id         uuid REFERENCES users (id),
    sign_in_id      uuid REFERENCES sign_ins (id),
    token_id        uuid REFERENCES api_tokens (id),
    conversation_id uuid,
    turn_id         uuid,
    proposal_id     uuid,
    tool            text NOT NULL CHECK (length(tool) <= 64),
    entity          text,
    input           jsonb NOT NULL DEFAULT '{}',
    status          tool_call_status NOT NULL DEFAULT 'started',
    code            text,
    started_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at     timestamptz,
    CONSTRAINT tool_calls_end CHECK ((status = 'started') = (finished_at IS NULL))
);
CREATE INDEX tool_calls_unfinished ON tool_calls (started_at) WHERE status = 'started';
CREATE INDEX tool_calls_newest ON tool_calls (workspace_id, id DESC);

CREATE TABLE proposals (
    id                 uuid PRIMARY KEY,
    workspace_id       uuid NOT NULL REFERENCES workspaces (id),
    number             bigint NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
    status             proposal_status NOT NULL DEFAULT 'pending',
    tool               text NOT NULL CHECK (length(tool) BETWEEN 1 AND 64),
    entity             text NOT NULL CHECK (entity ~ '^[^.]+\.[^.]+$'),
    module             text NOT NULL GENERATED ALWAYS AS (split_part(entity, '.', 1)) STORED,
    operation          write_operation NOT NULL,
    action_kind        text NOT NULL CHECK (length(action_kind) BETWEEN 1 AND 64),
    headline           text NOT NULL CHECK (length(headline) BETWEEN 1 AND 200 AND headline !~ '[\n\r]'),
    assistant_note     text CHECK (length(assistant_note) <= 2000),
    fingerprint        text NOT NULL CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
    salt               bytea NOT NULL CHECK (length(salt) = 16),
    acting_user_id     uuid NOT NULL REFERENCES users (id),
    token_id           uuid REFERENCES api_tokens (id),
    channel            channel NOT NULL,
    client_name        text CHECK (length(client_name) <= 100),
    conversation_id    uuid REFERENCES conversations (id) ON DELETE SET NULL,
    turn_id            uuid REFERENCES turns (id) ON DELETE SET NULL,
    tool_call_id       uuid REFERENCES tool_calls (id) ON DELETE SET NULL,
    approvals_needed   integer NOT NULL CHECK (approvals_needed BETWEEN 0 AND 20),
    requires_approval  boolean NOT NULL GENERATED ALWAYS AS (approvals_needed > 0) STORED,
    preview_only       boolean NOT NULL,
    lifetime           interval NOT NULL CHECK (lifetime BETWEEN interval '1 second' AND interval '30 days'),
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at         timestamptz NOT NULL CHECK (isfinite(expires_at)),
    extended_at        timestamptz,
    resolved_at        timestamptz,
    outcome_record_id  text,
    outcome_record     jsonb,
    outcome_affected   integer,
    failure_code       failure_code,
    failure_message    text,
    failure_field      text,
    superseded_by_id   uuid REFERENCES proposals (id) ON DELETE SET NULL,
    revert_of_id       uuid REFERENCES proposals (id) ON DELETE SET NULL,
    idempotency_key    text CHECK (length(idempotency_key) BETWEEN 1 AND 200),
    request_hash       bytea CHECK (length(request_hash) = 32),
    CONSTRAINT proposals_key UNIQUE (workspace_id, acting_user_id, idempotency_key),
    CONSTRAINT proposals_key_hash CHECK ((idempotency_key IS NULL) = (request_hash IS NULL)),
    CONSTRAINT proposals_resolved CHECK ((status IN ('pending', 'awaiting_approval')) = (resolved_at IS NULL)),
    CONSTRAINT proposals_outcome CHECK ((status = 'applied') = (outcome_affected IS NOT NULL)),
    CONSTRAINT proposals_outcome_record CHECK (status = 'applied' OR (outcome_record IS NULL AND outcome_record_id IS NULL)),
    CONSTRAINT proposals_failure CHECK ((status = 'failed') = (failure_code IS NOT NULL AND failure_message IS NOT NULL)),
    CONSTRAINT proposals_failure_field CHECK (status = 'failed' OR failure_field IS NULL),
    CONSTRAINT proposals_approval CHECK (status NOT IN ('awaiting_approval', 'disapproved') OR approvals_needed > 0)
);
CREATE INDEX proposals_newest ON proposals (workspace_id, number DESC);
CREATE INDEX proposals_of_user ON proposals (acting_user_id, status, number DESC);
CREATE INDEX proposals_pending ON proposals (workspace_id, acting_user_id, number DESC) WHERE status = 'pending';
CREATE INDEX proposals_open_expiry ON proposals (expires_at) WHERE status IN ('pending', 'awaiting_approval');
CREATE INDEX proposals_created ON proposals (created_at);
CREATE INDEX proposals_of_conversation ON proposals (conversation_id, number DESC) WHERE conversation_id IS NOT NULL;
CREATE INDEX proposals_of_turn ON proposals (turn_id) WHERE turn_id IS NOT NULL;

-- What a proposal would do, record by record, in the order it is done. before: the exposed values when
-- it was proposed, by field. changes: [{field, label, type, from, to}], see card.Change. version: a
-- digest of the whole record, never its values.
CREATE TABLE proposal_records (
    proposal_id  uuid NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    workspace_id uuid NOT NULL,
    position     integer NOT NULL CHECK (position >= 1),
    entity       text NOT NULL,
    operation    write_operation NOT NULL CHECK (operation IN ('create', 'update', 'delete')),
    key          text,
    label        text NOT NULL,
    url          text,
    version      text CHECK (version ~ '^[0-9a-f]{64}$'),
    before       jsonb NOT NULL,
    changes      jsonb NOT NULL CHECK (jsonb_typeof(changes) = 'array'),
    PRIMARY KEY (proposal_id, position),
    CONSTRAINT proposal_records_version CHECK (operation = 'create' OR (key IS NOT NULL AND version IS NOT NULL))
);
CREATE INDEX proposal_records_of_record ON proposal_records (workspace_id, entity, key);

-- Who decided what, on which card. The unique keys are what "once" rests on.
CREATE TABLE proposal_decisions (
    id           bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    proposal_id  uuid NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    workspace_id uuid NOT NULL,
    kind         decision_kind NOT NULL,
    final        boolean NOT NULL,
    person_id    uuid REFERENCES users (id),
    sign_in_id   uuid,
    token_id     uuid REFERENCES api_tokens (id),
    fingerprint  text CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
    reason       text CHECK (length(reason) BETWEEN 1 AND 2000),
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (sign_in_id, person_id) REFERENCES sign_ins (id, user_id),
    CONSTRAINT decisions_by_a_signed_in_person CHECK (
        CASE kind
            WHEN 'expire' THEN person_id IS NULL AND sign_in_id IS NULL AND token_id IS NULL
            WHEN 'withdraw' THEN (person_id IS NULL) = (sign_in_id IS NULL) AND (person_id IS NULL OR token_id IS NULL)
            ELSE person_id IS NOT NULL AND sign_in_id IS NOT NULL AND token_id IS NULL
        END),
    CONSTRAINT decisions_on_a_card CHECK (kind NOT IN ('confirm', 'approve', 'supersede') OR fingerprint IS NOT NULL),
    CONSTRAINT decisions_that_wait CHECK (final OR kind IN ('confirm', 'approve'))
);
CREATE UNIQUE INDEX decisions_one_final ON proposal_decisions (proposal_id) WHERE final;
CREATE UNIQUE INDEX decisions_one_confirm ON proposal_decisions (proposal_id) WHERE kind = 'confirm';
CREATE UNIQUE INDEX decisions_one_vote ON proposal_decisions (proposal_id, person_id) WHERE kind IN ('approve', 'disapprove');
CREATE INDEX decisions_of_proposal ON proposal_decisions (proposal_id, id);

-- Every change of a proposal, written in the transaction of the deed.
CREATE TABLE events (
    id           uuid PRIMARY KEY,
    workspace_id uuid NOT NULL,
    proposal_id  uuid NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    type         event_type NOT NULL,
    status       proposal_status NOT NULL,
    actor_id     uuid REFERENCES users (id),
    at           timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX events_of_proposal ON events (proposal_id, id);

-- Append-only, in the transaction of the deed, without values. It outlives the proposal, so it names
-- everything by id and references nothing.
CREATE TABLE audit_events (
    id              uuid PRIMARY KEY,
    workspace_id    uuid NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    verb            text NOT NULL,
    outcome         text NOT NULL,
    actor_id        uuid,
    sign_in_id      uuid,
    token_id        uuid,
    address         text,
    conversation_id uuid,
    proposal_id     uuid,
    tool            text,
    entity          text,
    operation       text,
    fingerprint     text
);
CREATE INDEX audit_events_newest ON audit_events (workspace_id, id DESC);

-- What everyone reads. Expiry is evaluated here, by the database's clock, and so is the end of the turn
-- that proposed, so that list, detail, filter and decision agree whether or not anyone has stored it yet.
-- The salt is in no API.
CREATE VIEW proposals_read WITH (security_invoker = true) AS
SELECT
    p.id, p.workspace_id, p.number,
    (CASE
        WHEN p.status NOT IN ('pending', 'awaiting_approval') THEN p.status
        WHEN p.expires_at <= clock_timestamp() THEN 'expired'
        WHEN p.turn_id IS NOT NULL AND EXISTS (SELECT FROM turns t WHERE t.id = p.turn_id
            AND (t.status IN ('cut_short', 'failed') OR t.status = 'running' AND t.lease_until <= clock_timestamp())) THEN 'withdrawn'
        ELSE p.status END)::proposal_status AS status,
    p.tool, p.entity, p.module, p.operation, p.action_kind, p.headline, p.assistant_note, p.fingerprint,
    p.acting_user_id, p.token_id, p.channel, p.client_name, p.conversation_id, p.turn_id,
    p.approvals_needed, p.requires_approval, p.preview_only, p.lifetime, p.created_at, p.expires_at, p.extended_at,
    (CASE WHEN p.status IN ('pending', 'awaiting_approval') AND p.expires_at <= clock_timestamp() THEN p.expires_at ELSE p.resolved_at END)::timestamptz AS resolved_at,
    p.outcome_record_id, p.outcome_record, p.outcome_affected,
    p.failure_code, p.failure_message, p.failure_field, p.superseded_by_id, p.revert_of_id
FROM proposals p;

-- +goose Down
DROP VIEW proposals_read;
DROP TABLE audit_events, events, proposal_decisions, proposal_records, proposals, tool_calls, messages, turns, conversations;
DROP TYPE tool_call_status, turn_failure_code, turn_status, message_status, message_role, failure_code, event_type, decision_kind, channel, write_operation, proposal_status;
