package toolcall

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

const maxLogged = 200

// loggable is what a call's row may hold of its input: values of exposed fields, clipped; of everything
// else only that it was there.
func loggable(t Tool, raw json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	if len(raw) > maxInput || json.Unmarshal(raw, &in) != nil || t.entity == nil {
		return json.RawMessage(`{}`)
	}
	out := map[string]any{}
	if t.action != nil {
		out = loggableAction(t, in)
		in = nil
	}
	for _, key := range []string{"id", "first", "after", "note"} {
		if v, ok := in[key]; ok {
			out[key] = clippedValue(v)
		}
	}
	for _, key := range []string{"changes", "where"} {
		if v, ok := in[key]; ok {
			out[key] = loggableFields(t, v)
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}

func loggableFields(t Tool, raw json.RawMessage) any {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return "(not an object)"
	}
	out := map[string]any{}
	for name, v := range fields {
		if f, ok := t.entity.Field(name); !ok {
			out["(unknown)"] = true
		} else if f.Masked {
			out[name] = "(masked)"
		} else {
			out[name] = clippedValue(v)
		}
	}
	return out
}

// clippedValue keeps short values; long ones, and those that jsonb does not take, are only mentioned.
func clippedValue(v json.RawMessage) any {
	if bytes.Contains(v, []byte(`\u0000`)) {
		return "(holds NUL)"
	}
	var value any
	if json.Unmarshal(v, &value) != nil {
		return "(not JSON)"
	}
	s, text := value.(string)
	switch {
	case text && utf8.RuneCountInString(s) > maxLogged:
		return string([]rune(s)[:maxLogged]) + "…"
	case text || len(v) <= maxLogged:
		return value
	}
	return "(long)"
}
