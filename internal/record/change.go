package record

import "encoding/json"

// Change is what is wanted of one record. A create has a key where the record is to have that one again.
type Change struct {
	Entity    *Entity
	Operation Operation
	Key       string
	Values    map[string]json.RawMessage
	// Kept are values as a record had them or a card has them, for fields that Values does not give: they go
	// back as they were, whatever their fields take of people.
	Kept map[string]Value
	// Planned changes are an action's: they may set any exposed field but the key's.
	Planned bool
}

// Planned is a change that a custom action plans; a create has no key.
func Planned(e *Entity, op Operation, key string, values map[string]json.RawMessage) Change {
	return Change{Entity: e, Operation: op, Key: key, Values: values, Planned: true}
}
