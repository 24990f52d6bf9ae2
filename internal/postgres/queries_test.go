//go:build sqlcvet

package postgres_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

// TestEveryQueryIsVetted prepares every query on a migrated database and holds it against the rules of
// sqlc.yaml. It stands behind a build tag, since it builds sqlc: `make queries` runs it.
func TestEveryQueryIsVetted(t *testing.T) {
	vet := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/go.mod", "sqlc", "vet")
	vet.Dir = "../.."
	vet.Env = append(os.Environ(), "CGO_ENABLED=0", "SQLC_DATABASE_URL="+pgtest.New(t).OwnerURL+"&search_path=countersign,pg_catalog")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
