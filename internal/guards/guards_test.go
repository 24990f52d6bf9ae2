package guards

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// Each guard, taken out, turns the test red that the table names, and nothing else is amiss with it. Of all
// guards a few are tried, others every day; COUNTERSIGN_GUARDS=all tries all, and a list of patches those.
func TestAGuardThatIsTakenOutIsMissed(t *testing.T) {
	list := chosen(t)
	c := copyRepository(t, "COUNTERSIGN_TEST_DATABASE_URL="+pgtest.New(t).SuperuserURL)
	if os.Getenv("COUNTERSIGN_GUARDS") == "all" {
		c.green(t, list)
	}
	for _, g := range list {
		t.Run(g.patch, func(t *testing.T) {
			c.without(t, g)
			c.red(t, g)
		})
	}
}

// aFew of several kinds are tried with all other tests: in Go, in a key of the schema, in a function of it.
const aFew = "offered-at-the-confirm,belongs-to-the-workspace,same-wish-twice"

// chosen are the guards to try.
func chosen(t *testing.T) []guard {
	t.Helper()
	all := table(t)
	switch names := os.Getenv("COUNTERSIGN_GUARDS"); names {
	case "none":
		t.Skip("a guard is being tried")
	case "all":
		return all
	case "":
		names = aFew
		fallthrough
	default:
		wanted := strings.Split(names, ",")
		return slices.DeleteFunc(all, func(g guard) bool { return !slices.Contains(wanted, g.patch) })
	}
	return nil
}

// green demands that the tests pass as long as nothing is taken out.
func (c *copied) green(t *testing.T, list []guard) {
	t.Helper()
	tests := map[string][]string{}
	for _, g := range list {
		tests[g.pkg] = append(tests[g.pkg], g.test)
	}
	for pkg, names := range tests {
		if r := c.test(t, pkg, names...); len(r.failed) > 0 || r.broken != "" {
			t.Fatalf("with every guard in its place %s fails: %s\n%s", pkg, r.failed, r.output)
		}
	}
}

// red demands that the guard's test fails, for its reason.
func (c *copied) red(t *testing.T, g guard) {
	t.Helper()
	switch r := c.test(t, g.pkg, g.test); {
	case r.broken != "":
		t.Errorf("without it, %s: the patch proves nothing\n%s", r.broken, r.output)
	case !slices.Contains(r.ran, g.test):
		t.Errorf("%s has no test %s\n%s", g.pkg, g.test, r.output)
	case len(r.failed) == 0:
		t.Errorf("%s can be taken out of %s and nobody notices: %s stays green", g.what, strings.Join(g.places, ", "), g.test)
	case !slices.Equal(r.failed, []string{g.test}):
		t.Errorf("without it %s fails, and not %s alone", r.failed, g.test)
	case !strings.Contains(r.output, g.says):
		t.Errorf("%s fails, and does not say %q\n%s", g.test, g.says, r.output)
	}
}

// result is what came of a run of tests.
type result struct {
	ran, failed []string
	broken      string // why the run says nothing of the tests
	output      string
}

// event is a line of `go test -json`.
type event struct{ Action, Test, Output string }

// test runs some tests of a package.
func (c *copied) test(t *testing.T, pkg string, names ...string) result {
	t.Helper()
	out, err := c.run(t, "go", "test", "-json", "-vet=off", "-ldflags=-w", "-count=1", "-timeout", "3m", "-run", "^("+strings.Join(names, "|")+")$", "./"+pkg)
	var r result
	for line := range strings.Lines(out) {
		e := event{Output: line}
		if strings.HasPrefix(line, "{") {
			e.Output = ""
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
		}
		r.take(e)
	}
	if err != nil && r.broken == "" && len(r.failed) == 0 {
		r.broken = "no test failed and yet the run did"
	}
	return r
}

func (r *result) take(e event) {
	r.output += e.Output
	top := e.Test != "" && !strings.Contains(e.Test, "/")
	switch {
	case e.Action == "build-fail":
		r.broken = "it does not compile"
	case strings.HasPrefix(e.Output, "panic: test timed out"):
		r.broken = "the test does not end"
	case top && e.Action == "run":
		r.ran = append(r.ran, e.Test)
	case top && e.Action == "fail":
		r.failed = append(r.failed, e.Test)
	}
}
