package feed

import (
	"errors"
	"math"
	"testing"
)

func TestACursorLeadsBack(t *testing.T) {
	for _, p := range []Position{0, 1, 4711, math.MaxInt64} {
		if got, err := ParseCursor(p.Cursor()); err != nil || got != p {
			t.Errorf("%d: %q leads to %d, %v", p, p.Cursor(), got, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, cursor := range []string{"", "0", "feed:1", Position(7).Cursor(), Oldest.Cursor(), "ZmVlZDowMQ", "ZmVlZDorMQ", "ZmVlZDo", "ZmVlZDo5OTk5OTk5OTk5OTk5OTk5OTk5OTk"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := ParseCursor(cursor)
		switch {
		case err != nil && !errors.Is(err, ErrInvalid):
			t.Fatalf("%q: %v", cursor, err)
		case err == nil && (p < 0 || p.Cursor() != cursor):
			t.Fatalf("%q leads to %d", cursor, p)
		}
	})
}
