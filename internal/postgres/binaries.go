package postgres

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries says that the machine has no PostgreSQL server to start.
var ErrNoBinaries = errors.New("PostgreSQL 15 or newer is not installed here: install it (`apt-get install -y postgresql`), name its bin directory in COUNTERSIGN_PG_BIN, or use a running server with DATABASE_URL and `countersign serve`")

// findBinaries gives the bin directory of a server of the major version asked for, or of the newest
// there is where none is. COUNTERSIGN_PG_BIN comes before everything else.
func findBinaries(ctx context.Context, major string) (string, error) {
	for _, directory := range binaryDirectories() {
		if hasServer(directory) && (major == "" || majorOf(ctx, directory) == major) {
			return directory, nil
		}
	}
	if major != "" {
		return "", errors.New("the data directory was made by PostgreSQL " + major + ", which is not installed here: install that version, or start over with --reset")
	}
	return "", ErrNoBinaries
}

func binaryDirectories() []string {
	if named := os.Getenv("COUNTERSIGN_PG_BIN"); named != "" {
		return []string{named}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return versionIn(b) - versionIn(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(initdb); err == nil {
			found = append(found, filepath.Dir(resolved))
		}
	}
	return found
}

func hasServer(directory string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(directory, program)); err != nil {
			return false
		}
	}
	return true
}

// versionIn reads the major version out of a path such as /usr/lib/postgresql/15/bin; 0 where there is none.
func versionIn(directory string) int {
	name := filepath.Base(filepath.Dir(directory))
	number, _ := strconv.Atoi(name[strings.LastIndexAny(name, "-@")+1:])
	return number
}

// majorOf asks the server itself: "postgres (PostgreSQL) 15.18 (Debian …)" is "15".
func majorOf(ctx context.Context, directory string) string {
	said, err := exec.CommandContext(ctx, filepath.Join(directory, "postgres"), "--version").Output()
	if err != nil {
		return ""
	}
	_, version, _ := strings.Cut(string(said), ") ")
	return version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
}
