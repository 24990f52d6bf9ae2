package postgres_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

const dumpFile = "../../migrations/schema.sql"

const dumpHead = `-- The schema countersign as the migrations leave it, for readers. Dumped, never edited:
-- UPDATE_SCHEMA=1 go test ./internal/postgres -run TestTheSchemaIsAsDumped

`

func TestTheSchemaIsAsDumped(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Skip("pg_dump is not installed")
	}
	version, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil || !strings.Contains(string(version), " 15.") {
		t.Skipf("schema.sql is written as pg_dump 15 writes it, and this is %s", version)
	}
	dumped, err := exec.CommandContext(t.Context(), program, "--schema-only", "--schema=countersign", "--exclude-table=countersign.goose_db_version*", pgtest.New(t).OwnerURL).Output()
	if err != nil {
		t.Fatal(err)
	}
	now := dumpHead + plain(string(dumped))
	if os.Getenv("UPDATE_SCHEMA") != "" {
		if err := os.WriteFile(dumpFile, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(dumpFile)
	if err != nil || string(kept) != now {
		t.Errorf("migrations/schema.sql is not what the migrations make (%v): UPDATE_SCHEMA=1 go test ./internal/postgres -run TestTheSchemaIsAsDumped", err)
	}
}

var (
	noise = regexp.MustCompile(`(?m)^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*|ALTER .* OWNER TO countersign_owner;)\n`)
	gaps  = regexp.MustCompile(`\n{3,}`)
)

// plain leaves out what differs from server to server, or says nothing.
func plain(dump string) string {
	return strings.TrimSpace(gaps.ReplaceAllString(noise.ReplaceAllString(dump, ""), "\n\n")) + "\n"
}
