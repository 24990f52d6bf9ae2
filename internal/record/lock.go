package record

// lock is a condition under which a record is not offered for change.
type lock struct {
	column *column
	values []string // as the column's type reads them
	shown  bool     // the field may be named with its value
	field  string
	label  string
}

// bindLocks reads the conditions. Their columns need not be exposed.
func (b *binder) bindLocks(e *Entity, spec *entitySpec) {
	for _, l := range spec.locked {
		what := e.Name + ": locked"
		c := b.column(e, l.column, what)
		if c == nil {
			continue
		}
		bound := lock{column: c}
		for _, f := range e.Fields {
			if f.column == c {
				bound.shown, bound.field, bound.label = !f.Masked, f.Name, f.Label
			}
		}
		for _, w := range l.values {
			value, err := c.scan(w.text)
			if err != nil {
				b.problems.say(w.line, "%s: %s %v", what, c.name, err)
			}
			bound.values = append(bound.values, value)
		}
		e.locks = append(e.locks, bound)
	}
}
