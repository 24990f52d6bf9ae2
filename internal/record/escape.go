package record

import (
	"bytes"
	"strings"
)

// brokenEscape finds what PostgreSQL cannot keep in a text: \u0000, and half of a surrogate pair.
func brokenEscape(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] == 0 {
			return true
		}
		if raw[i] != '\\' {
			continue
		}
		i++
		if i >= len(raw) || raw[i] != 'u' {
			continue
		}
		unit := hex4(raw[i+1:])
		i += 4
		switch {
		case unit == 0, unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			next := raw[min(i+1, len(raw)):]
			if !bytes.HasPrefix(next, []byte(`\u`)) {
				return true
			}
			if low := hex4(next[2:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 6
		}
	}
	return false
}

// hex4 reads four hexadecimal digits; 0, which is refused, where there are none.
func hex4(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	unit := 0
	for _, c := range b[:4] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if c <= '9' {
			digit = int(c) - '0'
		}
		if digit < 0 || digit > 15 {
			return 0
		}
		unit = unit<<4 | digit
	}
	return unit
}

// depth is how deep arrays and objects are nested in valid JSON.
func depth(raw []byte) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			now++
			deepest = max(deepest, now)
		case c == ']' || c == '}':
			now--
		}
	}
	return deepest
}
