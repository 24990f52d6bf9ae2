package toolcall

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/redact"
)

const maxLogged = 200

// loggable is what a call's row may hold of its input: values of exposed fields, redacted and clipped; of
// everything else only that it was there.
func loggable(t Tool, raw json.RawMessage) logging {
	return func(p *redact.Patterns) redact.JSON {
		var in map[string]json.RawMessage
		if len(raw) > maxInput || json.Unmarshal(raw, &in) != nil || t.entity == nil {
			return redact.JSON{}
		}
		out, err := json.Marshal(loggableInput(p, t, in))
		if err != nil {
			return redact.JSON{}
		}
		return p.JSON(out)
	}
}

func loggableInput(p *redact.Patterns, t Tool, in map[string]json.RawMessage) map[string]any {
	if t.action != nil {
		return loggableAction(p, t, in)
	}
	out := map[string]any{}
	for _, key := range []string{"id", "first", "after", "note"} {
		if v, ok := in[key]; ok {
			out[key] = clippedValue(p, v)
		}
	}
	for _, key := range []string{"changes", "where"} {
		if v, ok := in[key]; ok {
			out[key] = loggableFields(p, t, v)
		}
	}
	return out
}

func loggableFields(p *redact.Patterns, t Tool, raw json.RawMessage) any {
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
			out[name] = clippedValue(p, v)
		}
	}
	return out
}

// clippedValue keeps short values; long ones, and those that jsonb does not take, are only mentioned. What is
// redacted is redacted whole, before it is cut.
func clippedValue(p *redact.Patterns, v json.RawMessage) any {
	if bytes.Contains(v, []byte(`\u0000`)) {
		return "(holds NUL)"
	}
	var value any
	if json.Unmarshal(v, &value) != nil {
		return "(not JSON)"
	}
	switch s, text := value.(string); {
	case text:
		return cut(p.Text(s), maxLogged)
	case len(v) <= maxLogged:
		return p.JSON(v)
	}
	return "(long)"
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) > most {
		return string([]rune(s)[:most]) + "…"
	}
	return s
}

// brief is what a client says beside what it proposes, as it is kept: without secrets, in so many characters.
func brief(s string, most int) string {
	shown := redact.Text(s)
	if shown != s && utf8.RuneCountInString(shown) > most {
		return cut(shown, most-1)
	}
	return shown
}

const maxClient = 100
