//go:build !failpoints

package failpoint

import (
	"bytes"
	"os"
	"testing"
)

// Without the tag there is nothing to arm, and nothing in the program that reads the environment.
func TestWithoutTheTagThereIsNothing(t *testing.T) {
	if err := Hit(In(t.Context(), Confirm), Locked); err != nil {
		t.Error(err)
	}
	if In(t.Context(), Confirm) != t.Context() {
		t.Error("the context is another")
	}
	if n := testing.AllocsPerRun(100, func() { _ = Hit(In(t.Context(), Confirm), Locked) }); n != 0 {
		t.Errorf("a point costs %v allocations", n)
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if variable := []byte("COUNTERSIGN_" + string([]byte{'F', 'A', 'I', 'L'})); bytes.Contains(program, variable) {
		t.Errorf("the program knows %s…", variable)
	}
}
