package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/record"
)

// input is what any tool may be given; which of it one takes stands in takes.
type input struct {
	ID      *string                    `json:"id"`
	Changes map[string]json.RawMessage `json:"changes"`
	Where   map[string]json.RawMessage `json:"where"`
	First   *int                       `json:"first"`
	After   *string                    `json:"after"`
	Note    *string                    `json:"note"`

	plan actions.Planner // of a custom action, which has inputs of its own
}

// takes names, by operation, the keys of the input; those with an exclamation mark are required.
var takes = map[record.Operation][]string{
	record.List:   {"where", "first", "after"},
	record.Get:    {"id!"},
	record.Create: {"changes!", "note"},
	record.Update: {"id!", "changes!", "note"},
	record.Delete: {"id!", "note"},

	record.BulkUpdate: {"where!", "changes!", "note"},
}

// MaxNote is how many characters a note has at most.
const MaxNote = 2000

const maxInput = 256 << 10

// decode reads a tool's input strictly: unknown keys are refused by name, nothing is guessed.
func decode(t Tool, raw json.RawMessage) (input, *gate.Refusal) {
	var in input
	if len(raw) > maxInput {
		return in, invalid("", fmt.Sprintf("The input is larger than %d kB.", maxInput>>10))
	}
	keys := map[string]json.RawMessage{}
	if err := one(raw, &keys); err != nil {
		return in, invalid("", "The input is not a JSON object.")
	}
	if t.action != nil {
		return decodeAction(t, keys)
	}
	for key := range keys {
		if !slices.Contains(takes[t.op], key) && !slices.Contains(takes[t.op], key+"!") {
			return in, invalid(clipped(key), fmt.Sprintf("%q is not an input of %s; it takes %s.", clipped(key), t.Name, strings.ReplaceAll(strings.Join(takes[t.op], ", "), "!", "")))
		}
	}
	if err := one(raw, &in); err != nil {
		return in, mistyped(err)
	}
	return in, in.check(t)
}

func one(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

func mistyped(err error) *gate.Refusal {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return invalid(wrong.Field, fmt.Sprintf("%q is of the wrong type: it is a %s.", wrong.Field, jsonTypes[wrong.Field]))
	}
	return invalid("", "The input cannot be read.")
}

var jsonTypes = map[string]string{"id": "text", "changes": "JSON object of values by field name", "where": "JSON object of values by field name", "first": "whole number", "after": "text", "note": "text"}

func (in input) check(t Tool) *gate.Refusal {
	for _, key := range takes[t.op] {
		name, required := strings.CutSuffix(key, "!")
		if required && !in.has(name) {
			return invalid(name, fmt.Sprintf("%q is missing.", name))
		}
	}
	switch {
	case in.First != nil && (*in.First < 1 || *in.First > 100):
		return invalid("first", `"first" is a number from 1 to 100.`)
	case in.Note != nil && utf8.RuneCountInString(*in.Note) > MaxNote:
		return invalid("note", fmt.Sprintf(`"note" has at most %d characters.`, MaxNote))
	case in.Note != nil && strings.ContainsRune(*in.Note, 0):
		return invalid("note", `"note" cannot hold a NUL character.`)
	case in.Changes != nil && len(in.Changes) == 0 && (t.op == record.Update || t.op == record.BulkUpdate):
		return &gate.Refusal{Code: gate.NothingToChange, Message: "No field is given, so there is nothing to change.", Field: "changes"}
	}
	return nil
}

func (in input) has(key string) bool {
	switch key {
	case "id":
		return in.ID != nil && *in.ID != ""
	case "changes":
		return in.Changes != nil
	case "where":
		return in.Where != nil
	}
	return true
}

func invalid(field, message string) *gate.Refusal {
	return &gate.Refusal{Code: gate.BadInput, Message: message, Field: field}
}

func clipped(s string) string {
	if utf8.RuneCountInString(s) > 64 {
		return string([]rune(s)[:63]) + "…"
	}
	return s
}
