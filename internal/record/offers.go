package record

import (
	"context"
	"encoding/json"
)

// Has tells whether the registry offers the operation to anyone.
func (e *Entity) Has(op Operation) bool {
	_, ok := e.offers[op]
	return ok
}

// LabelField is the field that a record is known by; empty where the label is made of several or of none.
func (e *Entity) LabelField() string {
	names := e.label.names()
	if len(names) != 1 || len(e.label) != 1 {
		return ""
	}
	if _, exposed := e.Field(names[0]); !exposed {
		return ""
	}
	return names[0]
}

// Exposed gives the values of a record that may be shown: those of exposed fields that are not masked.
// SQL NULL is JSON null here. No record has no values.
func (e *Entity) Exposed(r *Record) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	if r == nil {
		return values
	}
	for _, f := range e.Fields {
		v, ok := r.Values[f.Name]
		switch {
		case !ok || f.Masked:
		case v.Null:
			values[f.Name] = json.RawMessage("null")
		default:
			values[f.Name] = v.JSON
		}
	}
	return values
}

// Parse is Load for a registry that is not read from a file; name is what its problems are said of.
func Parse(ctx context.Context, db Database, name string, content []byte) (*Registry, error) {
	return load(ctx, db, name, content)
}

// Need is a right that the host has to grant for what the registry offers.
type Need struct{ Role, Table, Privilege string }

// Needs are the rights that the sources' roles need on their tables.
func (r *Registry) Needs() []Need {
	var list []Need
	for _, e := range r.entities {
		list = append(list, Need{e.source.ReadAs, e.table, "SELECT"})
		for op, privilege := range map[Operation]string{Create: "INSERT", Update: "UPDATE", BulkUpdate: "UPDATE", Delete: "DELETE"} {
			if e.Has(op) && !e.PreviewOnly || r.opened(e, op) {
				list = append(list, Need{e.source.WriteAs, e.table, "SELECT"}, Need{e.source.WriteAs, e.table, privilege})
			}
		}
	}
	return list
}
