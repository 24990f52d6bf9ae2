package offline

import (
	"encoding/json"
	"strings"
)

// byKey reads a record. Where there is no tool to read one its key is taken on trust: what is done with
// it says whether it is there.
func (t *turn) byKey(n *noun, key string, sure bool) ([]record, error) {
	operation, input := "get", map[string]any{"id": key}
	if !n.offers(operation) {
		f, exposed := n.named(n.Key[0])
		if !n.offers("list") || len(n.Key) > 1 || !exposed || f.Masked {
			return []record{{noun: n, id: key}}, nil
		}
		operation, input = "list", map[string]any{"where": map[string]string{f.Name: key}, "first": 1}
	}
	result, err := t.use(n, operation, input)
	switch {
	case err != nil:
		return nil, err
	case result.OK:
		return n.records(result.Rows), nil
	case sure && result.Code != "RECORD_GONE" && result.Code != "INVALID_INPUT":
		return nil, troubleError(result.Message)
	}
	return nil, nil
}

// keyLike tells whether a text can be the key of a record of this kind. Without the kind only a UUID
// can: every table has a row 4.
func (n *noun) keyLike(ref reference) bool {
	if !ref.kind {
		return len(n.Key) == 1 && n.offers("get") && uuid.MatchString(ref.text)
	}
	if len(n.Key) != 1 {
		return n.key(ref.text) != ""
	}
	f, exposed := n.named(n.Key[0])
	switch {
	case !exposed || f.Type == "INTEGER" || f.Type == "DECIMAL" || f.Type == "REFERENCE":
		return isNumber(ref.text)
	case f.Type == "UUID":
		return uuid.MatchString(ref.text)
	}
	return (n.Key[0] != n.LabelField || !n.offers("list")) && !strings.ContainsAny(ref.text, " \t\n")
}

// key writes a key as tools take it: a composite one is a JSON array of strings, said as 7/10 or 7, 10.
func (n *noun) key(text string) string {
	if len(n.Key) == 1 {
		return text
	}
	var parts []string
	if json.Unmarshal([]byte(text), &parts) != nil {
		parts = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/, ", r) })
	}
	if len(parts) != len(n.Key) {
		return ""
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	return string(raw)
}
