package actions

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/record"
)

// Input describes one thing that an action takes.
type Input struct {
	Name, Says string
	// Type is text, date, number, whole number, yes or no, or object; Limits says what else is asked of it.
	Type, Limits string
	Required     bool
	// Names: it says which record the action is about. Of: the field whose new value it is.
	Names  bool
	Of     string
	Secret bool
	Inputs []Input // of an object
}

// shape is what a struct of inputs looks like: the one description that input is read by, and that the
// schema and the documents are made of.
type shape struct {
	typ     reflect.Type
	members []member
}

type member struct {
	Input
	index int
	kind  kind
}

// kind reads one type of input.
type kind interface {
	read(raw json.RawMessage, path string) (any, error)
	schema() map[string]any
	describe(*Input)
}

func shapeOf[In any]() *shape { return shapeOfType(reflect.TypeFor[In]()) }

func shapeOfType(t reflect.Type) *shape {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("the input %s is no struct", t))
	}
	s := &shape{typ: t}
	for i := range t.NumField() {
		s.members = append(s.members, memberOf(t.Field(i), i))
	}
	return s
}

func memberOf(f reflect.StructField, index int) member {
	m := member{index: index, Input: Input{Name: f.Tag.Get("json"), Says: f.Tag.Get("says"), Required: f.Type.Kind() != reflect.Pointer,
		Names: f.Tag.Get("names") == "true", Of: f.Tag.Get("of"), Secret: f.Tag.Get("secret") == "true"}}
	t := f.Type
	if !m.Required {
		t = t.Elem()
	}
	if m.kind = kindOf(t, f.Tag); m.Name == "" || m.Says == "" || m.kind == nil {
		panic(fmt.Sprintf("%s needs json and says, and a type that an input can have, not %s", f.Name, t))
	}
	m.kind.describe(&m.Input)
	return m
}

func (s *shape) has(name string) bool {
	return slices.ContainsFunc(s.members, func(m member) bool { return m.Name == name })
}

func (s *shape) names() []string {
	list := make([]string, len(s.members))
	for i, m := range s.members {
		list[i] = m.Name
	}
	return list
}

func (s *shape) inputs() []Input {
	list := make([]Input, len(s.members))
	for i, m := range s.members {
		list[i] = m.Input
	}
	return list
}

// fill makes a value of an input. What is not known is refused by its name; a path leads to what stands
// inside an object.
func (s *shape) fill(input map[string]json.RawMessage, path string) (reflect.Value, error) {
	into := reflect.New(s.typ).Elem()
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if !s.has(name) {
			return into, invalid(path+clipped(name), "%q is not an input here; there are %s.", path+clipped(name), strings.Join(s.names(), ", "))
		}
	}
	for _, m := range s.members {
		raw, given := input[m.Name]
		if !given && m.Required {
			return into, invalid(path+m.Name, "%q is missing.", path+m.Name)
		}
		if !given {
			continue
		}
		value, err := m.kind.read(raw, path+m.Name)
		if err != nil {
			return into, err
		}
		m.set(into.Field(m.index), value)
	}
	return into, nil
}

func (m member) set(field reflect.Value, value any) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(value))
}

func (s *shape) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, m := range s.members {
		one := m.kind.schema()
		one["description"] = m.Says
		properties[m.Name] = one
		if m.Required {
			required = append(required, m.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func invalid(field, format string, args ...any) *record.InputError {
	return &record.InputError{Code: record.InvalidInput, Field: field, Message: fmt.Sprintf(format, args...)}
}

// locked says that a record is not offered for change.
func locked(why string) *record.InputError {
	return &record.InputError{Code: record.NotForChange, Message: why}
}

func clipped(name string) string {
	if letters := []rune(name); len(letters) > 64 {
		return string(letters[:63]) + "…"
	}
	return name
}
