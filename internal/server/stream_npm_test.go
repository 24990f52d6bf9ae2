package server_test

import (
	"os"
	"os/exec"
	"testing"
)

// The clients that integrators use. `make streams` installs and runs them; other runs need no Node.
func TestTheNpmClients(t *testing.T) {
	if os.Getenv("COUNTERSIGN_STREAMS") == "" {
		t.Skip("make streams runs this")
	}
	w := start(t)
	script := exec.CommandContext(t.Context(), "node", "streams.mjs", w.url, w.signIn("maria@harbor.example").token)
	script.Dir = "../../tools/streams"
	if out, err := script.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
