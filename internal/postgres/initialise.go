package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// initialise makes the cluster's files where there are none. Files that were only half made by an
// earlier start are made again.
func (c *Cluster) initialise(ctx context.Context) error {
	if madeBy(c.files()) != "" {
		return nil
	}
	making := c.files() + ".new"
	if err := os.RemoveAll(making); err != nil {
		return err
	}
	if err := private(making, c.account); err != nil {
		return err
	}
	command := c.program(ctx, "initdb")
	path, release, err := reachable(command, making)
	if err != nil {
		return err
	}
	defer release()
	command.Args = append(command.Args, "-D", path, "-U", Superuser, "-A", "trust", "-E", "UTF8", "--locale", locale(), "--no-sync", "--no-instructions")
	if err := finish(command); err != nil {
		return err
	}
	if err := os.RemoveAll(c.files()); err != nil {
		return err
	}
	return os.Rename(making, c.files())
}

// finish runs a program to its end; its error has what it wrote.
func finish(command *exec.Cmd) error {
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	isolate(command)
	running, err := launch(command)
	if err != nil {
		return err
	}
	<-running.done
	if running.ended != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(command.Path), running.ended, tail(said.String()))
	}
	return nil
}

// program gives a command of the server's, run as the server's user.
func (c *Cluster) program(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.binaries, name), arguments...)
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: c.account}
	return command
}

func locale() string {
	if runtime.GOOS == "darwin" {
		return "C"
	}
	return "C.UTF-8"
}

// forget removes the cluster's files, ending a server that outlived its launcher first.
func (c *Cluster) forget(ctx context.Context) error {
	c.endOrphan(ctx)
	for _, path := range []string{c.files(), c.files() + ".new", c.log()} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("start over: %w", err)
		}
	}
	return nil
}

// prepare makes what every database of ours rests on: the roles, and the database itself, the owner's.
func (c *Cluster) prepare(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL(Superuser, "postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := CreateRoles(ctx, conn); err != nil {
		return err
	}
	return CreateDatabase(ctx, conn, c.URL(Superuser, Database), Database)
}
