package redact

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// JSON is JSON that was redacted: there is no other way to make one. Its zero value is {}.
type JSON struct{ raw json.RawMessage }

// MarshalJSON gives it to be stored or sent.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.raw == nil {
		return []byte(`{}`), nil
	}
	return j.raw, nil
}

// Value gives it to a statement.
func (j JSON) Value() (driver.Value, error) { return j.String(), nil }

// String is its text.
func (j JSON) String() string {
	b, _ := j.MarshalJSON()
	return string(b)
}

// JSONOf is JSON without what the built-in patterns find.
func JSONOf(raw json.RawMessage) JSON { return (*Patterns)(nil).JSON(raw) }

// JSON redacts JSON at every depth: keys, texts, numbers that are secrets, and whatever stands under a name
// as "password". What is not JSON is left out, with a marker in its place.
func (p *Patterns) JSON(raw json.RawMessage) JSON {
	out, err := json.Marshal(p.decoded(raw))
	if err != nil {
		out = []byte(strconv.Quote(marker(unsettled)))
	}
	return JSON{out}
}

// Raw is a value of a record, redacted, to be read by a model.
func (p *Patterns) Raw(raw json.RawMessage) json.RawMessage { return p.JSON(raw).raw }

func (p *Patterns) decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return marker(unsettled)
	}
	return p.Value(v)
}

// Value redacts what was decoded from JSON, numbers as json.Number. It changes nothing in place.
func (p *Patterns) Value(v any) any {
	switch v := v.(type) {
	case string:
		return p.Text(v)
	case json.Number:
		if shown := p.Text(v.String()); shown != v.String() {
			return shown
		}
		return v
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = p.Value(one)
		}
		return list
	case map[string]any:
		return p.object(v)
	}
	return v
}

// object redacts keys too; keys that become one are told apart by a number.
func (p *Patterns) object(in map[string]any) map[string]any {
	out, times := make(map[string]any, len(in)), map[string]int{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		shown := p.Text(key)
		for name := shown; ; { // a name that was made can be one that is there
			if _, taken := out[shown]; !taken {
				break
			}
			times[name]++
			shown = name + " " + strconv.Itoa(times[name]+1)
		}
		if out[shown] = p.Value(in[key]); isSecretName(key) && in[key] != nil {
			out[shown] = marker(underSecretName)
		}
	}
	return out
}
