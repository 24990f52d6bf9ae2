package card

import (
	"encoding/json"
	"fmt"
)

// Reason says why something of an applied proposal is not as that left it.
type Reason string

// The reasons there are. Changed: the field has another value now. Gone: the record is not there any more, or
// not to be seen. KeyTaken: another record has the key of the one that was deleted.
const (
	Changed  Reason = "CHANGED"
	Gone     Reason = "GONE"
	KeyTaken Reason = "KEY_TAKEN"
)

// Conflict is what a proposal that undoes another leaves as it is, since it changed in between. It is of one
// field, with its value before, as applied and now; or of a whole record, and has no Field. A masked value
// holds nothing but that it is one.
type Conflict struct {
	Entity string `json:"entity"`
	Key    string `json:"key"`
	Label  string `json:"label"` // of the record
	URL    string `json:"url,omitempty"`
	Reason Reason `json:"reason"`
	// Taken conflicts are restored all the same, since a person wants that.
	Taken bool `json:"taken,omitempty"`
	// Takes is what a person names to have it restored all the same; empty where nothing does.
	Takes string `json:"takes,omitempty"`

	Field   string    `json:"field,omitempty"`
	Title   string    `json:"title,omitempty"` // the field's label
	Type    FieldType `json:"type,omitempty"`
	Before  *Value    `json:"before,omitempty"`
	Applied *Value    `json:"applied,omitempty"`
	Now     *Value    `json:"now,omitempty"`
}

// Conflicts reads what a proposal stores of them.
func Conflicts(stored json.RawMessage) ([]Conflict, error) {
	var list []Conflict
	if err := json.Unmarshal(stored, &list); err != nil {
		return nil, fmt.Errorf("conflicts of a proposal: %w", err)
	}
	return list, nil
}

func (e encoder) conflicts(list []Conflict) {
	e.number(len(list))
	for _, c := range list {
		e.text(c.Entity)
		e.text(c.Key)
		e.text(string(c.Reason))
		e.flag(c.Taken)
		e.text(c.Field)
		e.value(c.Before)
		e.value(c.Applied)
		e.value(c.Now)
	}
}
