package pgtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/record"
)

// Registry gives the repository's countersign.yaml, bound to the database.
func (d *DB) Registry(t testing.TB) *record.Registry {
	t.Helper()
	registry, err := record.Load(t.Context(), d.Pools.Reader, filepath.Join(root(t), "countersign.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// root is the repository's directory: tests run in their package's.
func root(t testing.TB) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for directory != filepath.Dir(directory) {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory
		}
		directory = filepath.Dir(directory)
	}
	t.Fatal("no go.mod in any directory above")
	return ""
}
