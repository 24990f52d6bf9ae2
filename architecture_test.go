package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/countersign/countersign"

// mayImport is who may import whom: one direction, few packages. Tests may also import pgtest.
var mayImport = map[string][]string{
	"internal/id":                {},
	"internal/redact":            {},
	"internal/policy":            {"internal/record", "internal/redact", "sqlc", "internal/id", "internal/postgres"},
	"sqlc":                       {"internal/id"},
	"migrations":                 {},
	"internal/identity":          {"sqlc", "internal/id", "internal/postgres"},
	"internal/record":            {"internal/identity", "internal/id"},
	"internal/card":              {"sqlc", "internal/id"},
	"internal/gate":              {"internal/identity", "internal/record", "internal/card", "sqlc", "internal/id", "internal/postgres"},
	"internal/feed":              {"internal/identity", "sqlc", "internal/id", "internal/postgres"},
	"internal/retention":         {"sqlc", "internal/id", "internal/postgres"},
	"internal/actions":           {"internal/record", "internal/card"},
	"internal/toolcall":          {"internal/gate", "internal/record", "internal/actions", "internal/identity", "sqlc", "internal/id", "internal/postgres"},
	"internal/assistant":         {"internal/toolcall", "internal/identity", "sqlc", "internal/id", "internal/postgres"},
	"internal/assistant/offline": {"internal/assistant", "internal/toolcall", "internal/identity", "sqlc", "internal/id"},
	"internal/postgres":          {"migrations", "sqlc", "internal/id"},
	"views":                      {"internal/card", "sqlc", "internal/id"},
	"graph/model":                {"internal/card", "internal/feed", "internal/gate", "internal/toolcall", "internal/id", "sqlc"},
	"graph/generated":            {"graph/model", "internal/card", "internal/feed", "internal/gate", "internal/toolcall", "internal/id", "sqlc"},
	"graph":                      {"graph/model", "graph/generated", "internal/feed", "internal/toolcall", "internal/gate", "internal/assistant", "internal/identity", "internal/card", "sqlc", "internal/id", "internal/postgres"},
	"internal/web":               {"views", "internal/feed", "internal/toolcall", "internal/gate", "internal/assistant", "internal/identity", "internal/card", "sqlc", "internal/id", "internal/postgres"},
	"internal/server":            {"graph", "internal/web", "internal/feed", "internal/retention", "internal/assistant", "internal/assistant/offline", "internal/toolcall", "internal/actions", "internal/gate", "internal/record", "internal/identity", "internal/postgres", "internal/id", "sqlc"},
	"internal/demo":              {"internal/server", "internal/postgres", "internal/identity", "internal/id", "sqlc"},
	"internal/pgtest":            {"internal/demo", "internal/postgres", "internal/identity", "internal/record", "internal/id", "sqlc", "migrations"},
	"internal/command":           {"internal/policy", "internal/server", "internal/demo", "internal/postgres", "internal/identity", "internal/record", "sqlc", "internal/id"},
	"internal/guards":            {},
	"internal/bench":             {"internal/server", "internal/demo", "internal/postgres", "internal/pgtest"},
	"internal/e2e":               {},
	"internal/failpoint":         {},
	"internal/chaos":             {"internal/command"},
	"":                           {"internal/command"},
}

// anyone may import these, which import nothing of ours: what they do is done to nobody's data.
var anyone = []string{"internal/redact", "internal/failpoint"}

var anyoneInTests = []string{"internal/pgtest", "internal/policy", "internal/retention", "internal/redact", "internal/card", "internal/feed", "internal/gate", "internal/toolcall", "internal/actions", "internal/record", "internal/assistant", "internal/server", "internal/demo", "internal/postgres", "internal/identity", "sqlc", "internal/id"}

// where says, in a failure, where code of a kind belongs.
const where = `
  Rules about proposals live in internal/gate, one verb a file. A tool runs through internal/toolcall alone.
  SQL on our own tables is a query in queries/; SQL on the host's tables is made in internal/record.
  What a card shows is computed in internal/card; graph and web translate; views print.
  Wiring is internal/server and main.go. A new package is a row in this test, with its reason in the README.`

func TestImportsGoOneWay(t *testing.T) {
	for pkg, files := range sources(t) {
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("package %q is not in the table of this test.%s", pkg, where)
			continue
		}
		for _, file := range files {
			for _, imported := range importsOf(t, file) {
				test := strings.HasSuffix(file, "_test.go")
				if slices.Contains(allowed, imported) || slices.Contains(anyone, imported) || imported == pkg || test && slices.Contains(anyoneInTests, imported) || test && pkg == "internal/server" {
					continue
				}
				t.Errorf("%s imports %s, which %s may not.%s", file, imported, pkg, where)
			}
		}
	}
}

// forEveryone is how a statement or a transaction reaches the database; the rest of internal/postgres is for
// those who open one.
var forEveryone = []string{"As", "Enter", "Transact", "Tx", "ErrUnheard"}

