// Countersign stands between AI assistants and business records: an assistant proposes, a person
// confirms, and the change is applied once.
package main

import (
	_ "embed"
	"os"

	"github.com/countersign/countersign/internal/command"
)

//go:generate go tool -modfile=tools/go.mod sqlc generate
//go:generate go tool -modfile=tools/go.mod gqlgen generate
//go:generate go tool -modfile=tools/go.mod templ generate -path views

// registry is the demo's, which runs from any directory.
//
//go:embed countersign.yaml
var registry []byte

func main() {
	os.Exit(command.Run(os.Args[1:], command.Terminal{In: os.Stdin, Out: os.Stdout}, registry))
}
