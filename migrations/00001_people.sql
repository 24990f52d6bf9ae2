-- +goose Up
CREATE TYPE role AS ENUM ('member', 'approver', 'operator', 'auditor');

CREATE TABLE workspaces (
    id         uuid PRIMARY KEY,
    slug       text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Users are disabled, never deleted: decisions name them.
CREATE TABLE users (
    id            uuid PRIMARY KEY,
    email         text NOT NULL CHECK (email = lower(email) AND email ~ '^[^@[:space:]]+@[^@[:space:]]+$' AND length(email) <= 320),
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    password_hash text,
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT users_email_key UNIQUE (email)
);

-- share_lock, here and below, means nothing: FOR SHARE asks for the right to update some column, and
-- this is the one the gate is given.
CREATE TABLE memberships (
    user_id      uuid NOT NULL REFERENCES users (id),
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    role         role NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    share_lock   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (user_id, workspace_id)
);

CREATE TYPE sign_in_kind AS ENUM ('cookie', 'bearer');

-- Every sign-in has a row that every request checks: ending it, disabling its user or removing the
-- membership ends everything at once.
CREATE TABLE sign_ins (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users (id),
    workspace_id uuid REFERENCES workspaces (id),
    kind         sign_in_kind NOT NULL,
    token_hash   bytea UNIQUE CHECK (length(token_hash) = 32),
    address      text NOT NULL,
    user_agent   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    share_lock   boolean NOT NULL DEFAULT false,
    CONSTRAINT sign_ins_of_person UNIQUE (id, user_id),
    CONSTRAINT sign_ins_bearer_has_token CHECK ((kind = 'bearer') = (token_hash IS NOT NULL))
);
CREATE INDEX sign_ins_user ON sign_ins (user_id) WHERE ended_at IS NULL;

CREATE TABLE api_tokens (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL,
    workspace_id uuid NOT NULL,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    token_hash   bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    scopes       text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'propose', 'subscribe'] AND cardinality(scopes) > 0),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    FOREIGN KEY (user_id) REFERENCES users (id),
    FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
);

-- The console's cookie sessions, kept by scs: token is a hash. A session that ended leaves a row
-- without data until it would have expired, so that a request in flight cannot bring it back.
CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);

-- Wrong passwords by account and by address, each under a hash.
CREATE TABLE sign_in_failures (
    subject       bytea PRIMARY KEY CHECK (length(subject) = 32),
    failures      integer NOT NULL,
    last_at       timestamptz NOT NULL,
    blocked_until timestamptz NOT NULL
);

-- +goose Down
DROP TABLE sign_in_failures, sessions, api_tokens, sign_ins, memberships, users, workspaces;
DROP TYPE sign_in_kind, role;
