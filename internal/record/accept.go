package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// accept checks the values that someone proposes for an operation, and gives them in the registry's order.
func (e *Entity) accept(op Operation, values map[string]json.RawMessage) ([]given, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := e.mayWrite(op, name); err != nil {
			return nil, err
		}
	}
	var list []given
	for _, f := range e.Fields {
		raw, ok := values[f.Name]
		if !ok {
			if op == Create && f.Required {
				return nil, invalid(f.Name, "%q has to be given to create %s.", f.Name, e.Name)
			}
			continue
		}
		text, err := f.column.input(raw)
		if err != nil {
			return nil, invalid(f.Name, "%q %s.", f.Name, err)
		}
		list = append(list, given{field: f, text: text})
	}
	return list, nil
}

// mayWrite refuses fields that are not there, or not for this operation.
func (e *Entity) mayWrite(op Operation, name string) error {
	f, err := e.find(name)
	if err != nil {
		return err
	}
	switch {
	case op == Delete:
		return invalid(name, "A delete changes no fields.")
	case !f.Writable:
		return &InputError{Code: FieldNotWritable, Field: name, Message: quoted(name) + " of " + e.Name + " can be read but not changed."}
	case op != Create && e.isKey(f):
		return &InputError{Code: FieldNotWritable, Field: name, Message: quoted(name) + " is the key of " + e.Name + ", and a record keeps its key."}
	}
	return nil
}

// find finds an exposed field. A hidden field and one that does not exist are answered alike.
func (e *Entity) find(name string) (*Field, error) {
	if f, ok := e.Field(name); ok {
		return f, nil
	}
	hint := didYouMean(name, e.fieldNames())
	if hint == "" {
		hint = "."
	}
	return nil, invalid(name, "%s has no field %s%s", e.Name, quoted(name), hint)
}

// quoted prints a name that someone gave, cut where it is no name any more.
func quoted(name string) string { return fmt.Sprintf("%.60q", name) }
