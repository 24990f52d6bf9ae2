package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/record"
)

type migrateCommand struct {
	database
	Grants bool   `help:"Print the roles and grants it needs, for an administrator to run, and change nothing."`
	Config string `env:"COUNTERSIGN_CONFIG" default:"countersign.yaml" placeholder:"FILE" help:"The registry, whose sources name roles to grant (default ${default})."`
}

// Run migrates, or prints what an administrator has to run first.
func (c *migrateCommand) Run(ctx context.Context, t Terminal) error {
	if c.Grants {
		return c.printGrants(t)
	}
	url, err := c.url()
	if err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, url); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stderr, "The schema is up to date.")
	return err
}

func (c *migrateCommand) printGrants(t Terminal) error {
	sources, err := c.sources()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(t.Out, postgres.Grants(sources))
	return err
}

// sources are those of the registry; none where there is no registry yet.
func (c *migrateCommand) sources() (sources []postgres.Source, err error) {
	content, err := os.ReadFile(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "There is no %s, whose sources would need grants too: name one with --config.\n", c.Config)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	read, err := record.SourcesIn(c.Config, content)
	for _, source := range read {
		sources = append(sources, postgres.Source{Name: source.Name, ReadAs: source.ReadAs, WriteAs: source.WriteAs})
	}
	return sources, err
}
