-- What an administrator has taken out of logs, rows of tool calls and what a model reads, beside what always is.

-- +goose Up

-- name is what a marker says: (redacted: name). pattern is an RE2 expression. samples: {"matches": […],
-- "leaves": […]}, the texts it was tried on. A pattern does not change: its id says what it is, and the ids of a
-- workspace's patterns say which hold.
CREATE TABLE redaction_patterns (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id           uuid NOT NULL,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
    pattern      text NOT NULL CHECK (length(pattern) BETWEEN 1 AND 1000),
    samples      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(samples) = 'object'),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by   uuid REFERENCES users (id),
    PRIMARY KEY (workspace_id, id),
    CONSTRAINT redaction_patterns_name UNIQUE (workspace_id, name)
);
ALTER TABLE redaction_patterns ENABLE ROW LEVEL SECURITY;
ALTER TABLE redaction_patterns FORCE ROW LEVEL SECURITY;
CREATE POLICY in_workspace ON redaction_patterns USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid);
CREATE TRIGGER redaction_patterns_append_only BEFORE UPDATE ON redaction_patterns FOR EACH ROW EXECUTE FUNCTION append_only();

-- Whoever writes the rows of tool calls reads what is to be left out of them. The owner alone writes patterns.
GRANT SELECT (workspace_id, id, name, pattern) ON redaction_patterns TO countersign_agent, countersign_gate;

-- JSON that was redacted: a statement that takes it is given a redact.JSON, which only redacting makes.
CREATE DOMAIN redacted AS jsonb;

-- +goose Down
DROP DOMAIN redacted;
DROP TABLE redaction_patterns;
