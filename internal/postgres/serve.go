package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// leftover is what the server says when the one before it was killed and is not quite gone.
var leftover = []string{`lock file "postmaster.pid" already exists`, "pre-existing shared memory block"}

// serve starts the server and waits until it answers. Right after a kill the one before may still be
// going: it is waited for.
func (c *Cluster) serve(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	patience := time.Now().Add(15 * time.Second)
	for {
		said, err := c.attempt(ctx)
		if err == nil {
			return nil
		}
		if !contains(said, leftover) || time.Now().After(patience) {
			return fmt.Errorf("%w\n%s", err, tail(said))
		}
		c.endOrphan(ctx)
		if !pause(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// attempt starts the server once. Where it ends instead of serving, said is what it wrote.
func (c *Cluster) attempt(ctx context.Context) (said string, err error) {
	log, before, err := c.openLog()
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	command := c.program(context.WithoutCancel(ctx), "postgres")
	path, release, err := reachable(command, c.files())
	if err != nil {
		return "", err
	}
	defer release()
	command.Args = append(command.Args, "-D", path)
	for _, setting := range c.settings() {
		command.Args = append(command.Args, "-c", setting)
	}
	command.Stdout, command.Stderr = log, log
	isolate(command)
	if c.server, err = launch(command); err != nil {
		return "", err
	}
	for {
		select {
		case <-c.server.done:
			written, _ := io.ReadAll(io.NewSectionReader(log, before, 1<<20))
			return string(written), fmt.Errorf("the server ended at once: %w", c.server.ended)
		default:
		}
		if c.ready() && c.answers(ctx) {
			return "", nil
		}
		if !pause(ctx, 10*time.Millisecond) {
			return "", errors.Join(ctx.Err(), c.server.stop())
		}
	}
}

func (c *Cluster) settings() []string {
	settings := []string{
		"listen_addresses=", "unix_socket_directories=" + c.socket, "unix_socket_permissions=0700",
		"shared_buffers=64MB", "max_connections=200", "logging_collector=off", "log_checkpoints=off",
		// A statement and the detail of an error have values of records in them.
		"log_min_error_statement=panic", "log_error_verbosity=terse",
	}
	if c.options.Fast {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "autovacuum=off", "max_connections=400")
	}
	return settings
}

// openLog opens the server's log to append to, put aside where it has grown long, and tells its length.
func (c *Cluster) openLog() (log *os.File, length int64, err error) {
	if info, err := os.Stat(c.log()); err == nil && info.Size() > 8<<20 {
		_ = os.Rename(c.log(), c.log()+".old")
	}
	if log, err = os.OpenFile(c.log(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		return nil, 0, err
	}
	length, err = log.Seek(0, io.SeekEnd)
	return log, length, err
}

// tail gives the last lines of a log.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
