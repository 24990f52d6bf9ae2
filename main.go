// Countersign stands between AI assistants and business records: an assistant proposes, a person
// confirms. This is its command line.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

//go:generate go tool -modfile=tools/go.mod sqlc generate
//go:generate go tool -modfile=tools/go.mod gqlgen generate
//go:generate go tool -modfile=tools/go.mod templ generate -path views

// registry is the demo's: it works from any directory.
//
//go:embed countersign.yaml
var registry []byte

// commandLine is what countersign understands; a flag it does not have is refused by name.
type commandLine struct {
	Demo    demoCommand    `cmd:"" help:"Try it: starts a database of its own with two workspaces in it, and serves."`
	Serve   serveCommand   `cmd:"" help:"Serve a database that was migrated."`
	Migrate migrateCommand `cmd:"" help:"Bring the schema of the database up to date."`
	User    struct {
		Add userAddCommand `cmd:"" help:"Make an account, and a member of a workspace."`
	} `cmd:"" help:"Accounts."`
	Token struct {
		Create tokenCreateCommand `cmd:"" help:"Make an API token and print it: the only time it is seen."`
	} `cmd:"" help:"API tokens."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// terminal is what a command reads and writes.
type terminal struct {
	in  io.Reader
	out io.Writer // for whoever called, a program maybe; logs go to stderr
}

func main() { os.Exit(run(os.Args[1:], terminal{os.Stdin, os.Stdout})) }

// run answers the exit code: 0 for done, 1 for failed, 2 for not understood.
func run(arguments []string, t terminal) int {
	var line commandLine
	parser := kong.Must(&line, kong.Name("countersign"), kong.UsageOnError(),
		kong.Description("An assistant proposes, a person confirms."), kong.Writers(t.out, os.Stderr))
	chosen, err := parser.Parse(arguments)
	if err != nil {
		fmt.Fprintln(os.Stderr, "countersign:", err)
		fmt.Fprintln(os.Stderr, "`countersign --help` and `countersign COMMAND --help` say what there is.")
		return 2
	}
	// The second signal is the system's to handle: it ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	chosen.BindTo(ctx, (*context.Context)(nil))
	if err := chosen.Run(t); err != nil && !(errors.Is(err, context.Canceled) && ctx.Err() != nil) {
		fmt.Fprintln(os.Stderr, "countersign:", err)
		return 1
	}
	return 0
}
