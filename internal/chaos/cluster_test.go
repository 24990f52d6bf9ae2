//go:build failpoints

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/countersign/countersign/internal/postgres"
)

// cluster is the PostgreSQL of these tests: on a small disk of its own where that can be mounted.
type cluster struct {
	directory string
	mounted   error // why there is no disk of its own; nil: there is one
	lock      sync.Mutex
	server    *postgres.Cluster
}

var theCluster = &cluster{}

// diskSize is enough for the template, a few copies of it and some write-ahead log.
const diskSize = "900m"

const leftover = "countersign-chaos-"

// sweep removes what runs left that were killed before they could.
func sweep() {
	directories, _ := filepath.Glob("/tmp/" + leftover + "*")
	for _, directory := range directories {
		if info, err := os.Stat(directory); err == nil && time.Since(info.ModTime()) > 10*time.Minute && !postgres.InUse(filepath.Join(directory, "db")) {
			_ = syscall.Unmount(directory, syscall.MNT_DETACH)
			_ = os.RemoveAll(directory)
		}
	}
}

func (c *cluster) begin() error {
	sweep()
	var err error
	if c.directory, err = os.MkdirTemp("/tmp", leftover); err != nil {
		return err
	}
	if err := os.Chmod(c.directory, 0o755); err != nil { //nolint:gosec // the server's account passes through it
		return err
	}
	c.mounted = syscall.Mount("tmpfs", c.directory, "tmpfs", 0, "size="+diskSize+",mode=0755")
	if err := c.start(); err != nil {
		c.end()
		return err
	}
	return os.Setenv("COUNTERSIGN_TEST_DATABASE_URL", c.server.URL(postgres.Superuser, "postgres"))
}

func (c *cluster) start() (err error) {
	c.server, err = postgres.StartCluster(context.Background(), postgres.ClusterOptions{Data: filepath.Join(c.directory, "db"), Fast: true})
	return err
}

func (c *cluster) end() {
	if c.server != nil {
		_ = c.server.Stop()
	}
	if c.mounted == nil {
		_ = syscall.Unmount(c.directory, syscall.MNT_DETACH)
	}
	_ = os.RemoveAll(c.directory)
}

// restart ends the server as if the machine had lost it (immediate), and starts it again.
func (c *cluster) restart() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	pid, err := c.postmaster()
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGQUIT)
	}
	if err != nil {
		return fmt.Errorf("end the database: %w", err)
	}
	return c.again()
}

// again starts the server that ends, or has ended.
func (c *cluster) again() error {
	select {
	case <-c.server.Done():
	case <-time.After(30 * time.Second):
		return fmt.Errorf("the database did not end")
	}
	_ = c.server.Stop()
	return c.start()
}

// revive starts the server where it has ended by itself.
func (c *cluster) revive() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	select {
	case <-c.server.Done():
		_ = c.server.Stop()
		return c.start()
	default:
		return nil
	}
}

func (c *cluster) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.directory, "db", "pgdata", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// fill takes all that is free on the disk, until empty is called.
func (c *cluster) fill() (empty func(), err error) {
	path := filepath.Join(c.directory, "full")
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	block := make([]byte, 1<<20)
	for size := len(block); size >= 4096; {
		if _, err := file.Write(block[:size]); err != nil {
			size /= 2
		}
	}
	return func() { _ = os.Remove(path) }, file.Close()
}
