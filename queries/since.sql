-- name: VersionsOfProposal :many
-- The records that a card shows as they were, with the salt of their versions.
SELECT r.position, r.entity, r.key::text AS key, r.version::text AS version, p.salt
FROM proposal_records r JOIN proposals p ON p.id = r.proposal_id
WHERE r.proposal_id = @proposal_id AND r.version IS NOT NULL ORDER BY r.entity, r.position;
