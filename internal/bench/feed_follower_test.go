package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// follower is one connection of a band. It takes frames apart only as far as it has to.
type follower struct {
	band       *band
	descriptor int
	events     int
	last       int64 // when it was last told
	leaving    bool

	head  []byte // of the next frame, as far as it is there
	kind  byte   // of the frame that is being read
	rest  int    // of its payload
	start []byte // of its payload
}

const (
	kindText, kindPing = 0x1, 0x9

	pongStart  = `{"type":"pong"`
	eventStart = `"type":"next"`
	startSize  = 60 // an event begins with its id
)

// read takes what is there; false where the connection has ended.
func (f *follower) read(buffer []byte) bool {
	n, err := syscall.Read(f.descriptor, buffer)
	switch {
	case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR):
		return true
	case n > 0:
		f.last = time.Now().UnixNano()
		f.take(buffer[:n])
		return true
	case err == nil:
		err = io.EOF
	}
	f.fail(fmt.Errorf("a connection ended: %w", err))
	return false
}

func (f *follower) take(b []byte) {
	for len(b) > 0 {
		if f.rest == 0 {
			b = f.begin(b)
			continue
		}
		n := min(f.rest, len(b))
		f.start = append(f.start, b[:min(n, startSize-len(f.start))]...)
		b = b[n:]
		if f.rest -= n; f.rest == 0 {
			f.whole()
		}
	}
}

// begin reads the head of a frame, and gives what follows it.
func (f *follower) begin(b []byte) []byte {
	for len(b) > 0 && len(f.head) < headSize(f.head) {
		f.head, b = append(f.head, b[0]), b[1:]
	}
	size := headSize(f.head)
	if len(f.head) < size {
		return b
	}
	f.kind, f.rest, f.start = f.head[0]&0x0F, int(f.head[1]), f.start[:0]
	if size > 2 {
		f.rest = 0
		for _, one := range f.head[2:] {
			f.rest = f.rest<<8 | int(one)
		}
	}
	f.head = f.head[:0]
	if f.rest == 0 {
		f.whole()
	}
	return b
}

func headSize(head []byte) int {
	switch {
	case len(head) >= 2 && head[1] == 126:
		return 4
	case len(head) >= 2 && head[1] == 127:
		return 10
	}
	return 2
}

// whole is called when a frame has been read.
func (f *follower) whole() {
	switch {
	case f.kind == kindPing:
		f.say(0x8A, nil)
	case f.kind != kindText:
		f.fail(fmt.Errorf("told a frame of kind %d: %q", f.kind, f.start))
	case bytes.Contains(f.start, []byte(eventStart)):
		if f.events < f.band.Kept {
			f.band.came[f.events] = append(f.band.came[f.events], f.last)
		}
		f.events++
		f.band.told++
	case bytes.HasPrefix(f.start, []byte(pongStart)):
		f.band.settled++
	default:
		f.fail(fmt.Errorf("told %s", f.start))
	}
}

// say sends a short frame.
func (f *follower) say(first byte, payload []byte) {
	_, _ = syscall.Write(f.descriptor, masked(first, payload))
}

// leave begins to close: what the server still sends is not looked at.
func (f *follower) leave() {
	f.leaving = true
	f.say(0x88, []byte{1000 >> 8, 1000 & 0xFF})
}

func (f *follower) fail(err error) {
	if !f.leaving && f.band.failed == nil {
		f.band.failed = err
	}
}

func (f *follower) close() {
	_ = syscall.Close(f.descriptor)
	f.band.here--
}
