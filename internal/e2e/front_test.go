package e2e

import (
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
)

// front is a way to the server that can be cut, as a network is: for a world's tabs, and not for what the test
// itself asks of the server.
type front struct {
	net.Listener
	lock  sync.Mutex
	gone  bool
	conns []net.Conn
}

// behind gives the same world at the other end of a front.
func (w *world) behind() (*world, *front) {
	w.t.Helper()
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
	s := httptest.NewUnstartedServer(proxy)
	f := &front{Listener: s.Listener}
	s.Listener = f
	s.Start()
	w.t.Cleanup(func() { f.cut(); s.Close() })
	there := *w
	there.url = s.URL
	return &there, f
}

// Accept takes a connection, and drops it while the way is cut.
func (f *front) Accept() (net.Conn, error) {
	conn, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.gone {
		_ = conn.Close()
	}
	f.conns = append(f.conns, conn)
	return conn, nil
}

// cut ends every connection, and those that come after.
func (f *front) cut() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.gone = true
	for _, conn := range f.conns {
		_ = conn.Close()
	}
	f.conns = nil
}

// mend lets connections through again.
func (f *front) mend() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.gone = false
}