func TestOnlyThoseWhoOpenDatabasesUseMoreThanAs(t *testing.T) {
	openers := []string{"internal/command", "internal/postgres", "internal/server", "internal/demo", "internal/pgtest"}
	for pkg, files := range sources(t) {
		if slices.Contains(openers, pkg) {
			continue
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, use := range usesOf(t, file, "postgres.") {
				if !slices.Contains(forEveryone, use) {
					t.Errorf("%s uses postgres.%s; a package that does not open databases uses %s alone.", file, use, strings.Join(forEveryone, ", "))
				}
			}
		}
	}
}

// SQL stands in queries/ and migrations/; only record builds statements, and postgres manages roles.
func TestSQLStandsInQueries(t *testing.T) {
	builders := []string{"internal/record", "internal/postgres", "internal/pgtest", "internal/demo", "sqlc", "internal/bench"}
	for pkg, files := range sources(t) {
		if slices.Contains(builders, pkg) {
			continue
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source := read(t, file)
			for _, verb := range []string{"\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE FROM", "`SELECT ", "`INSERT ", "`UPDATE ", "`DELETE FROM", "\"SET ", "\"select set_config"} {
				if strings.Contains(source, verb) {
					t.Errorf("%s holds a statement (%s…). Put it into queries/ and generate.", file, strings.TrimLeft(verb, "\"`"))
				}
			}
		}
	}
}

// mutators lists who may call the queries that write, with the reason.
var mutators = map[string]string{
	"internal/gate":      "decides and proposes",
	"internal/policy":    "policies, budgets and patterns, for the command line",
	"internal/retention": "deletes what is old",
	"internal/toolcall":  "writes the rows of tool calls",
	"internal/feed":      "gives events their positions",
	"internal/identity":  "sign-ins, sessions, tokens, users",
	"internal/assistant": "conversations, messages, turns",
	"internal/demo":      "loads the demo's people",
	"internal/command":   "the command line, by way of identity",
}

func TestOnlyAListedPackageCallsAQueryThatWrites(t *testing.T) {
	writing := writingQueries(t)
	if len(writing) < 10 {
		t.Fatalf("only %d writing queries found: the test does not read queries/ any more", len(writing))
	}
	for pkg, files := range sources(t) {
		if _, ok := mutators[pkg]; ok || pkg == "sqlc" || pkg == "internal/pgtest" || pkg == "internal/bench" {
			continue
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source := read(t, file)
			for _, name := range writing {
				if strings.Contains(source, "."+name+"(ctx, ") && strings.Contains(source, "queries."+name+"(") {
					t.Errorf("%s calls the query %s, which writes. A surface calls gate, toolcall, identity or assistant instead.%s", file, name, where)
				}
			}
		}
	}
}

func writingQueries(t *testing.T) []string {
	var names []string
	for _, file := range globbed(t, "queries/*.sql") {
		for _, block := range strings.Split(read(t, file), "-- name: ")[1:] {
			name, body, _ := strings.Cut(block, " ")
			writes := strings.Contains(body, "INSERT INTO") || strings.Contains(body, "UPDATE ") && !strings.Contains(body, "FOR UPDATE") || strings.Contains(body, "DELETE FROM") ||
				strings.Contains(body, "propose(") || strings.Contains(body, "sequence_feed(") || strings.Contains(body, "withdraw(") || strings.Contains(body, "tool_call(")
			if writes {
				names = append(names, name)
			}
		}
	}
	return names
}

// speaks lists who may write to a log, a terminal or a standard stream by other ways than a logger it was given,
// and what.
var speaks = map[string][]string{
	"internal/redact/log.go":       {"slog.NewRecord("},
	"internal/command/log.go":      {"slog.New(", "slog.NewJSONHandler(", "slog.NewTextHandler(", "slog.SetDefault(", "os.Stderr"},
	"internal/command/listen.go":   {"slog.NewLogLogger("}, // on the handler of the logger
	"internal/command/command.go":  {"os.Stderr"},          // what the program complains of, redacted
	"internal/command/migrate.go":  {"os.Stderr"},          // that it is done
	"internal/command/accounts.go": {"os.Stderr"},          // whose the password on stdout is
	"internal/server/server.go":    {"slog.New("},          // around the one it was given
	"internal/postgres/cluster.go": {"slog.New("},          // that says nothing
	"main.go":                      {"os.Stdout"},          // what a command answers
}

