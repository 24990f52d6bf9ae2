package graph

import (
	"crypto/sha1" // the handshake of RFC 6455 asks for it
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/internal/identity"
)

const (
	subprotocol   = "graphql-transport-ws"
	handshakeGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

// overWebSocket takes the upgrades and speaks graphql-transport-ws on them. It stands in for the library's own
// transport, whose close codes are not the protocol's and which keeps several buffers and goroutines for each
// connection.
type overWebSocket struct{ *streams }

// upgrades tells whether a request asks for a WebSocket.
func upgrades(r *http.Request) bool {
	return r.Method == http.MethodGet && lists(r.Header, "Connection", "upgrade") && lists(r.Header, "Upgrade", "websocket")
}

func (overWebSocket) Supports(r *http.Request) bool { return upgrades(r) }

func (t overWebSocket) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	key := r.Header.Get("Sec-WebSocket-Key")
	nonce, err := base64.StdEncoding.DecodeString(key)
	switch {
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		w.Header().Set("Sec-WebSocket-Version", "13")
		http.Error(w, "this speaks version 13 of the WebSocket protocol", http.StatusUpgradeRequired)
		return
	case err != nil || len(nonce) != 16:
		http.Error(w, "Sec-WebSocket-Key: not a key", http.StatusBadRequest)
		return
	case !sameOrigin(r):
		http.Error(w, "this page is another site's", http.StatusForbidden)
		return
	}
	conn, in, err := feed.Hijack(w, t.keepAlive)
	if err != nil {
		http.Error(w, "this connection cannot be upgraded", http.StatusNotImplemented)
		return
	}
	s := &socket{streams: t.streams, exec: exec, conn: conn, frames: frames{in: in}, greeting: greetingOf(r)}
	s.out = feed.NewOutlet(conn, s.written)
	s.open(key, lists(r.Header, "Sec-WebSocket-Protocol", subprotocol))
	if !t.hub.Greet(s) {
		s.Ended(feed.ErrLeaving, nil)
	}
	go s.read() // and so leave what the HTTP server keeps for a request
}

// greeting is what an upgrade said of who acts, until connection_init.
type greeting struct {
	who     identity.Actor
	refused error
	bearer  bool // the upgrade had an Authorization header, which alone counts
	address string
}

func greetingOf(r *http.Request) *greeting {
	who, err := identity.Who(r.Context())
	_, bearer := r.Header["Authorization"]
	return &greeting{who: who, refused: err, bearer: bearer, address: r.RemoteAddr}
}

// open answers the handshake; a client that does not offer the protocol is told so once it is connected,
// since browsers hear of nothing else.
func (s *socket) open(key string, offered bool) {
	sum := sha1.Sum([]byte(key + handshakeGUID))
	answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n"
	if offered {
		answer += "Sec-WebSocket-Protocol: " + subprotocol + "\r\n"
	}
	_ = s.out.Send(feed.Frame{Bytes: []byte(answer + "\r\n")}) // who has gone is found gone by read
	_ = s.conn.SetReadDeadline(time.Now().Add(initTime))
	if !offered {
		s.close(closeSubprotocol, "Subprotocol not acceptable")
	}
}

// lists tells whether a header that is a list has a value.
func lists(h http.Header, name, value string) bool {
	for _, line := range h.Values(name) {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), value) {
				return true
			}
		}
	}
	return false
}
