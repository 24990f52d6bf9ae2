package toolcall

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/record"
)

func tool(op record.Operation) Tool {
	t := Tool{Name: "core_role_" + string(op), op: op, entity: &record.Entity{}, Entity: EntityInfo{Fields: []FieldInfo{
		{Name: "name", Label: "Name", Type: "TEXT", Writable: true, MaxLength: 60}, {Name: "iban", Label: "IBAN", Type: "TEXT", Writable: true, Masked: true},
		{Name: "rank", Label: "Rank", Type: "INTEGER", Nullable: true}, {Name: "kind", Label: "Kind", Type: "ENUM", Values: []string{"a", "b"}, Writable: true}}}}
	t.Schema = schemaOf(t)
	return t
}

func TestInputIsReadStrictly(t *testing.T) {
	long := strings.Repeat("x", MaxNote+1)
	for _, c := range []struct {
		op                 record.Operation
		input, code, field string
	}{
		{record.Update, `{"id":"4","changes":{"name":"x"}}`, "", ""},
		{record.Update, `{"id":"4","changes":{"name":"x"},"note":"why"}`, "", ""},
		{record.Update, `{"id":"4","changes":{"name":"x"},"confirm":true}`, "INVALID_INPUT", "confirm"},
		{record.Update, `{"id":"4","changes":{"name":"x"},"confirmation_token":"t"}`, "INVALID_INPUT", "confirmation_token"},
		{record.Update, `{"changes":{"name":"x"}}`, "INVALID_INPUT", "id"},
		{record.Update, `{"id":"","changes":{"name":"x"}}`, "INVALID_INPUT", "id"},
		{record.Update, `{"id":4,"changes":{"name":"x"}}`, "INVALID_INPUT", "id"},
		{record.Update, `{"id":"4"}`, "INVALID_INPUT", "changes"},
		{record.Update, `{"id":"4","changes":null}`, "INVALID_INPUT", "changes"},
		{record.Update, `{"id":"4","changes":[]}`, "INVALID_INPUT", "changes"},
		{record.Update, `{"id":"4","changes":{}}`, "NOTHING_TO_CHANGE", "changes"},
		{record.Update, `{"id":"4","changes":{"name":"x"},"note":"` + long + `"}`, "INVALID_INPUT", "note"},
		{record.Create, `{"changes":{}}`, "", ""},
		{record.Create, `{"changes":{},"id":"4"}`, "INVALID_INPUT", "id"},
		{record.Delete, `{"id":"4"}`, "", ""},
		{record.Delete, `{"id":"4","changes":{}}`, "INVALID_INPUT", "changes"},
		{record.List, `{}`, "", ""},
		{record.List, `{"first":0}`, "INVALID_INPUT", "first"},
		{record.List, `{"first":101}`, "INVALID_INPUT", "first"},
		{record.List, `{"first":1.5}`, "INVALID_INPUT", "first"},
		{record.Get, `{}`, "INVALID_INPUT", "id"},
		{record.Get, ``, "INVALID_INPUT", ""},
		{record.Get, `null`, "INVALID_INPUT", "id"},
		{record.Get, `"4"`, "INVALID_INPUT", ""},
		{record.Get, `{"id":"4"}{"id":"5"}`, "INVALID_INPUT", ""},
		{record.Get, `{"id":"` + strings.Repeat("4", maxInput) + `"}`, "INVALID_INPUT", ""},
	} {
		_, refusal := decode(tool(c.op), json.RawMessage(c.input))
		code, field := "", ""
		if refusal != nil {
			code, field = string(refusal.Code), refusal.Field
		}
		if code != c.code || field != c.field {
			t.Errorf("%s %.60s: %s %q, want %s %q", c.op, c.input, code, field, c.code, c.field)
		}
	}
}

func FuzzInput(f *testing.F) {
	f.Add(`{"id":"4","changes":{"name":"x"}}`)
	f.Add(`{"id":null}`)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, op := range operations {
			one := tool(op)
			in, refusal := decode(one, json.RawMessage(raw))
			if refusal == nil && slices.Contains(takes[op], "id!") && (in.ID == nil || *in.ID == "") {
				t.Fatalf("%s took %q without an id", op, raw)
			}
			if !json.Valid([]byte(loggable(one, json.RawMessage(raw))(nil).String())) {
				t.Fatalf("%q is logged as what is no JSON", raw)
			}
		}
	})
}

func TestTheSchemaIsWhatIsValidated(t *testing.T) {
	for _, op := range operations {
		var schema struct {
			Properties           map[string]any
			Required             []string
			AdditionalProperties bool
		}
		if err := json.Unmarshal(tool(op).Schema, &schema); err != nil || schema.AdditionalProperties {
			t.Fatalf("%s: %v, additional properties %v", op, err, schema.AdditionalProperties)
		}
		for _, key := range takes[op] {
			name, required := strings.CutSuffix(key, "!")
			if _, there := schema.Properties[name]; !there || required != slices.Contains(schema.Required, name) {
				t.Errorf("%s: %s is validated and not so in the schema", op, key)
			}
		}
		if len(schema.Properties) != len(takes[op]) {
			t.Errorf("%s: the schema has more than is taken", op)
		}
	}
}

func TestTheSchemaOffersWhatMayBeWritten(t *testing.T) {
	schema := string(tool(record.Update).Schema)
	for text, want := range map[string]bool{`"name"`: true, `"rank"`: false, `"iban"`: true, `"maxLength":60`: true, `"enum":["a","b"]`: true} {
		if strings.Contains(schema, text) != want {
			t.Errorf("%s in the schema of an update: want %v: %s", text, want, schema)
		}
	}
	if strings.Contains(string(tool(record.List).Schema), `"iban"`) {
		t.Error("a list can be filtered by a masked field")
	}
}

func TestLoggableHoldsNoMore(t *testing.T) {
	registry := &record.Entity{Fields: []*record.Field{{Name: "name"}, {Name: "iban", Masked: true}}}
	update := tool(record.Update)
	update.entity = registry
	for input, want := range map[string]string{
		`{"id":"4","changes":{"name":"x"}}`:                               `{"changes":{"name":"x"},"id":"4"}`,
		`{"id":"4","changes":{"iban":"DE00"}}`:                            `{"changes":{"iban":"(masked)"},"id":"4"}`,
		`{"id":"4","changes":{"unit_cost":"secret"}}`:                     `{"changes":{"(unknown)":true},"id":"4"}`,
		`{"password":"secret"}`:                                           `{}`,
		`{"id":"a\u0000b"}`:                                               `{"id":"(holds NUL)"}`,
		`{"changes":"secret"}`:                                            `{"changes":"(not an object)"}`,
		`{"changes":{"name":{"a":[` + strings.Repeat("1,", 200) + `1]}}}`: `{"changes":{"name":"(long)"}}`,
		`not JSON`: `{}`,
	} {
		if got := loggable(update, json.RawMessage(input))(nil).String(); got != want {
			t.Errorf("%.60s is logged as %s, want %s", input, got, want)
		}
	}
}

// What docs/tools.md says of the tools of an entity is what they take.
func TestTheDocumentSaysWhatAToolTakes(t *testing.T) {
	document, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		var list []string
		for _, key := range takes[op] {
			name, required := strings.CutSuffix(key, "!")
			list = append(list, "`"+name+"`"+map[bool]string{true: "!"}[required])
		}
		row := fmt.Sprintf("| `core_role_%s` | `%s` | %s |\n", op, strings.ToUpper(string(op)), strings.Join(list, ", "))
		if !strings.Contains(string(document), row) {
			t.Errorf("docs/tools.md has no row %s", row)
		}
	}
}
