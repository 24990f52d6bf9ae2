-- What a record that a proposal created was like when it was written, so that who undoes it learns whether it
-- was edited since.

-- +goose Up

-- version: as that of proposal_records, with the proposal's salt, once everything was written and its constraints
-- were checked. A record that could not be read again has no row here.
CREATE TABLE proposal_created (
    proposal_id  uuid NOT NULL,
    workspace_id uuid NOT NULL,
    position     integer NOT NULL,
    version      text NOT NULL CHECK (version ~ '^[0-9a-f]{64}$'),
    PRIMARY KEY (proposal_id, position),
    FOREIGN KEY (proposal_id, position) REFERENCES proposal_records (proposal_id, position) ON DELETE CASCADE
);
CREATE TRIGGER proposal_created_append_only BEFORE UPDATE ON proposal_created FOR EACH ROW EXECUTE FUNCTION append_only();

ALTER TABLE proposal_created ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposal_created FORCE ROW LEVEL SECURITY;
CREATE POLICY in_workspace ON proposal_created USING (workspace_id = NULLIF(current_setting('countersign.workspace', true), '')::uuid);

GRANT SELECT ON proposal_created TO countersign_gate, countersign_agent, countersign_reader, countersign_worker, countersign_definer;
GRANT INSERT ON proposal_created TO countersign_gate;

-- +goose Down
DROP TABLE proposal_created;
