package record

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Value is a field's value. Null is SQL NULL, which JSON null is not.
type Value struct {
	JSON json.RawMessage
	Null bool
}

// output makes a value of what PostgreSQL prints; nil is NULL.
func (c *column) output(text *string) Value {
	switch {
	case text == nil:
		return Value{Null: true}
	case c.list:
		return Value{JSON: c.elements(*text)}
	default:
		return Value{JSON: c.json(*text)}
	}
}

// json spells one value: int2, int4, booleans and floats as they are, all else, int8 and numeric too, as a string.
func (c *column) json(text string) json.RawMessage {
	switch c.kind {
	case int2Kind, int4Kind, booleanKind, jsonKind, jsonbKind:
		return json.RawMessage(text)
	case float4Kind, float8Kind:
		if json.Valid([]byte(text)) { // NaN and Infinity are not
			return json.RawMessage(text)
		}
	}
	return jsonString(c.spelling(text))
}

// spelling is the value as a text for programs: moments as RFC 3339 has them, all else as PostgreSQL prints it.
func (c *column) spelling(text string) string {
	if c.kind != timestampKind && c.kind != timestamptzKind || !strings.Contains(text, ":") || strings.HasSuffix(text, " BC") {
		return text
	}
	text = strings.Replace(text, " ", "T", 1)
	if before, utc := strings.CutSuffix(text, "+00"); utc {
		return before + "Z"
	}
	return text
}

// elements makes the JSON of a list from the JSON array of its elements' texts.
func (c *column) elements(text string) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal([]byte(text), &items) != nil {
		return jsonString(text)
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		var one string
		switch {
		case isNull(item):
			b.WriteString("null")
		case json.Unmarshal(item, &one) == nil:
			b.Write(c.json(one))
		default:
			b.Write(c.elements(string(item)))
		}
	}
	b.WriteByte(']')
	return b.Bytes()
}

// jsonString quotes a text without touching <, > and &.
func jsonString(s string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// parameter is the inverse of output: the text that is cast to the column's type. It checks no limit: the
// database does where the value is written.
func (c *column) parameter(v Value) (*string, error) {
	if v.Null {
		return nil, nil
	}
	if c.list {
		text, err := c.array(v.JSON, c.decode)
		return &text, err
	}
	text, err := c.decode(v.JSON)
	return &text, err
}

func (c *column) decode(raw json.RawMessage) (string, error) {
	if c.kind == jsonKind || c.kind == jsonbKind {
		return string(raw), nil
	}
	text, token := scalar(raw)
	if !c.takes(token) {
		return "", c.limit()
	}
	return text, nil
}
