package toolcall_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/countersign/countersign/internal/"

// compiler checks programs against the packages as they are built.
type compiler struct {
	files    *token.FileSet
	importer types.Importer
}

func newCompiler(t *testing.T) *compiler {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}", module+"toolcall", module+"assistant")
	said, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for _, line := range strings.Fields(string(said)) {
		path, file, _ := strings.Cut(line, "=")
		exports[path] = file
	}
	c := &compiler{files: token.NewFileSet()}
	c.importer = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

func (c *compiler) errors(t *testing.T, name string, source []byte) (list []types.Error) {
	t.Helper()
	file, err := parser.ParseFile(c.files, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: c.importer, Error: func(err error) { list = append(list, err.(types.Error)) }} //nolint:errorlint // as it is documented
	_, _ = config.Check("github.com/countersign/countersign/outside", c.files, []*ast.File{file}, nil)
	return list
}

// Every program here tries to get around the service, from another package of the module. None compiles, for the
// reason that it names; and it does without the one line that says so.
func TestNobodyGetsAroundTheService(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	programs, err := filepath.Glob("testdata/outside/*.go.txt")
	if err != nil || len(programs) < 50 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	for _, path := range programs {
		source, err := os.ReadFile(path) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(source), "\n")
		marked := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "// refused: ") })
		if marked < 0 || strings.Count(string(source), "// refused: ") != 1 {
			t.Errorf("%s does not mark one line", path)
			continue
		}
		_, reason, _ := strings.Cut(strings.TrimSpace(lines[marked]), "// refused: ")
		refused := c.errors(t, path, source)
		if len(refused) != 1 || c.files.Position(refused[0].Pos).Line != marked+1 || !regexp.MustCompile(reason).MatchString(refused[0].Msg) {
			t.Errorf("%s: the compiler says %v, want %q of line %d alone", path, refused, reason, marked+1)
		}
		lines[marked] = "\n"
		if refused := c.errors(t, path, []byte(strings.Join(lines, ""))); len(refused) > 0 {
			t.Errorf("%s without its line: %v", path, refused)
		}
	}
}

// handles are what nobody is given by the three packages that guard them.
var handles = regexp.MustCompile(`\*(record\.Registry|gate\.Gate|pgxpool\.Pool|sqlc\.Queries)\b|gate\.Pools|\bpgx\.Tx\b|sqlc\.DBTX`)

// What is exported is a checked list, so that a new way in is noticed. UPDATE_API=1 writes it anew.
func TestWhatIsExportedIsAsListed(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	var all bytes.Buffer
	for _, name := range []string{"identity", "toolcall", "gate"} {
		p, err := c.importer.Import(module + name)
		if err != nil {
			t.Fatal(err)
		}
		short := types.Qualifier(func(of *types.Package) string { return of.Name() })
		for _, line := range exported(p, short) {
			_, _ = fmt.Fprintln(&all, line) // never fails
			_, gives, _ := strings.Cut(line, " gives ")
			if handles.MatchString(gives) && !strings.HasPrefix(line, "gate.New ") {
				t.Errorf("%s\nhands out what nobody is to reach", line)
			}
		}
	}
	const golden = "testdata/api.txt"
	if os.Getenv("UPDATE_API") != "" {
		if err := os.WriteFile(golden, all.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	before, now := strings.Split(string(listed), "\n"), strings.Split(all.String(), "\n")
	for _, line := range now {
		if !slices.Contains(before, line) {
			t.Errorf("%s\nis exported and not listed. Does it let someone past the service or the gate? If not: UPDATE_API=1 go test ./internal/toolcall -run %s", line, t.Name())
		}
	}
	for _, line := range before {
		if !slices.Contains(now, line) {
			t.Errorf("%s\nis listed and not exported: UPDATE_API=1", line)
		}
	}
}

// exported are a line for each function, method, field, type, variable and constant, with what it gives.
func exported(p *types.Package, short types.Qualifier) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	give := func(name string, of *types.Signature) {
		say("%s takes %s gives %s", name, types.TypeString(of.Params(), short), types.TypeString(of.Results(), short))
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		at := p.Name() + "." + name
		switch o := o.(type) {
		case *types.Func:
			give(at, o.Signature())
		case *types.TypeName:
			say("%s is a type", at)
			methods(o.Type(), at, give)
			fields(o.Type(), func(f *types.Var) { say("%s.%s gives %s", at, f.Name(), types.TypeString(f.Type(), short)) }, at)
		default:
			say("%s gives %s", at, types.TypeString(o.Type(), short))
		}
	}
	return list
}

func methods(of types.Type, at string, give func(string, *types.Signature)) {
	if !types.IsInterface(of) {
		of = types.NewPointer(of)
	}
	set := types.NewMethodSet(of)
	for i := range set.Len() {
		if m := set.At(i).Obj(); m.Exported() {
			give(at+"."+m.Name(), m.Type().(*types.Signature))
		}
	}
}

// inputs are made by those who have what stands in them already.
var inputs = []string{"gate.Pools", "gate.Intent"}

func fields(of types.Type, say func(*types.Var), at string) {
	s, ok := of.Underlying().(*types.Struct)
	if !ok || slices.Contains(inputs, at) {
		return
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Exported() {
			say(f)
		}
	}
}
