package record

import "slices"

// bindField exposes a column as a field. A hidden one has to exist, and that is all.
func (b *binder) bindField(e *Entity, spec *fieldSpec, in *entitySpec) {
	c := b.column(e, spec.column, spec.what)
	if c == nil || spec.hidden {
		return
	}
	f := &Field{
		Name: spec.name, Label: spec.label, Type: c.fieldType(), Writable: spec.writable, Masked: spec.masked,
		Nullable: !c.notNull, Values: c.labels, References: spec.references.text, column: c,
	}
	if !c.list {
		f.MaxLength = c.maxLength
	}
	if spec.references.text != "" {
		f.Type = Reference
	}
	f.Required = f.Writable && c.notNull && !c.hasValue
	if spec.required != nil {
		f.Required = *spec.required
	}
	b.checkField(e, f, spec, in)
	e.Fields = append(e.Fields, f)
}

func (b *binder) checkField(e *Entity, f *Field, spec *fieldSpec, in *entitySpec) {
	if f.Writable && f.column.readOnly != "" {
		b.problems.say(spec.line, "%s cannot be writable: %s", spec.what, f.column.readOnly)
	}
	for _, other := range e.Fields {
		if other.column == f.column {
			b.problems.say(spec.line, "%s is the column of field %q too", spec.what, other.Name)
		}
	}
	for _, other := range in.fields {
		if other.hidden && other.column.text == f.column.name {
			b.problems.say(spec.line, "%s exposes column %q, which line %d hides", spec.what, f.column.name, other.line)
		}
	}
	if f.Masked && slices.Contains(e.Key, f.column.name) {
		b.problems.say(spec.line, "%s is masked, but the key is shown; a masked column cannot be part of it", spec.what)
	}
}
