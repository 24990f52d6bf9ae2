package bench_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// connect makes one follower of a band, up to what it asks for, and has the crowd hear the rest. Its operation
// has an id of its own, as with the npm client.
func (c *Crowd) connect(b *band, hello string) (*follower, error) {
	conn, err := net.DialTimeout("tcp", b.Address, patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(conn)
	if err := greet(conn, in, b.Address, hello); err != nil {
		return nil, err
	}
	f := &follower{band: b}
	if f.descriptor, err = descriptorOf(conn); err != nil {
		return nil, err
	}
	wish, err := json.Marshal(map[string]any{"id": uuid.NewString(), "type": "subscribe", "payload": map[string]any{"query": b.Document}})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(append(masked(0x81, wish), masked(0x81, []byte(`{"type":"ping"}`))...)); err != nil {
		return nil, err
	}
	early, err := in.Peek(in.Buffered())
	if err != nil {
		return nil, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	f.take(early)
	b.here++
	c.at[f.descriptor] = f
	return f, c.poll.add(f.descriptor)
}

// greet opens the WebSocket and waits to be acknowledged.
func greet(conn net.Conn, in *bufio.Reader, address, hello string) error {
	_, _ = fmt.Fprintf(conn, "GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n", address)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the upgrade was answered %s", answer.Status)
	}
	if _, err := conn.Write(masked(0x81, []byte(`{"type":"connection_init","payload":`+hello+`}`))); err != nil {
		return err
	}
	said := ""
	for !strings.Contains(said, `"connection_ack"`) {
		one, err := in.ReadString('}')
		if err != nil || strings.Contains(said, "\x88") {
			return fmt.Errorf("not acknowledged: %q %w", said+one, err)
		}
		said += one
	}
	return nil
}

// descriptorOf gives one of its own for a connection, which does not block.
func descriptorOf(conn net.Conn) (descriptor int, err error) {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	controlled := raw.Control(func(fd uintptr) { descriptor, err = syscall.Dup(int(fd)) })
	if err == nil {
		err = controlled
	}
	return descriptor, err
}

// masked makes a frame of a client's, under a mask of zeros.
func masked(first byte, payload []byte) []byte {
	head := []byte{first, 0x80 | byte(len(payload))}
	if len(payload) >= 126 {
		head = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(len(payload)))
	}
	return append(append(head, 0, 0, 0, 0), payload...)
}
