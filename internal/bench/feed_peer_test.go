package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// peer is graphql-ws on Node: what people use where there is no feed.
type peer struct {
	*process
	address string
	version string
}

// newPeer starts it; or says what is missing.
func newPeer(b *testing.B) (*peer, string) {
	b.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "Node is not installed"
	}
	if _, err := os.Stat("../../tools/streams/node_modules/graphql-ws"); err != nil {
		return nil, "graphql-ws is not installed (cd tools/streams && npm ci)"
	}
	p := &peer{process: launch(b, exec.CommandContext(b.Context(), node, "../../tools/streams/peer.mjs"))}
	line, err := p.out.ReadString('\n')
	if err != nil {
		b.Fatalf("graphql-ws on Node did not start: %v", err)
	}
	p.address = strings.TrimSpace(line)
	p.version, _ = p.asks("/", "")
	return p, ""
}

// asks gives its version and how many follow it.
func (p *peer) asks(path, body string) (version string, followers int) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		p.t.Fatal(err)
	}
	_, _ = fmt.Sscan(string(said), &version, &followers)
	return version, followers
}

// attended waits until so many follow it: it says pong before they do.
func (p *peer) attended(n int) {
	p.t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if _, followers := p.asks("/", ""); followers == n {
			return
		}
	}
	p.t.Fatalf("graphql-ws on Node is not followed by %d", n)
}

// emit tells everyone who follows of an event, and gives when that began.
func (p *peer) emit(event string) time.Time {
	p.t.Helper()
	began := time.Now()
	p.asks("/emit", event)
	return began
}
