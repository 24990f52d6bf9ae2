package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Key is a key that a client chose, as it is stored: itself, or, where it holds a secret, a digest of all of it,
// so that two keys stay two.
func Key(key string) string {
	if Text(key) == key {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Key is the key of a record, redacted, but a number is always shown as it is: a record is found by it. A key of
// several columns is a JSON array of texts.
func (p *Patterns) Key(key string) string {
	var parts []string
	if digitsAt(key) == len(key) {
		return key
	}
	if !strings.HasPrefix(key, "[") || json.Unmarshal([]byte(key), &parts) != nil {
		return p.Text(key)
	}
	changed := false
	for i, part := range parts {
		parts[i] = p.Key(part)
		changed = changed || parts[i] != part
	}
	if !changed {
		return key
	}
	joined, _ := json.Marshal(parts) // texts
	return string(joined)
}
