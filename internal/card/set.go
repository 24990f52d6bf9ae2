package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// BulkChange is what all records of a bulk change get in one field, and what they have now. To is nil where each
// of them gets its own: where what they had before is restored.
type BulkChange struct {
	Field string    `json:"field"`
	Label string    `json:"label"`
	Type  FieldType `json:"type"`
	To    *Value    `json:"to"`
	// Current are the values there are now and how often, most frequent first, at most MaxCurrent of them;
	// Others is how many records have yet another.
	Current []ValueCount `json:"current"`
	Others  int          `json:"others,omitempty"`
}

// ValueCount is a value and how many records have it.
type ValueCount struct {
	Value   Value `json:"value"`
	Records int   `json:"records"`
}

// MaxCurrent is how many different values of a field a card lists.
const MaxCurrent = 50

// Notice is what whoever planned a change says about it, beside the card: a sentence, and a code of the
// contract's WarningCode where it is a warning.
type Notice struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Rehearsal is what was seen when the change was tried and undone.
type Rehearsal struct {
	Status      RehearsalStatus `json:"status"`
	SideEffects []SideEffect    `json:"sideEffects,omitempty"`
	AlsoSets    []AlsoSet       `json:"alsoSets,omitempty"`
}

// RehearsalStatus says whether the change was tried; its spellings are the contract's.
type RehearsalStatus string

// A change that would be refused is not proposed, so there is no status for that.
const (
	Passed  RehearsalStatus = "PASSED"
	Skipped RehearsalStatus = "SKIPPED" // switched off, or nothing would be written
	NoLock  RehearsalStatus = "NO_LOCK" // not tried to the end: others were in the way, or it took too long
)

// AlsoSet is a field that would be set beyond the change, or to another value than the change says. A side is
// missing where the records do not have it in common.
type AlsoSet struct {
	Change
	Records int `json:"records"` // so many of the set's
	// Positions are these records, from 1, where the change says another value; none where it says nothing.
	Positions []int32 `json:"positions,omitempty"`
}

// SideEffect is rows that another table would lose or change.
type SideEffect struct {
	Table     string `json:"table"`
	Operation string `json:"operation"` // INSERT, UPDATE, DELETE
	Rows      int    `json:"rows"`
}

// Summarise says what the records of a bulk change have in common. They are updates of the same fields, but for
// those that have a value already.
func Summarise(records []Record) []BulkChange {
	var list []BulkChange
	places := map[string]int{}
	counts := map[string]map[string]*ValueCount{}
	for _, r := range records {
		for _, c := range r.Changes {
			if _, there := places[c.Field]; !there {
				places[c.Field] = len(list)
				counts[c.Field] = map[string]*ValueCount{}
				list = append(list, BulkChange{Field: c.Field, Label: c.Label, Type: c.Type, To: c.To})
			} else if to := &list[places[c.Field]].To; *to != nil && !alike(*to, c.To) {
				*to = nil
			}
			tally(counts[c.Field], c.From)
		}
	}
	for i := range list {
		list[i].Current, list[i].Others = mostFrequent(counts[list[i].Field])
	}
	return list
}

func tally(counts map[string]*ValueCount, v *Value) {
	key := fmt.Sprintf("%t %t %s", v.Null, v.Masked, v.JSON)
	if counts[key] == nil {
		counts[key] = &ValueCount{Value: *v}
	}
	counts[key].Records++
}

func alike(a, b *Value) bool {
	return a.Null == b.Null && a.Masked == b.Masked && bytes.Equal(a.JSON, b.JSON)
}

func mostFrequent(counts map[string]*ValueCount) (list []ValueCount, others int) {
	for _, c := range counts {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b ValueCount) int {
		if a.Records != b.Records {
			return b.Records - a.Records
		}
		return strings.Compare(string(a.Value.JSON), string(b.Value.JSON))
	})
	for _, c := range list[min(len(list), MaxCurrent):] {
		others += c.Records
	}
	return list[:min(len(list), MaxCurrent)], others
}

// BulkChanges reads what a proposal stores of them; none where it is no bulk change.
func BulkChanges(stored json.RawMessage) ([]BulkChange, error) {
	var list []BulkChange
	if stored == nil {
		return nil, nil
	}
	if err := json.Unmarshal(stored, &list); err != nil {
		return nil, fmt.Errorf("changes of a bulk proposal: %w", err)
	}
	return list, nil
}

// RehearsalOf reads what a proposal stores of its rehearsal; nil where there was none.
func RehearsalOf(stored json.RawMessage) (*Rehearsal, error) {
	if stored == nil {
		return nil, nil
	}
	r := &Rehearsal{}
	if err := json.Unmarshal(stored, r); err != nil {
		return nil, fmt.Errorf("rehearsal of a proposal: %w", err)
	}
	return r, nil
}

// Notices reads what a proposal stores of them.
func Notices(stored json.RawMessage) ([]Notice, error) {
	var list []Notice
	if err := json.Unmarshal(stored, &list); err != nil {
		return nil, fmt.Errorf("warnings of a proposal: %w", err)
	}
	return list, nil
}
