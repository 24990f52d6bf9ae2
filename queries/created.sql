-- name: KeepCreated :exec
-- What the records that the locked proposal has just created are like, by position.
INSERT INTO proposal_created (proposal_id, workspace_id, position, version)
SELECT @proposal_id, @workspace_id, unnest(@positions::integer[]), unnest(@versions::text[]);

-- name: CreatedBy :many
-- What they were like when they were written, with the salt of the digests.
SELECT c.position, c.version, p.salt
FROM proposal_created c JOIN proposals p ON p.id = c.proposal_id
WHERE c.proposal_id = @proposal_id ORDER BY c.position;
