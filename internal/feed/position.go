package feed

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// Position is an event's place in the feed. Positions rise; there may be gaps between them.
type Position int64

// Oldest is before everything that is kept: reading from it never answers ErrExpired.
const Oldest Position = -1

// ErrInvalid says that a text is no cursor of the feed.
var ErrInvalid = errors.New("this is not a cursor of the feed")

// ErrExpired says that what came after a position is not kept any more, or that the position was never
// given, as after a restore of the database: who stood there loads anew.
var ErrExpired = errors.New("what came after this cursor is not kept any more")

const cursorOf = "feed:"

// Cursor gives the position as clients hold it, who are told nothing of what is in it.
func (p Position) Cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorOf + strconv.FormatInt(int64(p), 10)))
}

// ParseCursor reads what Cursor gave; anything else is ErrInvalid.
func ParseCursor(cursor string) (Position, error) {
	if len(cursor) > 64 {
		return 0, ErrInvalid
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, ErrInvalid
	}
	digits, ours := strings.CutPrefix(string(text), cursorOf)
	number, err := strconv.ParseInt(digits, 10, 64)
	if p := Position(number); !ours || err != nil || p < 0 || p.Cursor() != cursor {
		return 0, ErrInvalid
	}
	return Position(number), nil
}
