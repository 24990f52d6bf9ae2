package command

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"
)

func TestOnlyThisMachineReachesLoopback(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "0.0.0.0:0": false, ":0": false} {
		listener, err := listen(t.Context(), address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		if onLoopback(listener) != want {
			t.Errorf("%s on loopback: %v", address, !want)
		}
		_ = listener.Close()
	}
}

// A request that is under way when the program is to stop is answered.
func TestARequestUnderWayIsAnswered(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	inside, release := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(inside)
		<-release
		if r.Context().Err() != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, "done")
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, listener, handler, func() {}, slog.New(slog.DiscardHandler)) }()
	answered := make(chan string, 1)
	go func() {
		status, body := get(t, origin(listener))
		answered <- http.StatusText(status) + " " + body
	}()
	<-inside
	stop()
	close(release)
	if got := <-answered; got != "OK done" {
		t.Errorf("answered %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What lasts and takes no goodbye ends when its context does, and does not keep the program.
func TestWhatLastsIsCutOff(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		stop()
		<-r.Context().Done()
	})
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, listener, handler, func() {}, slog.New(slog.DiscardHandler)) }()
	began := time.Now()
	get(t, origin(listener))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < grace {
		t.Errorf("it took %v", took)
	}
}
