-- What a host's administrator does once: two roles that carry the host's own rights, and who may become
-- them. The gate writes as harbor_write; what only reads becomes harbor_read and nothing else.
DO $$
DECLARE host text;
BEGIN
    FOREACH host IN ARRAY ARRAY['harbor_read', 'harbor_write'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = host) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT', host);
        END IF;
    END LOOP;
END $$;

GRANT harbor_read TO countersign_gate, countersign_agent, countersign_reader;
GRANT harbor_write TO countersign_gate;
