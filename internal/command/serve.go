package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/server"
)

type serveCommand struct {
	database
	Addr   string `env:"COUNTERSIGN_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen (default ${default})."`
	Config string `env:"COUNTERSIGN_CONFIG" default:"countersign.yaml" placeholder:"FILE" help:"The registry of entities (default ${default})."`
}

// database is the flag of every command that works on a database that is there.
type database struct {
	DatabaseURL string `env:"DATABASE_URL" placeholder:"URL" help:"The database, as the role countersign_owner. DATABASE_URL says it without other users of the machine seeing it."`
}

func (d database) url() (string, error) {
	if d.DatabaseURL == "" {
		return "", errors.New("which database? Set DATABASE_URL, for example postgres://countersign_owner@localhost/erp; `countersign demo` brings its own")
	}
	return d.DatabaseURL, nil
}

// Run serves until it is told to stop. It does not start on a database whose schema is behind or whose
// roles have rights they must not have.
func (c *serveCommand) Run(ctx context.Context, t Terminal) error {
	url, err := c.url()
	if err != nil {
		return err
	}
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	log := newLogger()
	service, err := server.New(ctx, server.Config{
		OwnerURL: url, ConfigPath: c.Config, CookieName: "countersign", Secure: !onLoopback(listener), Logger: log,
	})
	if err != nil {
		return err
	}
	defer service.Close()
	if _, err := fmt.Fprintln(t.Out, "ready", origin(listener)); err != nil {
		return err
	}
	return serveHTTP(ctx, listener, service.Handler, service.SayGoodbye, log)
}
