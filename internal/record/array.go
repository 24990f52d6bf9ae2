package record

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxDimensions is PostgreSQL's own.
const maxDimensions = 6

// arrayWriter writes a JSON array as PostgreSQL spells it.
type arrayWriter struct {
	strings.Builder
	column  *column
	element func(json.RawMessage) (string, error)
}

// array writes a JSON array as PostgreSQL's array literal, each element as element gives it.
func (c *column) array(raw json.RawMessage, element func(json.RawMessage) (string, error)) (string, error) {
	w := &arrayWriter{column: c, element: element}
	_, err := w.write(raw, 1)
	return w.String(), err
}

// write gives the lengths of the list and of the lists in it, which have to be alike, as PostgreSQL wants them.
func (w *arrayWriter) write(raw json.RawMessage, dimension int) (lengths []int, err error) {
	var items []json.RawMessage
	if dimension > maxDimensions || json.Unmarshal(raw, &items) != nil || len(items) == 0 && dimension > 1 {
		return nil, w.column.limit()
	}
	var inner []int
	w.WriteByte('{')
	for i, item := range items {
		if i > 0 {
			w.WriteByte(',')
		}
		one, err := w.item(item, dimension)
		if err != nil {
			return nil, err
		}
		if i > 0 && !slices.Equal(one, inner) {
			return nil, w.column.limit()
		}
		inner = one
	}
	w.WriteByte('}')
	return append([]int{len(items)}, inner...), nil
}

func (w *arrayWriter) item(raw json.RawMessage, dimension int) (lengths []int, err error) {
	switch {
	case isNull(raw):
		w.WriteString("NULL")
		return nil, nil
	case w.isList(raw):
		return w.write(raw, dimension+1)
	}
	text, err := w.element(raw)
	if err != nil {
		return nil, w.column.limit()
	}
	w.WriteByte('"')
	_, _ = elementEscapes.WriteString(w, text)
	w.WriteByte('"')
	return nil, nil
}

var elementEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// isList tells a list in a list from an element: in a list of JSON everything is an element, lists too.
func (w *arrayWriter) isList(raw json.RawMessage) bool {
	return w.column.kind != jsonKind && w.column.kind != jsonbKind && strings.HasPrefix(strings.TrimSpace(string(raw)), "[")
}
