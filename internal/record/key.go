package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
)

// maxKey bounds a key's length: PostgreSQL's index could not hold a longer one.
const maxKey = 4096

// readKey takes a record's key apart into the texts of its columns; not ok for what names no record,
// whether or not there could be one.
func (e *Entity) readKey(key string) (parts []string, ok bool) {
	if len(key) > maxKey || len(e.key) == 0 {
		return nil, false
	}
	parts = []string{key}
	if len(e.key) > 1 {
		if parts, ok = readTexts(key); !ok {
			return nil, false
		}
	}
	if len(parts) != len(e.key) {
		return nil, false
	}
	for i, c := range e.key {
		text, err := c.scan(parts[i])
		if err != nil || c.fieldType() == Integer && text != parts[i] {
			return nil, false // 04 is not how a 4 is written
		}
	}
	return parts, true
}

// readTexts reads a JSON array of strings and nothing else.
func readTexts(s string) ([]string, bool) {
	var parts []*string
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	if d.Decode(&parts) != nil || d.InputOffset() != int64(len(s)) || brokenEscape([]byte(s)) {
		return nil, false
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p == nil {
			return nil, false
		}
		texts[i] = *p
	}
	return texts, true
}

// writeKey is the key of a record: the column's text, or a JSON array of the columns' texts.
func writeKey(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	b := []byte("[")
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, jsonString(p)...)
	}
	return string(append(b, ']'))
}

// where adds the condition that a row called t has the key.
func (e *Entity) where(q *query, parts []string) {
	q.add(" WHERE ")
	for i, c := range e.key {
		if i > 0 {
			q.add(" AND ")
		}
		q.add(c.equals(q.param(&parts[i])))
	}
}

// URL is the deep link to a record; empty where the entity has no template, or the key is none.
func (e *Entity) URL(key string) string {
	parts, ok := e.readKey(key)
	if !ok || key == "" {
		return ""
	}
	return e.url.fill(func(name string) string {
		for i, column := range e.Key {
			if column == name {
				return url.PathEscape(parts[i])
			}
		}
		return url.PathEscape(key)
	})
}

// A cursor is the key of the last record of a page.
func writeCursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

func (e *Entity) readCursor(cursor string) (parts []string, err error) {
	key, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		if parts, ok := e.readKey(string(key)); ok {
			return parts, nil
		}
	}
	return nil, invalid("after", "after is not a cursor of this list.")
}
