// Package command is the command line: demo, serve, migrate, user, token, pattern, version. A flag has a twin in
// the environment where deployments set it there.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/redact"
)

// Terminal is what a command reads and writes. Logs, and words that are no answer, go to stderr.
type Terminal struct {
	In  io.Reader
	Out io.Writer
}

// demoRegistry is the countersign.yaml of the demo.
type demoRegistry []byte

type commandLine struct {
	Demo    demoCommand    `cmd:"" help:"Try it: starts a database of its own with two workspaces in it, and serves."`
	Serve   serveCommand   `cmd:"" help:"Serve a database that was migrated."`
	Migrate migrateCommand `cmd:"" help:"Bring the schema of the database up to date."`
	User    struct {
		Add userAddCommand `cmd:"" help:"Make an account, and a member of a workspace."`
	} `cmd:"" help:"Accounts."`
	Token struct {
		Create tokenCreateCommand `cmd:"" help:"Make an API token and print it: the only time it is seen."`
		List   tokenListCommand   `cmd:"" help:"Say which API tokens there are."`
		Revoke tokenRevokeCommand `cmd:"" help:"End an API token, and the streams that follow by it."`
	} `cmd:"" help:"API tokens."`
	Policy struct {
		Set   policySetCommand   `cmd:"" help:"Narrow what the assistant may do in one workspace."`
		List  policyListCommand  `cmd:"" help:"Say what is narrowed."`
		Clear policyClearCommand `cmd:"" help:"Take a policy back."`
	} `cmd:"" help:"Policies: what countersign.yaml offers, narrowed in one workspace. They hold from the next call on, on every server."`
	Budget struct {
		Set   budgetSetCommand   `cmd:"" help:"Bound what is used in a day or a month."`
		List  budgetListCommand  `cmd:"" help:"Say which budgets there are, and what is used of them."`
		Clear budgetClearCommand `cmd:"" help:"Take a budget back."`
	} `cmd:"" help:"Budgets: how many tool calls, proposals and model tokens a workspace, its users and its tokens may use."`
	Pattern struct {
		Add    patternAddCommand    `cmd:"" help:"Have something taken out of logs, of tool calls' rows and of what a model reads."`
		List   patternListCommand   `cmd:"" help:"Say which patterns there are."`
		Remove patternRemoveCommand `cmd:"" help:"End a pattern."`
	} `cmd:"" help:"What is redacted beside what always is."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// Run does what the arguments say and answers the exit code: 0 for done, or stopped when told to; 1 for
// failed; 2 for not understood. What is not understood is named.
func Run(arguments []string, t Terminal, registry []byte) int {
	var line commandLine
	parser := kong.Must(&line, kong.Name("countersign"), kong.Description("An assistant proposes, a person confirms."), kong.Writers(t.Out, os.Stderr))
	chosen, err := parser.Parse(arguments)
	if err != nil {
		complain(err)
		complain(errors.New("`countersign --help` and `countersign COMMAND --help` say what there is"))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	chosen.BindTo(ctx, (*context.Context)(nil))
	if err := chosen.Run(t, demoRegistry(registry)); err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		complain(err)
		return 1
	}
	return 0
}

func complain(err error) { _, _ = fmt.Fprintln(os.Stderr, "countersign:", redact.Text(err.Error())) }
