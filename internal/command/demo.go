package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/server"
)

type demoCommand struct {
	Addr  string `env:"COUNTERSIGN_ADDR" placeholder:"HOST:PORT" help:"Where to listen (127.0.0.1:8080, or a free port where that is taken)."`
	Data  string `env:"COUNTERSIGN_DATA" placeholder:"DIR" help:"Where the database is kept from one start to the next."`
	Reset bool   `help:"Start over: forget what was kept."`
}

// Run starts the database, fills it the first time, and serves until it is told to stop.
func (c *demoCommand) Run(ctx context.Context, t Terminal, registry demoRegistry) (err error) {
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	data, err := c.directory()
	if err != nil {
		return err
	}
	log := newLogger()
	cluster, err := postgres.StartCluster(ctx, postgres.ClusterOptions{Data: data, Reset: c.Reset, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() {
		<-cluster.Done()
		over(fmt.Errorf("the database ended: %s says why", filepath.Join(data, "postgres.log")))
	}()
	if err := fill(ctx, cluster, data); err != nil {
		return err
	}
	service, err := server.New(ctx, server.Config{
		OwnerURL: ownerURL(cluster), Registry: registry, CookieName: cookieName(data),
		Secure: !onLoopback(listener), GraphiQL: true, Logger: log,
	})
	if err != nil {
		return err
	}
	defer service.Close()
	if err := greet(t.Out, origin(listener), ownerURL(cluster)); err != nil {
		return err
	}
	if err := serveHTTP(ctx, listener, service.Handler, service.SayGoodbye, log); err != nil {
		return err
	}
	return databaseEnded(ctx)
}

// databaseEnded is the error of a demo that stopped because its database did, and nil where it was told to.
func databaseEnded(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// fill migrates the database, loads Harbor Mill where that was not done before, and writes down where the
// database is.
func fill(ctx context.Context, cluster *postgres.Cluster, data string) error {
	if err := postgres.Migrate(ctx, ownerURL(cluster)); err != nil {
		return err
	}
	if err := demo.Load(ctx, cluster.URL(postgres.Superuser, postgres.Database)); err != nil {
		return err
	}
	file := filepath.Join(data, "countersign.env")
	if err := os.WriteFile(file+".new", []byte("DATABASE_URL="+ownerURL(cluster)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func ownerURL(cluster *postgres.Cluster) string {
	return cluster.URL("countersign_owner", postgres.Database)
}

// listen opens the address asked for. Where none was, it is the one of the tour, or a free port.
func (c *demoCommand) listen(ctx context.Context) (net.Listener, error) {
	if c.Addr != "" {
		return listen(ctx, c.Addr)
	}
	listener, err := listen(ctx, "127.0.0.1:8080")
	if errors.Is(err, syscall.EADDRINUSE) {
		return listen(ctx, "127.0.0.1:0")
	}
	return listener, err
}

// directory is where the data is kept, absolute and there.
func (c *demoCommand) directory() (string, error) {
	directory := c.Data
	if directory == "" {
		directory = defaultDirectory()
	}
	directory, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	return directory, os.MkdirAll(directory, 0o700)
}

func defaultDirectory() string {
	if os.Geteuid() == 0 {
		return "/var/lib/countersign"
	}
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "countersign")
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "countersign")
}

// cookieName differs from demo to demo: browsers keep cookies by host, whatever the port.
func cookieName(data string) string {
	sum := sha256.Sum256([]byte(data))
	return fmt.Sprintf("countersign_%x", sum[:4])
}

// greet says where everything is. The last line is for programs that wait for it.
func greet(out io.Writer, origin, databaseURL string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Harbor Mill\n\n  console   %s/\n  GraphQL   %s/graphql\n  GraphiQL  %s/graphiql\n  database  %s\n\n", origin, origin, origin, databaseURL)
	fmt.Fprintf(&text, "Everyone's password is %s:\n\n", demo.Password)
	for _, account := range demo.Accounts {
		fmt.Fprintf(&text, "  %-23s %-24s %s of %s\n", account.Email, account.Name+", "+account.Does, account.Role, account.Site)
	}
	fmt.Fprintf(&text, "\nready %s\n", origin)
	_, err := io.WriteString(out, text.String())
	return err
}
