package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/postgres"
)

// launches names a data directory: this program, run again, is then a launcher that waits to be killed.
const launches = "COUNTERSIGN_TEST_LAUNCHES"

func TestMain(m *testing.M) {
	if data := os.Getenv(launches); data != "" {
		cluster, err := postgres.StartCluster(context.Background(), postgres.ClusterOptions{Data: data})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(cluster.URL("postgres", "countersign"))
		<-cluster.Done()
		os.Exit(0)
	}
	pgtest.Main(m)
}

func start(t *testing.T, options postgres.ClusterOptions) *postgres.Cluster {
	t.Helper()
	cluster, err := postgres.StartCluster(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	return cluster
}

// do runs a statement on a cluster's database and gives the text of its answer, if it has one.
func do(t *testing.T, url, statement string) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), statement).Scan(&answer); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return answer
}

func postmaster(t *testing.T, data string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(data, "pgdata", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAClusterKeepsItsDataFromStartToStart(t *testing.T) {
	t.Parallel()
	options := postgres.ClusterOptions{Data: filepath.Join(t.TempDir(), "deep", "data")}
	cluster := start(t, options)
	owner := cluster.URL("countersign_owner", "countersign")
	do(t, owner, `CREATE TABLE kept AS SELECT 'yes' AS answer`)
	if err := cluster.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if err := cluster.Stop(); err != nil {
		t.Fatalf("stop again: %v", err)
	}
	again := start(t, options)
	if again.URL("countersign_owner", "countersign") != owner {
		t.Error("the URL is another one")
	}
	if answer := do(t, owner, `SELECT answer FROM kept`); answer != "yes" {
		t.Errorf("answer is %q", answer)
	}
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}
	options.Reset = true
	start(t, options)
	if answer := do(t, owner, `SELECT to_regclass('kept')::text WHERE to_regclass('kept') IS NOT NULL`); answer != "" {
		t.Errorf("after a reset there still is %q", answer)
	}
}

func TestASecondLauncherIsRefused(t *testing.T) {
	t.Parallel()
	options := postgres.ClusterOptions{Data: t.TempDir(), Fast: true}
	cluster := start(t, options)
	options.Reset = true
	_, err := postgres.StartCluster(t.Context(), options)
	var inUse *postgres.InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("the second launcher got %v", err)
	}
	if want := fmt.Sprintf("process %d", os.Getpid()); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("%q does not name %s and --data", err, want)
	}
	do(t, cluster.URL("postgres", "countersign"), `SELECT 'still there'`)
}

func TestTwoClustersAreApart(t *testing.T) {
	t.Parallel()
	one := start(t, postgres.ClusterOptions{Data: t.TempDir(), Fast: true})
	other := start(t, postgres.ClusterOptions{Data: t.TempDir(), Fast: true})
	do(t, one.URL("postgres", "countersign"), `CREATE TABLE mine ()`)
	if found := do(t, other.URL("postgres", "countersign"), `SELECT 'found' FROM pg_class WHERE relname = 'mine'`); found != "" {
		t.Error("the other cluster has the table too")
	}
}

func TestAClusterStartsAfterItsServerWasKilled(t *testing.T) {
	t.Parallel()
	options := postgres.ClusterOptions{Data: t.TempDir()}
	cluster := start(t, options)
	url := cluster.URL("postgres", "countersign")
	do(t, url, `CREATE TABLE kept AS SELECT 'yes' AS answer`)
	if err := syscall.Kill(postmaster(t, options.Data), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-cluster.Done()
	if err := cluster.Stop(); err == nil {
		t.Error("a killed server is said to have stopped well")
	}
	start(t, options)
	if answer := do(t, url, `SELECT answer FROM kept`); answer != "yes" {
		t.Errorf("answer is %q", answer)
	}
}

func TestAClusterStartsAfterItsLauncherWasKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	launcher, url := launch(t, data)
	do(t, url, `CREATE TABLE kept AS SELECT 'yes' AS answer`)
	server := postmaster(t, data)
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait()
	start(t, postgres.ClusterOptions{Data: data})
	if answer := do(t, url, `SELECT answer FROM kept`); answer != "yes" {
		t.Errorf("answer is %q", answer)
	}
	if now := postmaster(t, data); now == server {
		t.Errorf("the server is still process %d", server)
	}
}

