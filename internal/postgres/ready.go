package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ready reads the eighth line of postmaster.pid, as pg_ctl does: asking earlier leaves complaints in the log.
func (c *Cluster) ready() bool {
	lines := c.pidFile()
	return len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" && lines[0] == strconv.Itoa(c.server.id())
}

func (c *Cluster) pidFile() []string {
	content, _ := os.ReadFile(filepath.Join(c.files(), "postmaster.pid"))
	return strings.Split(string(content), "\n")
}

func (c *Cluster) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL(Superuser, "postgres"))
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

// endOrphan stops a server of this directory that outlived its launcher. We hold the lock, so nobody
// else runs one; it answers on our socket, so it is one.
func (c *Cluster) endOrphan(ctx context.Context) {
	pid, err := strconv.Atoi(c.pidFile()[0])
	if err == nil && pid > 1 && c.answers(ctx) {
		_ = syscall.Kill(pid, syscall.SIGINT)
	}
}

// pause waits, unless ctx ends first: then it answers false.
func pause(ctx context.Context, long time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(long):
		return true
	}
}

func contains(text string, parts []string) bool {
	for _, one := range parts {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}
