package command

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/pgtest"
)

// asProgram makes this test's binary the program itself; its value is the demo's registry.
const asProgram = "COUNTERSIGN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		registry, _ := os.ReadFile(os.Getenv(asProgram))
		os.Exit(Run(os.Args[1:], Terminal{os.Stdin, os.Stdout}, registry))
	}
	pgtest.Main(m)
}

// program is countersign at work in a process of its own.
type program struct {
	*exec.Cmd
	ready string // its origin
	said  string // what came before that line
	wrong *bytes.Buffer
}

func command(t *testing.T, environment []string, arguments ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], arguments...), wrong: &bytes.Buffer{}}
	p.Dir = t.TempDir()
	p.Env = append(append(bare(), asProgram+"="+registryFile(t)), environment...)
	p.Stderr = p.wrong
	return p
}

// bare is the environment without what would set a flag.
func bare() (environment []string) {
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "COUNTERSIGN_") && !strings.HasPrefix(one, "DATABASE_URL=") || strings.HasPrefix(one, "COUNTERSIGN_PG_BIN=") {
			environment = append(environment, one)
		}
	}
	return environment
}

// registryFile is the repository's countersign.yaml.
func registryFile(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serving starts a program and waits until it says that it serves.
func serving(t *testing.T, environment []string, arguments ...string) *program {
	t.Helper()
	p := command(t, environment, arguments...)
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.end(syscall.SIGKILL) })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if origin, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			p.ready = origin
			return p
		}
		p.said += lines.Text() + "\n"
	}
	t.Fatalf("%v never was ready: %v\n%s%s", arguments, p.Wait(), p.said, p.wrong)
	return nil
}

func (p *program) end(signal syscall.Signal) error {
	_ = p.Process.Signal(signal)
	return p.Wait()
}

// once runs a program to its end.
func once(t *testing.T, environment []string, arguments ...string) (said, wrong string, code int) {
	t.Helper()
	p := command(t, environment, arguments...)
	var out bytes.Buffer
	p.Stdout = &out
	_ = p.Run()
	return out.String(), p.wrong.String(), p.ProcessState.ExitCode()
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(content)
}

func TestTheDemoIsReadyAndStopsAndStartsAgain(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "made", "for me")
	first := serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0")
	if !strings.HasPrefix(first.ready, "http://127.0.0.1:") {
		t.Errorf("ready at %q", first.ready)
	}
	if status, body := get(t, first.ready+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz answers %d %s", status, body)
	}
	url := environmentFile(t, data)
	for _, wanted := range []string{first.ready + "/", first.ready + "/graphiql", url, "harbor-mill", "maria@harbor.example", "olu@othersite.example"} {
		if !strings.Contains(first.said, wanted) {
			t.Errorf("the greeting does not name %s:\n%s", wanted, first.said)
		}
	}
	change(t, url, `UPDATE core.roles SET name = 'kept' WHERE id = 4`)
	if err := first.end(syscall.SIGTERM); err != nil {
		t.Fatalf("SIGTERM: %v\n%s", err, first.wrong)
	}
	began := time.Now()
	again := serving(t, []string{"COUNTERSIGN_DATA=" + data, "COUNTERSIGN_ADDR=127.0.0.1:0"}, "demo")
	t.Logf("ready again after %v", time.Since(began))
	if name := ask(t, url, `SELECT name FROM core.roles WHERE id = 4`); name != "kept" {
		t.Errorf("role 4 is %q", name)
	}
	if n := ask(t, url, `SELECT count(*)::text FROM core.roles`); n != "11" {
		t.Errorf("there are %s roles", n)
	}
	if err := again.end(syscall.SIGKILL); err == nil {
		t.Error("a killed program ended well")
	}
	reset := serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0", "--reset")
	if name := ask(t, url, `SELECT name FROM core.roles WHERE id = 4`); name != "editor" {
		t.Errorf("after --reset role 4 is %q", name)
	}
	if err := reset.end(syscall.SIGINT); err != nil {
		t.Errorf("SIGINT: %v", err)
	}
}

func TestTwoDemosSideBySide(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	one := serving(t, nil, "demo", "--data", data)
	other := serving(t, nil, "demo", "--data", t.TempDir())
	if one.ready == other.ready {
		t.Errorf("both are at %s", one.ready)
	}
	if cookieName(data) == cookieName(data+"2") {
		t.Error("their cookies have one name")
	}
	_, wrong, code := once(t, nil, "demo", "--data", data, "--reset")
	if code != 1 || !strings.Contains(wrong, "in use by another countersign") || !strings.Contains(wrong, "--data") {
		t.Errorf("a second demo on the same data ended with %d: %s", code, wrong)
	}
	_, wrong, code = once(t, nil, "demo", "--data", t.TempDir(), "--addr", strings.TrimPrefix(one.ready, "http://"))
	if code != 1 || !strings.Contains(wrong, "another program listens on") {
		t.Errorf("a demo at a taken address ended with %d: %s", code, wrong)
	}
	for _, p := range []*program{one, other} {
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("SIGTERM: %v\n%s", err, p.wrong)
		}
	}
}

func TestADemoEndsWithItsDatabase(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := serving(t, nil, "demo", "--data", data, "--addr", "127.0.0.1:0")
	superuser := strings.Replace(environmentFile(t, data), "countersign_owner", "postgres", 1)
	pid := ask(t, superuser, `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)`)
	if err := exec.CommandContext(t.Context(), "kill", "-INT", pid).Run(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || !strings.Contains(p.wrong.String(), "postgres.log") {
		t.Errorf("ended with %v: %s", err, p.wrong)
	}
}

// environmentFile gives the database that a demo wrote down.
func environmentFile(t *testing.T, data string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(data, "countersign.env"))
	url, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "DATABASE_URL=")
	if err != nil || !ok {
		t.Fatalf("countersign.env is %q, %v", content, err)
	}
	return url
}
