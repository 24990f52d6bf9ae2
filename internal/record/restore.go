package record

import "slices"

// Restorable tells whether a record that is created again can be given the field's value: whether it is not the
// database alone that sets it.
func (f *Field) Restorable() bool { return f.column.readOnly == "" }

// KeepsKeys tells whether a record can be created again under the key it had.
func (e *Entity) KeepsKeys() bool {
	return !slices.ContainsFunc(e.key, func(c *column) bool { return c.readOnly != "" })
}

// HasMore tells whether its records hold more than is exposed, beside their keys.
func (e *Entity) HasMore() bool {
	for _, c := range e.columns {
		exposed := slices.ContainsFunc(e.Fields, func(f *Field) bool { return f.column == c && !f.Masked })
		if !exposed && !slices.Contains(e.key, c) && c.readOnly == "" {
			return true
		}
	}
	return false
}
