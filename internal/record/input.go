package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// The codes of an InputError.
const (
	InvalidInput     = "INVALID_INPUT"
	FieldNotWritable = "FIELD_NOT_WRITABLE"
	NotForChange     = "LOCKED" // of a record that is not offered for change
)

// InputError says which field was given something it does not take, and what it takes. It never repeats
// what was given.
type InputError struct {
	Code    string
	Field   string
	Message string
}

func (e *InputError) Error() string { return e.Message }

func invalid(field, format string, args ...any) *InputError {
	return &InputError{Code: InvalidInput, Field: field, Message: fmt.Sprintf(format, args...)}
}

// limit is what a column takes, e.g. "takes true or false". As an error it says that the value is none of that.
type limit string

func (l limit) Error() string { return string(l) }

// input reads a JSON value into the text that is cast to the column's type; nil for null. The error is a
// limit. Numbers stay the digits they were written with.
func (c *column) input(raw json.RawMessage) (*string, error) {
	if !utf8.Valid(raw) || brokenEscape(raw) {
		return nil, limit("takes valid Unicode text without NUL characters")
	}
	if isNull(raw) {
		if c.notNull {
			return nil, limit("has to have a value; it cannot be null")
		}
		return nil, nil
	}
	if c.list {
		text, err := c.array(raw, c.element)
		return &text, err
	}
	text, err := c.element(raw)
	return &text, err
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// element reads one value that is neither null nor a list.
func (c *column) element(raw json.RawMessage) (string, error) {
	if c.kind == jsonKind || c.kind == jsonbKind {
		if !json.Valid(raw) || depth(raw) > maxDepth {
			return "", c.limit()
		}
		return string(raw), nil
	}
	text, token := scalar(raw)
	if !c.takes(token) {
		return "", c.limit()
	}
	return c.scan(text)
}

// maxDepth is how deep a JSON value may be nested.
const maxDepth = 100

// token is what kind of JSON a scalar is.
type token int

const (
	noScalar token = iota
	aString
	aNumber
	aBoolean
)

// scalar reads a JSON string, number or boolean.
func scalar(raw json.RawMessage) (string, token) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return "", noScalar
	}
	switch v := v.(type) {
	case string:
		return v, aString
	case json.Number:
		return v.String(), aNumber
	case bool:
		return fmt.Sprint(v), aBoolean
	default:
		return "", noScalar
	}
}

func (c *column) takes(t token) bool {
	switch c.kind {
	case int2Kind, int4Kind, int8Kind, numericKind, float4Kind, float8Kind:
		return t == aNumber || t == aString
	case booleanKind:
		return t == aBoolean
	default:
		return t == aString
	}
}
