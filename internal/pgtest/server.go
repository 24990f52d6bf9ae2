package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign/countersign/internal/postgres"
)

// server is where this process's databases are: one for the process, started when the first test asks.
type server struct {
	url      func(user, database string) string
	admin    *pgxpool.Pool // as superuser, in the database postgres
	template string
	cluster  *postgres.Cluster // nil where it is not ours
	data     string
}

var shared = sync.OnceValues(func() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return startServer(ctx)
})

var started bool

// Main runs a package's tests, ends what else they used, and stops the server:
// `func TestMain(m *testing.M) { pgtest.Main(m) }`.
// The server is one of this process, unless COUNTERSIGN_TEST_DATABASE_URL names another as superuser.
func Main(m *testing.M, end ...func()) {
	code := m.Run()
	for _, what := range end {
		what()
	}
	if started {
		if s, err := shared(); err == nil {
			s.stop()
		}
	}
	os.Exit(code)
}

func startServer(ctx context.Context) (*server, error) {
	started = true
	s := &server{}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.admin, err = pgxpool.New(ctx, s.url("", "postgres")); err == nil {
		s.template, err = makeTemplate(ctx, s)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// find points s at the server that was named, or at one of its own.
func (s *server) find(ctx context.Context) error {
	if named := os.Getenv("COUNTERSIGN_TEST_DATABASE_URL"); named != "" {
		s.url = within(named)
		return nil
	}
	sweep()
	data, err := os.MkdirTemp("/tmp", leftover)
	if err != nil {
		return err
	}
	s.data = data
	if s.cluster, err = postgres.StartCluster(ctx, postgres.ClusterOptions{Data: data, Fast: true}); err != nil {
		_ = os.RemoveAll(data)
		return fmt.Errorf("start a server for the tests: %w", err)
	}
	s.url = func(user, database string) string {
		if user == "" {
			user = postgres.Superuser
		}
		return s.cluster.URL(user, database)
	}
	return nil
}

func (s *server) stop() {
	if s.admin != nil {
		s.admin.Close()
	}
	if s.cluster != nil {
		_ = s.cluster.Stop()
		_ = os.RemoveAll(s.data)
	}
}

const leftover = "countersign-test-"

// sweep removes what processes left that were killed before they could.
func sweep() {
	directories, _ := filepath.Glob("/tmp/" + leftover + "*")
	for _, directory := range directories {
		if info, err := os.Stat(directory); err == nil && time.Since(info.ModTime()) > 10*time.Minute && !postgres.InUse(directory) {
			_ = os.RemoveAll(directory)
		}
	}
}

// need gives the process's server or ends the test.
func need(t testing.TB) *server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shortName makes a name for a database of this process alone.
func shortName(process, number int64) string {
	return strings.ToLower(fmt.Sprintf("cs_test_%d_%d_%x", process, number, time.Now().UnixNano()&0xffffff))
}
