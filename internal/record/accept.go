package record

import (
	"fmt"
	"maps"
	"slices"
)

// accept checks the values that someone proposes, and gives them in the registry's order.
func (c Change) accept() ([]given, error) {
	e := c.Entity
	for _, name := range append(slices.Sorted(maps.Keys(c.Values)), slices.Sorted(maps.Keys(c.Kept))...) {
		if err := e.mayWrite(c.Operation, name, c.Planned); err != nil {
			return nil, err
		}
	}
	var list []given
	for _, f := range e.Fields {
		one, there, err := c.given(f)
		switch {
		case err != nil:
			return nil, invalid(f.Name, "%q %s.", f.Name, err)
		case there:
			list = append(list, one)
		case c.Operation == Create && f.Required:
			return nil, invalid(f.Name, "%q has to be given to create %s.", f.Name, e.Name)
		}
	}
	return list, nil
}

// given is what the change gives a field; not there where it leaves it alone. The error is a limit.
func (c Change) given(f *Field) (one given, there bool, err error) {
	one.field = f
	if raw, ok := c.Values[f.Name]; ok {
		one.text, err = f.column.input(raw)
		return one, true, err
	}
	v, ok := c.Kept[f.Name]
	if ok {
		one.text, err = f.column.parameter(v)
	}
	return one, ok, err
}

// mayWrite refuses fields that are not there, or not for this operation.
func (e *Entity) mayWrite(op Operation, name string, planned bool) error {
	f, err := e.find(name)
	if err != nil {
		return err
	}
	switch {
	case op == Delete:
		return invalid(name, "A delete changes no fields.")
	case !f.Writable && !(planned && f.column.readOnly == ""):
		return &InputError{Code: FieldNotWritable, Field: name, Message: quoted(name) + " of " + e.Name + " can be read but not changed."}
	case op != Create && e.IsKey(f):
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
