package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Superuser administers a cluster that StartCluster made.
const Superuser = "postgres"

// ClusterOptions say which cluster to start.
type ClusterOptions struct {
	Data  string       // a directory that is the cluster's alone; made where it is missing
	Fast  bool         // for tests: what is written does not survive the machine, and nothing waits for a disk
	Reset bool         // forget what the directory holds
	Log   *slog.Logger // what happens to the cluster; nil: nowhere
}

// Cluster is a private PostgreSQL server, a child of this process. It listens on a unix socket that only
// the user of this process, the server's own user and root can reach, and on no port.
type Cluster struct {
	options  ClusterOptions
	binaries string
	socket   string
	account  *syscall.Credential
	lock     *os.File
	server   *process
}

// StartCluster starts the server of a data directory and makes both where they are missing. A directory
// is started by one process at a time: *InUseError for another. It can be started again after any kind
// of end, kill -9 included. The server stops with Stop and, on Linux, with this process.
func StartCluster(ctx context.Context, options ClusterOptions) (*Cluster, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if options.Data, err = filepath.Abs(options.Data); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(options.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	c := &Cluster{options: options, socket: socketDirectory(options.Data)}
	if c.lock, err = hold(options.Data); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		_ = c.lock.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	began := time.Now()
	if c.options.Reset {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	c.account = account(c.files())
	var err error
	if c.binaries, err = findBinaries(ctx, madeBy(c.files())); err != nil {
		return err
	}
	if err := private(c.socket, c.account); err != nil {
		return fmt.Errorf("make the socket's directory: %w", err)
	}
	if err := c.initialise(ctx); err != nil {
		return fmt.Errorf("make the database's files: %w", err)
	}
	if err := c.serve(ctx); err != nil {
		return fmt.Errorf("start the database: %w", err)
	}
	if err := c.prepare(ctx); err != nil {
		return errors.Join(fmt.Errorf("prepare the database: %w", err), c.server.stop())
	}
	c.options.Log.Info("database is ready", "data", c.options.Data, "took", time.Since(began).Round(time.Millisecond).String())
	return nil
}

// Stop ends all sessions and the server, and gives the data directory back. It can be called again.
func (c *Cluster) Stop() error {
	err := c.server.stop()
	_ = os.Remove(c.socket)
	_ = c.lock.Close()
	return err
}

// Done is closed when the server has ended, asked to or not.
func (c *Cluster) Done() <-chan struct{} { return c.server.done }

// URL names a database of the cluster as one of its users. psql and pgx both read it.
func (c *Cluster) URL(user, database string) string {
	return "postgres://" + url.PathEscape(user) + "@/" + url.PathEscape(database) + "?host=" + c.socket
}

func (c *Cluster) files() string { return filepath.Join(c.options.Data, "pgdata") }

func (c *Cluster) log() string { return filepath.Join(c.options.Data, "postgres.log") }

// socketDirectory is the same at every start and short: a socket's path has at most 107 bytes, and the
// path of a checkout can be longer.
func socketDirectory(data string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(os.Geteuid()) + " " + data))
	return fmt.Sprintf("/tmp/cs-%x", sum[:6])
}

// madeBy tells the major version that made a cluster's files; "" where there are none.
func madeBy(files string) string {
	version, _ := os.ReadFile(filepath.Join(files, "PG_VERSION"))
	return strings.TrimSpace(string(version))
}
