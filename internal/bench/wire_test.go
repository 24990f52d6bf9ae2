package bench_test

import (
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// statement is one as it was sent: its SQL, and its parameters as they stood on the wire.
type statement struct {
	sql     string
	params  [][]byte
	formats []int16
	results []int16
	simple  bool // text alone, without parameters
}

// trip is what was sent before an answer was waited for.
type trip struct {
	login string
	sent  []statement
}

// wire stands between a program and its database and writes down what the program sends.
type wire struct {
	t        testing.TB
	database *pgconn.Config
	listener net.Listener

	mu    sync.Mutex
	trips []trip
}

// listen gives a wire to the database of a URL.
func listen(t testing.TB, databaseURL string) *wire {
	t.Helper()
	database, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, database: database, listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go w.accept()
	return w
}

// use makes servers that start before it is undone reach the database through the wire. Each of their pools
// has one connection, so that it is soon known which statements are prepared.
func (w *wire) use(t testing.TB, databaseURL string) (undo func()) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(w.listener.Addr().String())
	query := u.Query()
	for name, value := range map[string]string{"host": host, "port": port, "sslmode": "disable", "pool_max_conns": "1"} {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	logins := []string{"gate", "agent", "reader", "identity"} // not the worker, which sends when it likes
	variable := func(login string) string { return "COUNTERSIGN_" + strings.ToUpper(login) + "_URL" }
	for _, login := range logins {
		u.User = url.User("countersign_" + login)
		t.Setenv(variable(login), u.String())
	}
	return func() {
		for _, login := range logins {
			_ = os.Unsetenv(variable(login))
		}
	}
}

// take gives what was sent since it was last taken.
func (w *wire) take() []trip {
	w.mu.Lock()
	defer w.mu.Unlock()
	trips := w.trips
	w.trips = nil
	return trips
}

func (w *wire) accept() {
	for {
		program, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.carry(program)
	}
}

// carry takes one connection through, both ways, until either end closes it.
func (w *wire) carry(program net.Conn) {
	defer func() { _ = program.Close() }()
	network, address := pgconn.NetworkAddress(w.database.Host, w.database.Port)
	database, err := (&net.Dialer{}).DialContext(w.t.Context(), network, address)
	if err != nil {
		w.t.Errorf("reach the database: %v", err)
		return
	}
	defer func() { _ = database.Close() }()
	go func() { _, _ = io.Copy(program, database) }()
	from, to := pgproto3.NewBackend(program, program), pgproto3.NewFrontend(database, database)
	start, err := from.ReceiveStartupMessage()
	if err != nil {
		return
	}
	to.Send(start)
	heard := &heard{wire: w, prepared: map[string]string{}}
	if hello, ok := start.(*pgproto3.StartupMessage); ok {
		heard.login = strings.TrimPrefix(hello.Parameters["user"], "countersign_")
	}
	for to.Flush() == nil {
		message, err := from.Receive()
		if err != nil {
			return
		}
		heard.hear(message)
		to.Send(message)
	}
}

// heard is what is known of one connection.
type heard struct {
	wire     *wire
	login    string
	prepared map[string]string
	sent     []statement
}

func (h *heard) hear(message pgproto3.FrontendMessage) {
	switch m := message.(type) {
	case *pgproto3.Parse:
		h.prepared[m.Name] = m.Query
	case *pgproto3.Bind:
		s := statement{sql: h.prepared[m.PreparedStatement], formats: slices.Clone(m.ParameterFormatCodes), results: slices.Clone(m.ResultFormatCodes)}
		for _, p := range m.Parameters {
			s.params = append(s.params, slices.Clone(p))
		}
		h.sent = append(h.sent, s)
	case *pgproto3.Query:
		h.sent = append(h.sent, statement{sql: m.String, simple: true})
		h.answered()
	case *pgproto3.Sync:
		h.answered()
	}
}

// answered ends a round trip; one that only prepared statements is none of a warm connection.
func (h *heard) answered() {
	if len(h.sent) == 0 {
		return
	}
	h.wire.mu.Lock()
	defer h.wire.mu.Unlock()
	h.wire.trips = append(h.wire.trips, trip{login: h.login, sent: h.sent})
	h.sent = nil
}

// name is a statement's in queries/, or the beginning of its text.
func (s statement) name() string {
	if named, ok := strings.CutPrefix(s.sql, "-- name: "); ok {
		name, _, _ := strings.Cut(named, " ")
		return name
	}
	text := strings.Join(strings.Fields(s.sql), " ")
	if len(text) > 48 {
		return text[:48] + "…"
	}
	return text
}
