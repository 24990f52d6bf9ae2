package command

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/sqlc"
)

type userAddCommand struct {
	database
	Email         string `required:"" help:"Their e-mail address, with which they sign in."`
	Name          string `required:"" help:"Their name, as others see it."`
	Workspace     string `required:"" placeholder:"SLUG" help:"The workspace they work in; made where it is missing."`
	Role          string `default:"member" enum:"member,approver,operator,auditor" help:"What they are there: member, approver, operator or auditor (default ${default})."`
	PasswordStdin bool   `help:"Read their password from the first line of standard input. Otherwise one is made and printed."`
}

// Run makes the account and the membership, both or neither.
func (c *userAddCommand) Run(ctx context.Context, t Terminal) error {
	password, err := c.password(t)
	if err != nil {
		return err
	}
	err = c.asOwner(ctx, func(tx pgx.Tx) error {
		user, err := identity.CreateUser(ctx, tx, c.Email, c.Name, password)
		if err != nil {
			return err
		}
		_, err = identity.Join(ctx, tx, user.ID, c.Workspace, c.Workspace, sqlc.Role(c.Role))
		return err
	})
	if err != nil || c.PasswordStdin {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s signs in with this password, which is not shown again:\n", c.Email)
	_, err = fmt.Fprintln(t.Out, password)
	return err
}

func (c *userAddCommand) password(t Terminal) (string, error) {
	if !c.PasswordStdin {
		return rand.Text(), nil
	}
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", fmt.Errorf("there is no password on standard input: %w", err)
	}
	return line, nil
}

type tokenCreateCommand struct {
	database
	User      string   `required:"" placeholder:"EMAIL" help:"Whom the token acts for."`
	Name      string   `required:"" help:"What uses it."`
	Scopes    []string `required:"" enum:"read,propose,subscribe" placeholder:"read,propose,subscribe" help:"What it may do: read, propose, subscribe. No token decides."`
	Workspace string   `placeholder:"SLUG" help:"Where it acts; may be left out where its user has one workspace."`
}

// Run prints the token, alone on its line.
func (c *tokenCreateCommand) Run(ctx context.Context, t Terminal) error {
	return c.asOwner(ctx, func(tx pgx.Tx) error {
		token, err := identity.CreateToken(ctx, tx, identity.NewToken{Email: c.User, Workspace: c.Workspace, Name: c.Name, Scopes: c.Scopes})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.Out, token)
		return err
	})
}

// asOwner runs one transaction on the database as its owner.
func (d database) asOwner(ctx context.Context, do func(pgx.Tx) error) error {
	url, err := d.url()
	if err != nil {
		return err
	}
	conn, err := postgres.ConnectOwner(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := postgres.SchemaIsCurrent(ctx, conn); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, do)
}
