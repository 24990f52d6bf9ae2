-- The roles of Countersign. `countersign migrate --grants` prints this for whoever administers the
-- server; `countersign demo` and the tests run it. It can be run again.
-- Give each login a password (or a socket, or a certificate) that suits the server; the service opens
-- its pools as these logins and never as the owner.

DO $$
DECLARE login text;
BEGIN
    -- Owns the schema and migrates it. BYPASSRLS: an administrator's queries and dumps see every workspace.
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'countersign_owner') THEN
        CREATE ROLE countersign_owner LOGIN NOINHERIT BYPASSRLS;
    END IF;
    -- decides and writes host records; runs tools and reads; reads only; expires; signs in
    FOREACH login IN ARRAY ARRAY['countersign_gate', 'countersign_agent', 'countersign_reader', 'countersign_worker', 'countersign_identity'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = login) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOINHERIT', login);
        END IF;
    END LOOP;
    -- Owns the functions through which the agent proposes. Nobody signs in as it, and it writes no host record.
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'countersign_definer') THEN
        CREATE ROLE countersign_definer NOLOGIN NOINHERIT;
    END IF;
END $$;

GRANT countersign_definer TO countersign_owner; -- to hand the functions over when migrating
