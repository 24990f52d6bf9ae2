//go:build unix

package feed

import (
	"errors"
	"syscall"
)

// attempt writes what a connection takes at once, without waiting.
func attempt(raw syscall.RawConn, frame []byte) (int, error) {
	if raw == nil {
		return 0, nil
	}
	written, failed := 0, error(nil)
	err := raw.Write(func(fd uintptr) bool {
		written, failed = syscall.Write(int(fd), frame)
		return true
	})
	if err == nil {
		err = failed
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		return 0, nil
	}
	return max(written, 0), err
}
