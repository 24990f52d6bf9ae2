package server_test

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/server"
)

// The clients that integrators use. `make streams` installs and runs them; other runs need no Node.
func TestTheNpmClients(t *testing.T) {
	if os.Getenv("COUNTERSIGN_STREAMS") == "" {
		t.Skip("make streams runs this")
	}
	w := &world{t: t, db: pgtest.New(t)}
	first, url := w.launch()
	w.url = url
	second, _ := w.launch()
	answering := atomic.Pointer[server.Server]{}
	answering.Store(first)
	h := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { answering.Load().Handler.ServeHTTP(rw, r) }))
	defer h.Close()
	script := exec.CommandContext(t.Context(), "node", "streams.mjs", h.URL, w.signIn("maria@harbor.example").token)
	script.Dir = "../../tools/streams"
	wrong := bytes.Buffer{}
	script.Stderr = &wrong
	out, err := script.StdoutPipe()
	if err == nil {
		err = script.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	goodbyes := 0
	for lines := bufio.NewScanner(out); lines.Scan(); goodbyes++ {
		answering.Store(second)
		first.SayGoodbye()
	}
	if err := script.Wait(); err != nil || goodbyes != 1 {
		t.Errorf("%v after %d goodbyes\n%s", err, goodbyes, wrong.String())
	}
}
