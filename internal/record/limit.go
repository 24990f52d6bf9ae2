package record

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// limit says what the column takes.
func (c *column) limit() limit {
	one := c.elementLimit()
	if c.list {
		return "takes a list of values, each of which " + one
	}
	return one
}

func (c *column) elementLimit() limit {
	switch c.kind {
	case textKind:
		if c.maxLength > 0 {
			return limit(fmt.Sprintf("takes text of at most %d characters", c.maxLength))
		}
		return "takes text"
	case int2Kind:
		return wholeNumber(math.MinInt16, math.MaxInt16)
	case int4Kind:
		return wholeNumber(math.MinInt32, math.MaxInt32)
	case int8Kind:
		return wholeNumber(math.MinInt64, math.MaxInt64)
	case numericKind:
		if c.precision > 0 {
			return limit(fmt.Sprintf("takes a number with at most %d digits before the decimal point", max(0, c.precision-c.scale)))
		}
		return "takes a number of at most 1000 digits"
	case float4Kind, float8Kind:
		return "takes a number of ordinary size"
	case booleanKind:
		return "takes true or false"
	case dateKind:
		return "takes a date such as 2026-05-31, from the year 1000 to 9999"
	case timestampKind:
		return "takes a time without a zone such as 2026-05-31T10:00:00, from the year 1000 to 9999"
	case timestamptzKind:
		return "takes a time with its zone such as 2026-05-31T10:00:00Z, from the year 1000 to 9999"
	case uuidKind:
		return "takes a UUID such as 0190f3a0-7c1e-7bde-8b60-3f2f7a1f9a10"
	case enumKind:
		return limit("takes one of " + strings.Join(c.labels, ", "))
	case jsonKind, jsonbKind:
		return limit(fmt.Sprintf("takes JSON, nested at most %d deep", maxDepth))
	default:
		return "takes text"
	}
}

func wholeNumber(least, most int64) limit {
	return limit(fmt.Sprintf("takes a whole number from %d to %d", least, most))
}

// scan checks a value written as text and gives it as PostgreSQL reads it. The error is a limit.
func (c *column) scan(text string) (string, error) {
	scanned, ok := c.scanned(text)
	if !ok {
		return "", c.limit()
	}
	return scanned, nil
}

var uuidText = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func (c *column) scanned(text string) (string, bool) {
	switch c.kind {
	case int2Kind:
		return scanWhole(text, 16)
	case int4Kind:
		return scanWhole(text, 32)
	case int8Kind:
		return scanWhole(text, 64)
	case numericKind:
		return text, isDecimal(text) && c.hasRoomFor(text)
	case float4Kind:
		return text, isDecimal(text) && isFloat(text, 32)
	case float8Kind:
		return text, isDecimal(text) && isFloat(text, 64)
	case booleanKind:
		return text, text == "true" || text == "false"
	case dateKind:
		return text, isMoment(time.DateOnly, text)
	case timestampKind:
		return text, isMoment("2006-01-02T15:04:05", text)
	case timestamptzKind:
		return text, isMoment(time.RFC3339, text)
	case uuidKind:
		return text, uuidText.MatchString(text)
	case enumKind:
		return text, slices.Contains(c.labels, text)
	default:
		return text, isText(text) && (c.maxLength == 0 || utf8.RuneCountInString(text) <= c.maxLength)
	}
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// isMoment keeps to four-digit years: 0001-01-01 is some program's nothing, and infinity is no date.
func isMoment(layout, text string) bool {
	t, err := time.Parse(layout, text)
	return err == nil && len(text) <= 40 && t.Year() >= 1000 && t.Year() <= 9999 && t.UTC().Year() >= 1000 && t.UTC().Year() <= 9999
}

var (
	wholeText   = regexp.MustCompile(`^(-?)0*([0-9]{1,19})(\.0{1,30})?$`)
	decimalText = regexp.MustCompile(`^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$`)
)

// scanWhole reads a whole number; 12.000 is one, 12.5 and 1e3 are not.
func scanWhole(text string, bits int) (string, bool) {
	m := wholeText.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, bits)
	return strconv.FormatInt(n, 10), err == nil
}

const maxDigits = 1000

// isDecimal tells whether text is a number with an exponent that keeps it to maxDigits.
func isDecimal(text string) bool {
	m := decimalText.FindStringSubmatch(text)
	if m == nil || len(text) > maxDigits {
		return false
	}
	exponent, _ := strconv.Atoi(m[3])
	return len(m[1])+exponent <= maxDigits && len(m[2])-exponent <= maxDigits
}

// hasRoomFor counts a number's digits before the decimal point. Those after it are rounded, and the card
// shows the rounded number.
func (c *column) hasRoomFor(text string) bool {
	if c.precision == 0 {
		return true
	}
	m := decimalText.FindStringSubmatch(text)
	exponent, _ := strconv.Atoi(m[3])
	digits := strings.TrimLeft(m[1]+m[2], "0")
	if digits == "" {
		return true
	}
	before := len(digits) - len(m[2]) + exponent
	return before <= c.precision-c.scale
}

// isFloat tells whether a float column has room for the number. The number itself goes on as text.
func isFloat(text string, bits int) bool {
	f, err := strconv.ParseFloat(text, bits)
	tooSmall := f == 0 && strings.Trim(strings.FieldsFunc(text, func(r rune) bool { return r == 'e' || r == 'E' })[0], "-0.") != ""
	return err == nil && !tooSmall
}