// Everything that is logged goes through redact.Log. A logger is made in internal/command and internal/server
// alone, and nothing prints beside it.
func TestNothingIsLoggedButRedacted(t *testing.T) {
	ways := []string{"slog.New(", "slog.NewJSONHandler(", "slog.NewTextHandler(", "slog.NewLogLogger(", "slog.NewMultiHandler(", "slog.NewRecord(", "slog.SetDefault(", "slog.Default(", "slog.With(",
		"slog.Debug", "slog.Info(", "slog.InfoContext(", "slog.Warn(", "slog.WarnContext(", "slog.Error(", "slog.ErrorContext(", "slog.Log(", "slog.LogAttrs(",
		"log.Print", "log.Fatal", "log.Panic", "log.New(", "log.Default(", "fmt.Print", "println(", "os.Stderr", "os.Stdout", "debug.PrintStack("}
	found := 0
	for pkg, files := range sources(t) {
		if pkg == "internal/pgtest" || pkg == "internal/bench" || pkg == "internal/e2e" {
			continue
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, way := range ways {
				if !says(read(t, file), way) {
					continue
				}
				if found++; !slices.Contains(speaks[file], way) {
					t.Errorf("%s uses %s: what it says would not be redacted. Log by the logger it is given, which internal/command makes on redact.Log.", file, strings.TrimSuffix(way, "("))
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d uses found: the test does not read the sources any more", found)
	}
	for file, wrapped := range map[string]string{"internal/command/log.go": "slog.New(redact.Log(", "internal/server/server.go": "slog.New(redact.Log("} {
		if source := read(t, file); strings.Count(source, "slog.New(") != strings.Count(source, wrapped) {
			t.Errorf("%s makes a logger that is not %s…", file, wrapped)
		}
	}
}

// says tells whether a source uses a name as it stands, and not as the end of another.
func says(source, name string) bool {
	for rest := source; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		if before := rest[:at]; before == "" || !strings.ContainsAny(before[len(before)-1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") {
			return true
		}
		rest = rest[at+len(name):]
	}
}

// What a row of a tool call holds of the input is of a type that only redacting makes, and no statement but
// record_tool_call's writes it.
func TestInputsOfToolCallsAreRedacted(t *testing.T) {
	for _, file := range globbed(t, "queries/*.sql") {
		for _, block := range strings.Split(read(t, file), "-- name: ")[1:] {
			name, _, _ := strings.Cut(block, " ")
			columns, _, _ := strings.Cut(after(block, "INSERT INTO tool_calls ("), ")")
			if slices.Contains(strings.Split(columns, ", "), "input") {
				t.Errorf("%s: %s writes tool_calls.input. record_tool_call does, given @input::redacted.", file, name)
			}
			if strings.Contains(block, "record_tool_call(") && !strings.Contains(block, "@input::redacted") {
				t.Errorf("%s: %s gives record_tool_call an input that is not redacted: write @input::redacted.", file, name)
			}
		}
	}
	generated := read(t, "sqlc/toolcalls.sql.go")
	if n := strings.Count(generated, "record_tool_call("); n == 0 || n != strings.Count(generated, "redact.JSON\n") {
		t.Errorf("of %d statements with record_tool_call not all take a redact.JSON", n)
	}
	for _, line := range strings.Split(read(t, "internal/redact/json.go"), "\n") {
		if strings.HasPrefix(line, "type JSON struct") && line != "type JSON struct{ raw json.RawMessage }" {
			t.Errorf("redact.JSON is %s: anybody could make one", line)
		}
	}
}

// after is what comes after a text; "" where it is not there.
func after(s, text string) string {
	_, rest, _ := strings.Cut(s, text)
	return rest
}

func TestNoPackageIsADrawer(t *testing.T) {
	for pkg := range sources(t) {
		for _, drawer := range []string{"utils", "util", "common", "helpers", "models", "service", "services", "repository", "misc"} {
			if filepath.Base(pkg) == drawer {
				t.Errorf("package %s: name it for what it does; %s says nothing.", pkg, drawer)
			}
		}
	}
}

func TestTheTopLevelHoldsWhatHasToBeThere(t *testing.T) {
	allowed := []string{"graph", "sqlc", "queries", "views", "internal", "migrations", "gqlgen.yml", "sqlc.yaml", "go.mod", "README.md",
		"main.go", "go.sum", "countersign.yaml", "Makefile", ".ci", ".git", ".gitignore", ".golangci.yml", "architecture_test.go", "tools", "docs", "examples"}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(allowed, e.Name()) && !ignored(t, e.Name()) {
			t.Errorf("%s stands at the top level; it belongs into one of %s.", e.Name(), strings.Join(allowed, " "))
		}
	}
}

func ignored(t *testing.T, name string) bool {
	for line := range strings.Lines(read(t, ".gitignore")) {
		if strings.Trim(strings.TrimSpace(line), "/") == name {
			return true
		}
	}
	return false
}

// sources gives the Go files of each package, by its path below the module.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			pkg := filepath.ToSlash(filepath.Dir(path))
			if pkg == "." {
				pkg = ""
			}
			found[pkg] = append(found[pkg], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, spec := range parsed.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			ours = append(ours, rest)
		}
	}
	return ours
}

func usesOf(t *testing.T, file, prefix string) []string {
	var names []string
	for _, part := range strings.Split(read(t, file), prefix)[1:] {
		end := strings.IndexFunc(part, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if end > 0 && part[0] >= 'A' && part[0] <= 'Z' && slices.Contains(importsOf(t, file), "internal/postgres") {
			names = append(names, part[:end])
		}
	}
	return names
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