// Neither had a moment to tidy up, and the dead server lies about until someone collects it.
func TestAClusterStartsAfterEverythingWasKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	launcher, url := launch(t, data)
	do(t, url, `CREATE TABLE kept AS SELECT 'yes' AS answer`)
	if err := syscall.Kill(postmaster(t, data), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Process.Kill()
	_ = launcher.Wait()
	start(t, postgres.ClusterOptions{Data: data})
	if answer := do(t, url, `SELECT answer FROM kept`); answer != "yes" {
		t.Errorf("answer is %q", answer)
	}
}

func TestAServerLeavesWithItsLauncher(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	launcher, url := launch(t, data)
	_, socket, _ := strings.Cut(url, "host=")
	defer func() { _ = os.Remove(socket) }()
	server := postmaster(t, data)
	_ = launcher.Process.Kill()
	_ = launcher.Wait()
	gone := func() bool {
		_, err := os.Stat(filepath.Join(data, "pgdata", "postmaster.pid"))
		return os.IsNotExist(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !gone(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlives its launcher", server)
		}
	}
}

// launch starts a cluster in a process of its own.
func launch(t *testing.T, data string) (launcher *exec.Cmd, url string) {
	t.Helper()
	launcher = exec.CommandContext(context.Background(), os.Args[0])
	launcher.Env = append(os.Environ(), launches+"="+data)
	launcher.Stderr = os.Stderr
	said, err := launcher.StdoutPipe()
	if err == nil {
		err = launcher.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Process.Kill() })
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "postgres://") {
		rest, _ := io.ReadAll(said)
		t.Fatalf("the launcher said %q %q, %v", line, rest, err)
	}
	return launcher, strings.TrimSpace(line)
}

func TestHalfMadeFilesAreMadeAgain(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, half := range []string{"pgdata.new", "pgdata"} {
		if err := os.MkdirAll(filepath.Join(data, half, "base"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cluster := start(t, postgres.ClusterOptions{Data: data, Fast: true})
	do(t, cluster.URL("countersign_owner", "countersign"), `SELECT 'there'`)
}

func TestOnlyItsUserReachesACluster(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cluster := start(t, postgres.ClusterOptions{Data: data, Fast: true})
	_, socket, _ := strings.Cut(cluster.URL("postgres", "postgres"), "host=")
	for _, path := range []string{socket, filepath.Join(data, "pgdata"), filepath.Join(socket, ".s.PGSQL.5432"), filepath.Join(data, "postgres.log")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if listens := do(t, cluster.URL("postgres", "postgres"), `SHOW listen_addresses`); listens != "" {
		t.Errorf("it listens on %s", listens)
	}
}

func TestSomeoneElsesSocketDirectoryIsNotUsed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cluster := start(t, postgres.ClusterOptions{Data: data, Fast: true})
	_, socket, _ := strings.Cut(cluster.URL("postgres", "postgres"), "host=")
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), socket); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(socket) }()
	if _, err := postgres.StartCluster(t.Context(), postgres.ClusterOptions{Data: data, Fast: true}); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a link in the place of the socket's directory: %v", err)
	}
}

func TestPsqlReadsTheURL(t *testing.T) {
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("psql is not installed")
	}
	db := pgtest.New(t)
	said, err := exec.CommandContext(t.Context(), psql, db.OwnerURL, "-Atc", "SELECT count(*) FROM mrp.production_orders").CombinedOutput()
	if err != nil || strings.TrimSpace(string(said)) != "5" {
		t.Errorf("psql says %q, %v: the owner sees all sites' orders, past row-level security", said, err)
	}
}
