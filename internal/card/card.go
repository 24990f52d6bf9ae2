// Package card turns a stored change into what a person sees of it: headline, field texts, marks and
// fingerprint. It is pure: everything comes from the stored change, nothing from a model's words.
package card

import (
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/sqlc"
)

// FieldType says how a value is printed. In JSON, INTEGER of int2 and int4 and BOOLEAN are themselves;
// int8 and DECIMAL are strings; DATE is 2006-01-02; TIMESTAMP is RFC 3339.
type FieldType string

// The field types of the contract.
const (
	Text      FieldType = "TEXT"
	Integer   FieldType = "INTEGER"
	Decimal   FieldType = "DECIMAL"
	Boolean   FieldType = "BOOLEAN"
	Date      FieldType = "DATE"
	Timestamp FieldType = "TIMESTAMP"
	UUID      FieldType = "UUID"
	Enum      FieldType = "ENUM"
	Reference FieldType = "REFERENCE"
	JSON      FieldType = "JSON"
)

// Value is a field's value as stored with a proposal. Null is SQL NULL, which JSON null is not. A masked
// value is kept where it is to be written and never shown. Label names what a reference points at.
type Value struct {
	JSON   json.RawMessage `json:"json,omitempty"`
	Null   bool            `json:"null,omitempty"`
	Masked bool            `json:"masked,omitempty"`
	Label  string          `json:"label,omitempty"`
}

// Change is one field of one record: from what, to what. A create has no From, a delete no To. Applied is, where
// a proposal undoes another, what that one had written.
type Change struct {
	Field string    `json:"field"`
	Label string    `json:"label"`
	Type  FieldType `json:"type"`
	From  *Value    `json:"from,omitempty"`
	To    *Value    `json:"to,omitempty"`

	Applied *Value `json:"applied,omitempty"`
}

// Record is what a proposal does to one record. Key is empty for a create.
type Record struct {
	Entity    string
	Operation sqlc.WriteOperation
	Key       string
	Label     string
	URL       string
	Version   string
	Changes   []Change
}

// Records reads the stored records of one proposal, in their order.
func Records(rows []*sqlc.ProposalRecord) ([]Record, error) {
	list := make([]Record, len(rows))
	for i, row := range rows {
		list[i] = Record{Entity: row.Entity, Operation: row.Operation, Label: row.Label, Key: deref(row.Key), URL: deref(row.URL), Version: deref(row.Version)}
		if err := json.Unmarshal(row.Changes, &list[i].Changes); err != nil {
			return nil, fmt.Errorf("changes of record %d of %s: %w", row.Position, row.ProposalID, err)
		}
	}
	return list, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
