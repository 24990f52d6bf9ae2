package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// grace is how long requests may take to end once the program is to stop.
const grace = 5 * time.Second

// listen opens an address; its error says in a sentence that another program has the port.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s: choose another address with --addr or COUNTERSIGN_ADDR (%w)", address, syscall.EADDRINUSE)
	}
	return listener, err
}

// origin is where a browser on this machine finds a listener.
func origin(listener net.Listener) string {
	at, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + listener.Addr().String()
	}
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// onLoopback tells whether only this machine reaches a listener.
func onLoopback(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// serveHTTP answers requests until ctx ends. Then goodbye is called, which ends the streams: the HTTP server
// does not know of all of them, and would wait for the others. Requests under way have a while to end; what
// lasts longer is cut off.
func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler, goodbye func(), log *slog.Logger) error {
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	goodbye()
	time.AfterFunc(grace, cutOff)
	last, cancel := context.WithTimeout(requests, 2*grace)
	defer cancel()
	if err := server.Shutdown(context.WithoutCancel(last)); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
