package graph

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// The parts of RFC 6455 that a server needs: it reads masked frames and writes whole ones.

const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA
	final      = 0x80
	masked     = 0x80

	maxControl = 125
	maxMessage = maxBody
)

// Close codes of RFC 6455 and of graphql-transport-ws.
const (
	closeNormal          = 1000
	closeProtocol        = 1002
	closeUnsupported     = 1003
	closeNotUTF8         = 1007
	closeTooBig          = 1009
	closeRestart         = 1012
	closeTryAgain        = 1013
	closeInvalid         = 4400
	closeUnauthorized    = 4401
	closeForbidden       = 4403
	closeSubprotocol     = 4406
	closeInitTimeout     = 4408
	closeDoubled         = 4409
	closeTooMany         = 4429
	closeInternal        = 4500
	longestCloseSentence = maxControl - 2
)

// violation is what a client did against a protocol, as the close frame says it.
type violation struct {
	code   int
	reason string
}

func (v *violation) Error() string { return fmt.Sprintf("%d %s", v.code, v.reason) }

// frameOf makes a frame that is a whole message.
func frameOf(kind byte, parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b := beginFrame(make([]byte, 0, size+10), kind, size)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// beginFrame appends what comes before the payload of a frame that is a whole message.
func beginFrame(b []byte, kind byte, size int) []byte {
	switch {
	case size < 126:
		return append(b, final|kind, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, final|kind, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, final|kind, 127), uint64(size))
}

func closeFrame(code int, reason string) []byte {
	reason = reason[:min(len(reason), longestCloseSentence)]
	for !utf8.ValidString(reason) {
		reason = reason[:len(reason)-1]
	}
	return frameOf(opClose, binary.BigEndian.AppendUint16(nil, uint16(code)), []byte(reason))
}

// frames reads what a client sends.
type frames struct {
	in      *bufio.Reader
	partial []byte // of a text that comes in several frames
	within  bool
}

// next gives the next whole text, or a ping, pong or close.
func (f *frames) next() (kind byte, payload []byte, err error) {
	for {
		first, payload, err := f.frame()
		if err != nil {
			return 0, nil, err
		}
		kind, last := first&0x0F, first&final != 0
		switch {
		case kind >= opClose:
			return kind, payload, nil
		case kind == opContinue && !f.within || kind != opContinue && f.within:
			return 0, nil, &violation{closeProtocol, "Fragments out of order"}
		case kind == opBinary:
			return 0, nil, &violation{closeUnsupported, "Text only"}
		case !last:
			f.partial, f.within = append(f.partial, payload...), true
			continue
		}
		if f.within {
			payload = append(f.partial, payload...)
			f.partial, f.within = nil, false
		}
		if !utf8.Valid(payload) {
			return 0, nil, &violation{closeNotUTF8, "Not UTF-8"}
		}
		return opText, payload, nil
	}
}

// frame reads one frame.
func (f *frames) frame() (first byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(f.in, head[:2]); err != nil {
		return 0, nil, err
	}
	first, size := head[0], uint64(head[1]&^masked)
	kind := first & 0x0F
	switch {
	case head[1]&masked == 0, first&0x70 != 0, kind > opBinary && kind < opClose, kind > opPong:
		return 0, nil, &violation{closeProtocol, "Not a frame of a client"}
	case kind >= opClose && (size > maxControl || first&final == 0):
		return 0, nil, &violation{closeProtocol, "Not a control frame"}
	}
	if size, err = f.size(size, head[:]); err != nil {
		return 0, nil, err
	}
	if size > maxMessage || uint64(len(f.partial))+size > maxMessage {
		return 0, nil, &violation{closeTooBig, "At most 1 MB"}
	}
	mask := [4]byte{}
	if _, err := io.ReadFull(f.in, mask[:]); err != nil {
		return 0, nil, err
	}
	payload, err = read(f.in, int(size))
	for i := range payload {
		payload[i] ^= mask[i&3]
	}
	return first, payload, err
}

func (f *frames) size(short uint64, b []byte) (uint64, error) {
	switch short {
	case 126:
		_, err := io.ReadFull(f.in, b[:2])
		return uint64(binary.BigEndian.Uint16(b)), err
	case 127:
		_, err := io.ReadFull(f.in, b[:8])
		return binary.BigEndian.Uint64(b), err
	}
	return short, nil
}

// read takes memory as bytes arrive, and not because a header promises them.
func read(in io.Reader, size int) ([]byte, error) {
	const step = 16 << 10
	payload := make([]byte, min(size, step))
	if _, err := io.ReadFull(in, payload); err != nil {
		return nil, err
	}
	for len(payload) < size {
		from := len(payload)
		more := min(size-from, from)
		payload = slices.Grow(payload, more)[:from+more]
		if _, err := io.ReadFull(in, payload[from:]); err != nil {
			return nil, err
		}
	}
	return payload, nil
}
