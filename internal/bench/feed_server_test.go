package bench_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/countersign/countersign/internal/server"
)

// Serving is a server in a process of its own. Where COUNTERSIGN_BENCH_PROFILES names a directory it can be
// profiled.
type Serving struct {
	address string
	profile *os.File
}

// serveFeed is the role of a server on a database, as `countersign serve` is one.
func serveFeed() {
	yaml, err := os.ReadFile("../../countersign.yaml")
	if err != nil {
		panic(err)
	}
	s, err := server.New(context.Background(), server.Config{OwnerURL: os.Getenv(databaseVariable), Registry: yaml, CookieName: "countersign",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	h := &http.Server{Handler: s.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelWarn)}
	go func() { _ = h.Serve(listener) }()
	answering(&Serving{address: listener.Addr().String()})
	_ = h.Close()
}

// Address is where it listens.
func (s *Serving) Address(_ int, address *string) error {
	*address = s.address
	return nil
}

// Tidy gives back all memory that is not in use, and says how much is: by what lives on the heap, and by
// stacks.
func (s *Serving) Tidy(_ int, used *[2]int64) error {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	*used = [2]int64{int64(m.HeapAlloc), int64(m.StackInuse)}
	return nil
}

// Profile writes a profile of what follows, until it is called again. An empty name is none.
func (s *Serving) Profile(name string, _ *int) error {
	directory := os.Getenv("COUNTERSIGN_BENCH_PROFILES")
	if directory == "" {
		return nil
	}
	if s.profile != nil {
		pprof.StopCPUProfile()
		_ = s.profile.Close()
		s.profile = nil
	}
	if name == "" {
		return nil
	}
	var err error
	if s.profile, err = os.Create(filepath.Join(directory, name+".pprof")); err != nil {
		return err
	}
	return pprof.StartCPUProfile(s.profile)
}
