package server_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/server"
)

// A server does not start where a login could do what only the gate may, and says which right to take back.
func TestAServerDoesNotStartWithARightTooMany(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := server.Config{OwnerURL: db.OwnerURL, Registry: yaml, CookieName: "countersign", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if _, err := db.Owner.Exec(t.Context(), `GRANT INSERT ON proposal_decisions TO countersign_agent`); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), c)
	if err == nil {
		s.Close()
	}
	const mend = `REVOKE INSERT ON proposal_decisions FROM countersign_agent`
	if rights := (*postgres.RightsError)(nil); !errors.As(err, &rights) || !strings.Contains(err.Error(), mend) {
		t.Errorf("it starts: %v", err)
	}
}
