package record

// referencesFor are the fields whose references the role may be told the labels of: what the registry does
// not let the role read by itself it does not tell here either.
func (e *Entity) referencesFor(role string) []*Field {
	var list []*Field
	for _, f := range e.Fields {
		if f.target != nil && !f.Masked && (f.target.Offers(Get, role) || f.target.Offers(List, role)) {
			list = append(list, f)
		}
	}
	return list
}

// labelOf is how the row is called.
func (e *Entity) labelOf(q *query, row string) string {
	if len(e.label) == 0 {
		return "''"
	}
	sql := ""
	for i, p := range e.label {
		if i > 0 {
			sql += " || "
		}
		if f, ok := e.Field(p.name); ok {
			sql += "coalesce(" + f.column.text(f.column.of(row)) + ", '')"
		} else {
			sql += q.arg(p.literal)
		}
	}
	return sql
}

// labelOf is how the record is called that the expression refers to, NULL where the person sees none.
func (f *Field) labelOf(q *query, expression string) string {
	key := f.target.key[0]
	return "(SELECT coalesce(nullif(" + f.target.labelOf(q, "r") + ", ''), " + key.text(key.of("r")) + ") FROM " + f.target.table +
		" AS r WHERE " + key.of("r") + " = " + expression + " LIMIT 1)"
}
