package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/countersign/countersign/internal/record"
)

type object = map[string]any

// schemaOf is the JSON Schema of a tool's input, strict as decode is.
func schemaOf(t Tool) json.RawMessage {
	if t.action != nil {
		return schemaOfAction(t)
	}
	properties, required := object{}, []string{}
	for _, key := range takes[t.op] {
		name, must := strings.CutSuffix(key, "!")
		properties[name] = property(name, t)
		if must {
			required = append(required, name)
		}
	}
	raw, _ := json.Marshal(object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}) // only strings, lists and maps
	return raw
}

// schemaOfAction is the action's own, and the note that every proposal may have.
func schemaOfAction(t Tool) json.RawMessage {
	schema := t.action.Schema()
	schema["properties"].(object)["note"] = property("note", t)
	raw, _ := json.Marshal(schema) // as above
	return raw
}

func property(name string, t Tool) object {
	switch name {
	case "id":
		return object{"type": "string", "minLength": 1, "description": "The record's key as text; a composite key is a JSON array of strings."}
	case "first":
		return object{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most; 20 unless given."}
	case "after":
		return object{"type": "string", "description": "Where the page before ended."}
	case "note":
		return object{"type": "string", "maxLength": MaxNote, "description": "Why, in a sentence, for the person who decides."}
	case "where":
		return object{"type": "object", "description": "Field equals value, all of them.", "properties": values(t, filterable), "additionalProperties": false}
	}
	return object{"type": "object", "description": "New values by field name.", "properties": values(t, writable), "additionalProperties": false}
}

func filterable(f FieldInfo) bool { return !f.Masked }
func writable(f FieldInfo) bool   { return f.Writable }

func values(t Tool, take func(FieldInfo) bool) object {
	list := object{}
	for _, f := range t.Entity.Fields {
		if take(f) {
			list[f.Name] = value(f)
		}
	}
	return list
}

func value(f FieldInfo) object {
	schema := object{"description": f.Label}
	types := jsonTypesOf[record.Type(f.Type)]
	if f.Nullable && types != nil {
		types = append(append([]string{}, types...), "null")
	}
	if types != nil {
		schema["type"] = types
	}
	if len(f.Values) > 0 && !f.Nullable {
		schema["enum"] = f.Values
	}
	if f.MaxLength > 0 {
		schema["maxLength"] = f.MaxLength
	}
	return schema
}

// int8 and numeric travel as strings, and are taken as numbers too.
var jsonTypesOf = map[record.Type][]string{
	"TEXT": {"string"}, "ENUM": {"string"}, "UUID": {"string"}, "DATE": {"string"}, "TIMESTAMP": {"string"},
	"BOOLEAN": {"boolean"}, "INTEGER": {"integer", "string"}, "DECIMAL": {"number", "string"}, "REFERENCE": {"integer", "string"}}
