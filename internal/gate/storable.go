package gate

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// Escapes that a host's column of type json may hold and jsonb, in which cards are stored, may not: NUL,
// and half of a surrogate pair.
var (
	pairs      = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	unstorable = regexp.MustCompile(`\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})`)
)

// storable gives a value that jsonb takes: JSON with such an escape becomes the text that it is.
func storable(j json.RawMessage) json.RawMessage {
	if !bytes.Contains(j, []byte(`\u`)) || !unstorable.Match(pairs.ReplaceAll(j, nil)) {
		return j
	}
	text, err := json.Marshal(string(j))
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
