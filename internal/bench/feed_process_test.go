package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What serves, what follows and what measures are processes of their own, so that it is known what each
// costs. Those of ours are this program again, in a role; they do what is called over their standard streams
// and end with them.
const (
	roleVariable     = "COUNTERSIGN_BENCH_ROLE"
	databaseVariable = "COUNTERSIGN_BENCH_DATABASE"
)

var roles = map[string]func(){"server": serveFeed, "crowd": beCrowd}

// process is one that a benchmark started. It is ended with the benchmark.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	rpc *rpc.Client // nil for one that is not ours
}

func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(p.end)
	return p
}

// enact starts this program in a role.
func enact(t testing.TB, role, databaseURL string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, databaseVariable+"="+databaseURL)
	p := launch(t, cmd)
	p.rpc = rpc.NewClient(both{p.out, p.in})
	return p
}

func (p *process) end() {
	_ = p.in.Close()
	gone := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer gone.Stop()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
}

func (p *process) call(method string, args, reply any) {
	p.t.Helper()
	if err := p.rpc.Call(method, args, reply); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// answering does what is called, until whoever started this process ends it or has ended.
func answering(one any) {
	server := rpc.NewServer()
	if err := server.Register(one); err != nil {
		panic(err)
	}
	server.ServeConn(both{os.Stdin, os.Stdout})
}

// both is what is read and what is written, as one connection.
type both struct {
	io.Reader
	io.WriteCloser
}

// cpu is what the process has used, to 10 ms; 0 where that is not to be seen.
func (p *process) cpu() time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var user, system int64
	_, _ = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident is the memory that the process has now, in bytes; what the kernel keeps for its sockets is not in it.
func (p *process) resident() int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}
