//go:build failpoints

package chaos

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

// asServer makes this test's binary the program itself.
const asServer = "COUNTERSIGN_CHAOS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(serve())
	}
	if err := theCluster.begin(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pgtest.Main(m, tally.tell, theCluster.end)
}

// tally is what all tests together did and found.
var tally counts

type counts struct{ faults, decisions, violations atomic.Int64 }

func (c *counts) tell() {
	fmt.Printf("chaos: %d faults injected, %d decisions, %d violations\n", c.faults.Load(), c.decisions.Load(), c.violations.Load())
}
