package graph

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// clientFrame makes a frame as clients do, masked.
func clientFrame(first byte, payload string) []byte {
	b := frameOf(first&0x0F, []byte(payload))
	head := len(b) - len(payload)
	b[0], b[1] = first, b[1]|masked
	mask := []byte{1, 2, 3, 4}
	out := append(bytes.Clone(b[:head]), mask...)
	for i, c := range b[head:] {
		out = append(out, c^mask[i&3])
	}
	return out
}

func reader(b ...[]byte) *frames {
	return &frames{in: bufio.NewReaderSize(bytes.NewReader(bytes.Join(b, nil)), 64)}
}

func TestFramesOfEverySizeAreRead(t *testing.T) {
	for _, size := range []int{0, 1, 125, 126, 127, 65535, 65536, 1 << 20} {
		text := strings.Repeat("a", size)
		kind, payload, err := reader(clientFrame(final|opText, text)).next()
		if err != nil || kind != opText || string(payload) != text {
			t.Errorf("%d bytes: %d, %d bytes, %v", size, kind, len(payload), err)
		}
	}
}

func TestFragmentsAreOneText(t *testing.T) {
	f := reader(clientFrame(opText, "a"), clientFrame(final|opPing, "p"), clientFrame(opContinue, "b"), clientFrame(final|opContinue, "c"), clientFrame(final|opText, "d"))
	for _, want := range []string{"9 p", "1 abc", "1 d"} {
		kind, payload, err := f.next()
		if got := string('0'+rune(kind)) + " " + string(payload); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	if _, _, err := f.next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// A header that promises much takes no memory for it.
func TestMemoryIsTakenAsBytesArrive(t *testing.T) {
	promised := clientFrame(final|opText, strings.Repeat("a", 1<<20))[:14]
	if n := testing.AllocsPerRun(10, func() { _, _, _ = reader(promised).next() }); n > 12 {
		t.Errorf("%v allocations", n)
	}
	whole := strings.Repeat("a", 1<<19)
	for _, parts := range [][][]byte{
		{clientFrame(opText, whole), clientFrame(opContinue, whole), clientFrame(final|opContinue, "x")},
		{{final | opText, masked | 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}},
	} {
		wrong := (*violation)(nil)
		if _, _, err := reader(parts...).next(); !errors.As(err, &wrong) || wrong.code != closeTooBig {
			t.Errorf("got %v", err)
		}
	}
}

func TestACloseFrameFitsAndIsText(t *testing.T) {
	b := closeFrame(closeDoubled, strings.Repeat("é", 100))
	if len(b) > 2+maxControl || !utf8.Valid(b[4:]) || b[0] != final|opClose {
		t.Errorf("%d bytes: %q", len(b), b)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(clientFrame(final|opText, `{"type":"ping"}`))
	f.Add(bytes.Join([][]byte{clientFrame(opText, "a"), clientFrame(final|opClose, "\x03\xe8"), clientFrame(final|opContinue, "b")}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := reader(b)
		for {
			kind, payload, err := in.next()
			if err != nil {
				return
			}
			if kind == opText && (!utf8.Valid(payload) || len(payload) > maxMessage) || kind >= opClose && len(payload) > maxControl {
				t.Fatalf("%d: %q", kind, payload)
			}
		}
	})
}
