package feed

import (
	"net"
	"syscall"
	"time"
)

const tcpUserTimeout = 18 // TCP_USER_TIMEOUT, which package syscall does not name

// GiveUp makes a connection fail where what was sent is not acknowledged for that long: the other end has
// gone without a word.
func GiveUp(conn net.Conn, after time.Duration) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(after.Milliseconds())) // the system's own is longer
		})
	}
}
