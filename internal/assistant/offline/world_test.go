package offline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// world stands in for the tools: it answers from rows in memory, as strictly as they do, and writes down
// what was proposed.
type world struct {
	t        *testing.T
	entities []toolcall.EntityInfo
	offers   map[string][]string
	actions  []toolcall.Tool
	rows     map[string][]row
	refuse   string // the message with which every proposal is refused
	proposed []proposed
	calls    int
}

type row struct {
	id     string
	values map[string]any
}

type proposed struct {
	Tool    string
	ID      string
	Changes map[string]any
}

func (w *world) tools() []toolcall.Tool {
	var list []toolcall.Tool
	for _, e := range w.entities {
		for _, operation := range w.offers[e.Name] {
			list = append(list, toolcall.Tool{Name: toolName(e.Name, operation), Entity: e, Operation: operation, Write: operation != "list" && operation != "get"})
		}
	}
	return append(list, w.actions...)
}

func toolName(entity, operation string) string {
	return strings.NewReplacer(".", "_", " ", "_").Replace(entity) + "_" + operation
}

func (w *world) say(message string) string {
	w.t.Helper()
	text, err := Model{}.Answer(w.t.Context(), assistant.Prompt{Message: message, Tools: w.tools()}, w.call)
	if err != nil {
		w.t.Fatalf("%q: %v", message, err)
	}
	return text
}

func (w *world) call(tool string, input json.RawMessage) (*toolcall.Result, error) {
	w.calls++
	for _, t := range w.tools() {
		if t.Name == tool {
			return w.run(t, input)
		}
	}
	w.t.Errorf("the tool %q is not offered", tool)
	return &toolcall.Result{Code: "NOT_OFFERED", Message: "This is not offered to you here."}, nil
}

func (w *world) run(t toolcall.Tool, raw json.RawMessage) (*toolcall.Result, error) {
	var in struct {
		ID      string                     `json:"id"`
		Where   map[string]json.RawMessage `json:"where"`
		Changes map[string]json.RawMessage `json:"changes"`
		First   int                        `json:"first"`
		Note    string                     `json:"note"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		w.t.Errorf("input %s: %v", raw, err)
	}
	switch t.Operation {
	case "action":
		return w.act(t, raw), nil
	case "bulk_update":
		where, _ := json.Marshal(in.Where)
		return w.propose(t, string(where), in.Changes), nil
	case "list":
		return w.list(t.Entity, in.Where, in.First), nil
	case "get":
		return w.get(t.Entity, in.ID), nil
	}
	return w.propose(t, in.ID, in.Changes), nil
}

func (w *world) list(e toolcall.EntityInfo, where map[string]json.RawMessage, first int) *toolcall.Result {
	result := &toolcall.Result{OK: true}
	for name := range where {
		if f, ok := fieldOf(e, name); !ok || f.Masked {
			return &toolcall.Result{Code: "INVALID_INPUT", Message: "There is no field " + name + "."}
		}
	}
	for _, r := range w.rows[e.Name] {
		if matches(r, where) && len(result.Rows) < first {
			result.Rows = append(result.Rows, shown(e, r))
		} else if matches(r, where) {
			result.Next = "more"
		}
	}
	return result
}

func matches(r row, where map[string]json.RawMessage) bool {
	for name, want := range where {
		if text(r.values[name]) != show(want) {
			return false
		}
	}
	return true
}

func text(value any) string {
	raw, _ := json.Marshal(value)
	return show(raw)
}

func (w *world) get(e toolcall.EntityInfo, id string) *toolcall.Result {
	for _, r := range w.rows[e.Name] {
		if r.id == id {
			return &toolcall.Result{OK: true, Rows: []toolcall.Row{shown(e, r)}}
		}
	}
	return &toolcall.Result{Code: "RECORD_GONE", Message: "There is no such record, or you may not see it."}
}

func (w *world) propose(t toolcall.Tool, id string, changes map[string]json.RawMessage) *toolcall.Result {
	if w.refuse != "" {
		return &toolcall.Result{Code: "LOCKED", Message: w.refuse}
	}
	p := proposed{Tool: t.Name, ID: id, Changes: map[string]any{}}
	for name, raw := range changes {
		if f, ok := fieldOf(t.Entity, name); !ok || !f.Writable {
			return &toolcall.Result{Code: "FIELD_NOT_WRITABLE", Message: name + " is not writable."}
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			w.t.Errorf("value %s: %v", raw, err)
		}
		p.Changes[name] = value
	}
	w.proposed = append(w.proposed, p)
	return &toolcall.Result{OK: true, Proposal: &sqlc.Proposal{Number: int64(30 + len(w.proposed)), Headline: fmt.Sprintf("%s %s", t.Name, id)}}
}

// act writes down an action's input, all but the note.
func (w *world) act(t toolcall.Tool, raw json.RawMessage) *toolcall.Result {
	p := proposed{Tool: t.Name, Changes: map[string]any{}}
	if err := json.Unmarshal(raw, &p.Changes); err != nil {
		w.t.Errorf("input %s: %v", raw, err)
	}
	delete(p.Changes, "note")
	w.proposed = append(w.proposed, p)
	return &toolcall.Result{OK: true, Proposal: &sqlc.Proposal{Number: int64(30 + len(w.proposed)), Headline: t.Name}}
}

func fieldOf(e toolcall.EntityInfo, name string) (toolcall.FieldInfo, bool) {
	i := slices.IndexFunc(e.Fields, func(f toolcall.FieldInfo) bool { return f.Name == name })
	if i < 0 {
		return toolcall.FieldInfo{}, false
	}
	return e.Fields[i], true
}

func shown(e toolcall.EntityInfo, r row) toolcall.Row {
	label := r.id
	if e.LabelField != "" && r.values[e.LabelField] != nil {
		label = fmt.Sprint(r.values[e.LabelField])
	}
	values := map[string]json.RawMessage{}
	for _, f := range e.Fields {
		if !f.Masked {
			values[f.Name], _ = json.Marshal(r.values[f.Name])
		}
	}
	return toolcall.Row{Citation: toolcall.Citation{Entity: e.Name, RecordID: r.id, Label: label}, Values: values}
}

// expect compares what was proposed.
func (w *world) expect(message, answer string, want ...proposed) {
	w.t.Helper()
	got := w.proposed
	w.proposed = nil
	if len(got) == 0 && len(want) == 0 || reflect.DeepEqual(got, want) {
		return
	}
	w.t.Errorf("%s\n  proposed %v\n  want     %v\n  answer: %s", message, got, want, answer)
}
