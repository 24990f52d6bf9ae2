package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Same tells whether two values of the field are the same to PostgreSQL: what was stored as JSON on the way
// may have other spaces, or a float other digits.
func (f *Field) Same(a, b Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return bytes.Equal(a.JSON, b.JSON) || f.column.normal(a.JSON) == f.column.normal(b.JSON)
}

func (c *column) normal(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	if s, text := v.(string); text && c.kind == numericKind && !c.list && decimalText.MatchString(s) {
		v = json.Number(s)
	}
	b, err := json.Marshal(normalNumbers(v))
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// normalNumbers spells every number in v alike, 1e20 and 100000000000000000000 for example.
func normalNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(significant(v.String()))
	case []any:
		for i := range v {
			v[i] = normalNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = normalNumbers(v[key])
		}
	}
	return v
}

// significant writes a number as its digits without zeros at either end and the place of its point.
func significant(s string) string {
	m := decimalText.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	exponent, _ := strconv.Atoi(m[3])
	digits := m[1] + m[2]
	kept := strings.TrimLeft(digits, "0")
	point := len(m[1]) + exponent - (len(digits) - len(kept))
	kept = strings.TrimRight(kept, "0")
	if kept == "" {
		return "0"
	}
	sign := ""
	if s[0] == '-' {
		sign = "-"
	}
	return sign + "0." + kept + "e" + strconv.Itoa(point)
}
