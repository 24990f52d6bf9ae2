package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxText is how many characters of a value are printed before it is cut.
const MaxText = 200

// Kind tells apart what would otherwise look alike or like nothing.
type Kind string

// A text is Plain, or it is one of the others.
const (
	Plain  Kind = "value"
	Null   Kind = "null"
	Empty  Kind = "empty"
	Blank  Kind = "blank"
	Masked Kind = "masked"
)

// Shown is how a card prints a value. Text holds at most MaxText characters; Segments hold it whole.
type Shown struct {
	Kind      Kind
	Text      string
	Truncated bool
	Segments  []Segment
	Warnings  []Warning
}

// Show prints a value. Null, empty and blank differ, hidden characters are visible marks, and a masked
// value shows only that there is one.
func Show(v *Value, t FieldType) Shown {
	switch {
	case v == nil:
		return Shown{Kind: Null, Text: "", Segments: []Segment{}, Warnings: []Warning{}}
	case v.Masked && !v.Null:
		return fixed(Masked, "••••••")
	case v.Null:
		return fixed(Null, "(null)")
	}
	s := printed(v, t)
	if t != JSON {
		if s == "" {
			return fixed(Empty, "(empty)")
		}
		if blank := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) }) < 0; blank {
			return fixed(Blank, fmt.Sprintf("(blank: %d characters)", utf8.RuneCountInString(s)))
		}
	}
	text, cut := clip(Visible(s), MaxText)
	return Shown{Kind: Plain, Text: text, Truncated: cut, Segments: Mark(s), Warnings: Warnings(s)}
}

func fixed(k Kind, text string) Shown {
	return Shown{Kind: k, Text: text, Segments: []Segment{{Text: text}}, Warnings: []Warning{}}
}

func clip(s string, limit int) (string, bool) {
	if utf8.RuneCountInString(s) <= limit {
		return s, false
	}
	return string([]rune(s)[:limit-1]) + "…", true
}

// printed is the whole value as text, before marks.
func printed(v *Value, t FieldType) string {
	s := text(v.JSON)
	switch t {
	case Date:
		if d, err := time.Parse(time.DateOnly, s); err == nil {
			return d.Format("Mon 2006-01-02")
		}
	case Timestamp:
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return at.UTC().Format("Mon 2006-01-02 15:04:05.999999 UTC")
		}
	case Reference:
		if v.Label != "" {
			return fmt.Sprintf("%s (%s)", v.Label, s)
		}
	case JSON:
		var b bytes.Buffer
		if json.Compact(&b, v.JSON) == nil {
			return b.String()
		}
	}
	return s
}

// text is a JSON string's content, or any other JSON as it is written.
func text(j json.RawMessage) string {
	var s string
	if json.Unmarshal(j, &s) == nil && len(j) > 0 && j[0] == '"' {
		return s
	}
	return string(j)
}
