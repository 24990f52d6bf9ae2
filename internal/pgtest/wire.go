package pgtest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Wire is a way to the database that can be cut in the middle of what one login does.
type Wire struct {
	URL   string // the owner's, over the wire
	login string

	lock sync.Mutex
	next *cut
}

// Lost says what does not arrive when a wire is cut: what was sent, or the answer to it.
type Lost int

// What can be lost.
const (
	Question Lost = iota
	Answer
)

// cut is how the wire will be cut.
type cut struct {
	at   func(sent []byte) bool
	lost Lost
	then func()
	done chan struct{}
}

// Wire gives a way to the database on which one login's sessions can be cut.
func (d *DB) Wire(t testing.TB, login string) *Wire {
	t.Helper()
	to, err := pgconn.ParseConfig(d.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.MkdirTemp("/tmp", "cs-wire-")
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "unix", filepath.Join(directory, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = listener.Close()
		_ = os.RemoveAll(directory)
	})
	address := url.URL{Scheme: "postgres", User: url.UserPassword(to.User, to.Password), Path: "/" + to.Database, RawQuery: "host=" + directory}
	w := &Wire{URL: address.String(), login: login}
	go w.serve(listener, to)
	return w
}

// Cut cuts the wire once, at the first exchange of the login's that at says yes to: nothing more is heard
// on that session, then is called, done is closed, and so are both its ends. It
// takes the place of a cut that was not made.
func (w *Wire) Cut(at func(sent []byte) bool, lost Lost, then func()) (done <-chan struct{}) {
	c := &cut{at: at, lost: lost, then: then, done: make(chan struct{})}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.next = c
	return c.done
}

// due gives the cut to be made at what a session sends; nil for none.
func (w *Wire) due(sent []byte) *cut {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.next == nil || !w.next.at(sent) {
		return nil
	}
	now := w.next
	w.next = nil
	return now
}

func (w *Wire) serve(listener net.Listener, to *pgconn.Config) {
	network, address := pgconn.NetworkAddress(to.Host, to.Port)
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(network, address) //nolint:noctx // it ends with the client
		if err != nil {
			_ = client.Close()
			continue
		}
		go (&session{wire: w, client: client, server: server}).run()
	}
}
