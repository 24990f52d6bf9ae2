//go:build failpoints

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// node is a server: a process of the program, at one address also after it was started again.
type node struct {
	t           testing.TB
	address     string
	environment []string

	lock    sync.Mutex
	running *running
}

// running is one life of a node.
type running struct {
	command *exec.Cmd
	input   io.WriteCloser
	hits    chan string   // the points that were hit
	answers chan struct{} // one for each thing that it was told
	gone    chan struct{}
	ready   chan struct{}
	wrong   *lastWords
}

// lastWords keeps the end of what a process complains of.
type lastWords struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.text.Len() > 1<<16 {
		w.text.Next(1 << 15)
	}
	return w.text.Write(p)
}

func (w *lastWords) String() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.text.String()
}

func newNode(t testing.TB, environment ...string) *node {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, address: listener.Addr().String(), environment: environment}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	n.start()
	t.Cleanup(n.kill)
	return n
}

func (n *node) url() string { return "http://" + n.address }

func (n *node) now() *running {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.running
}

// start starts the process and waits until it serves.
func (n *node) start() {
	n.t.Helper()
	r := &running{hits: make(chan string, 10000), answers: make(chan struct{}, 100), gone: make(chan struct{}), ready: make(chan struct{}), wrong: &lastWords{}}
	r.command = exec.CommandContext(context.WithoutCancel(n.t.Context()), os.Args[0])
	r.command.Env = append(append(os.Environ(), asServer+"=1", "COUNTERSIGN_ADDR="+n.address), n.environment...)
	r.command.Stderr = r.wrong
	output, err := r.command.StdoutPipe()
	if err == nil {
		r.input, err = r.command.StdinPipe()
	}
	if err == nil {
		err = r.command.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	go r.listen(output)
	n.lock.Lock()
	n.running = r
	n.lock.Unlock()
	select {
	case <-r.ready:
	case <-r.gone:
		n.t.Fatalf("a server did not start:\n%s", r.wrong)
	case <-time.After(time.Minute):
		n.t.Fatalf("a server was not ready after a minute:\n%s", r.wrong)
	}
}

func (r *running) listen(output io.Reader) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		switch what, point, _ := strings.Cut(lines.Text(), " "); what {
		case "ready":
			close(r.ready)
		case "hit":
			r.hits <- point
		case "armed", "done":
			r.answers <- struct{}{}
		}
	}
	_ = r.command.Wait()
	close(r.gone)
}

// tell gives an order and waits until it is done, or the process is gone.
func (n *node) tell(order string, more ...any) {
	r := n.now()
	_, _ = fmt.Fprintf(r.input, order+"\n", more...)
	select {
	case <-r.answers:
	case <-r.gone:
	}
}

func (r *running) ended() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}

func (n *node) kill() {
	r := n.now()
	_ = r.command.Process.Kill()
	<-r.gone
}

// answering waits until the server answers, and starts it where it is gone.
func (n *node) answering() {
	n.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if n.now().ended() {
			n.start()
		}
		request, err := http.NewRequestWithContext(n.t.Context(), http.MethodGet, n.url()+"/readyz", nil)
		if err != nil {
			n.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("a server does not answer: %v\n%s", err, n.now().wrong)
		}
	}
}
