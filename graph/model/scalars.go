// Package model holds the GraphQL types that are no row of ours: pages, what a card computes, inputs
// and payloads. Most are generated from the schema.
package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// MarshalDateTime writes RFC 3339 in UTC.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, `"`+t.UTC().Format(time.RFC3339Nano)+`"`)
	})
}

// UnmarshalDateTime reads RFC 3339.
func UnmarshalDateTime(v any) (time.Time, error) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("a DateTime is text in RFC 3339")
	}
	return time.Parse(time.RFC3339Nano, s)
}

// MarshalJSON writes JSON as it is.
func MarshalJSON(j json.RawMessage) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		if len(j) == 0 {
			j = json.RawMessage("null")
		}
		_, _ = w.Write(j)
	})
}

// UnmarshalJSON takes any value; numbers keep their digits.
func UnmarshalJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("not JSON")
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
