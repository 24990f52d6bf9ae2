package actions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/record"
)

// complete is an input of each action that gives everything there is to give.
var complete = map[string]string{
	"mrp.adjust_order":    `{"order": "PO-1042", "start": "2026-06-02", "finish": "2026-06-04", "quantity": 480.5, "split": {"quantity": "180", "start": "2026-06-04", "finish": "2026-06-05"}}`,
	"crp.adjust_schedule": `{"operation": "PO-1042/10", "day": "2026-06-03", "work_center": "WC-FILL"}`,
}

type object = map[string]any

func objectOf(t *testing.T, text string) object {
	t.Helper()
	o := object{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// each calls for every action there is. One without a complete input fails.
func each(t *testing.T, do func(t *testing.T, a actions.Action, input object)) {
	for _, a := range actions.All() {
		t.Run(a.Name, func(t *testing.T) {
			if complete[a.Name] == "" {
				t.Fatal("the action has no complete input in this test")
			}
			do(t, a, objectOf(t, complete[a.Name]))
		})
	}
}

func read(a actions.Action, input any) error {
	raw, _ := json.Marshal(input)
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	_, err := a.Read(fields)
	return err
}

func TestEveryActionSaysWhatItIs(t *testing.T) {
	each(t, func(t *testing.T, a actions.Action, input object) {
		if a.Title == "" || a.Entity == "" || a.Description == "" || len(a.Needs[a.Entity]) == 0 || len(a.Rules) == 0 || len(a.ToolName()) > 64 {
			t.Errorf("%+v does not say all of it", a)
		}
		if err := read(a, input); err != nil {
			t.Errorf("the complete input is refused: %v", err)
		}
		for _, i := range a.Inputs() {
			if _, given := input[i.Name]; !given {
				t.Errorf("the complete input does not give %s", i.Name)
			}
		}
	})
}

func TestWhatAnActionDoesNotKnowIsRefusedByItsName(t *testing.T) {
	each(t, func(t *testing.T, a actions.Action, input object) {
		places(input, "", func(in object, path string) {
			for _, name := range []string{"confirm", "confirmation_token", "Start", "ORDER", "unit_cost", ""} {
				in[name] = true
				if bad := (*record.InputError)(nil); !errors.As(read(a, input), &bad) || bad.Code != record.InvalidInput || bad.Field != path+name || !strings.Contains(bad.Message, `"`+path+name+`"`) {
					t.Errorf("%q: %v", path+name, read(a, input))
				}
				delete(in, name)
			}
		})
	})
}

// places calls for the input and for every object in it.
func places(in object, path string, do func(in object, path string)) {
	do(in, path)
	for name, value := range in {
		if inner, ok := value.(object); ok {
			places(inner, path+name+".", do)
		}
	}
}

// probes are values that some type takes and others do not, and those at the edges of what one takes.
var probes = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `10`, `11`, `1.0`, `0.5`, `1e2`, `1E-6`, `1e-7`, `1e40`, `1e41`, `-0`, `0.000001`, `0.0000001`, `480.123456`, `480.1234567`,
	`999999999999`, `999999999999.999999`, `1000000000000`, `1000001`, `-999999999999`,
	`""`, `" "`, `"x"`, `"0"`, `"1"`, `"01"`, `"-1"`, `"0.0"`, `"0.000001"`, `"0.0000001"`, `"0.000000"`, `"1."`, `".5"`, `"1e2"`, `"1,000"`, `"999999999999.999999"`, `"1000000000000"`, `"NaN"`, `" 1"`,
	`"2026-06-02"`, `"2026-02-29"`, `"2028-02-29"`, `"2026-13-01"`, `"2026-6-2"`, `"02/06/2026"`, `"2026-06-02T00:00:00Z"`, `"0000-01-01"`, `"0999-01-01"`, `"1000-01-01"`, `"2999-12-31"`, `"3000-01-01"`, `"tomorrow"`,
	`[]`, `["2026-06-02"]`, `{}`, `{"quantity": 1}`, `{"quantity": 0}`, `{"x": 1}`, `"a\u0000b"`, `"\ud800"`, `"🍺"`,
	`"` + strings.Repeat("x", 40) + `"`, `"` + strings.Repeat("x", 41) + `"`, `"` + strings.Repeat("x", 60) + `"`, `"` + strings.Repeat("é", 61) + `"`, `"` + strings.Repeat("🍺", 80) + `"`, `"` + strings.Repeat("x", 81) + `"`,
}

// TestTheSchemaIsWhatIsValidated holds a validator that is not ours against what the action takes.
func TestTheSchemaIsWhatIsValidated(t *testing.T) {
	each(t, func(t *testing.T, a actions.Action, input object) {
		sameVerdict(t, a, compiled(t, a), input)
	})
}

func compiled(t *testing.T, a actions.Action) *jsonschema.Schema {
	t.Helper()
	raw, err := json.Marshal(a.Schema())
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("schema.json")
}

func sameVerdict(t *testing.T, a actions.Action, schema *jsonschema.Schema, input object) {
	t.Helper()
	verdict := func(what string) {
		raw, _ := json.Marshal(input)
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if byUs, bySchema := read(a, input), schema.Validate(instance); (byUs == nil) != (bySchema == nil) {
			t.Errorf("%s: the action says %v, its schema %v", what, byUs, bySchema)
		}
	}
	verdict("complete")
	places(input, "", func(in object, path string) {
		in["unknown"] = 1
		verdict(path + "unknown")
		delete(in, "unknown")
		for name, kept := range in {
			delete(in, name)
			verdict(path + name + " left out")
			for _, probe := range probes {
				in[name] = json.RawMessage(probe)
				verdict(fmt.Sprintf("%s%s: %.60s", path, name, probe))
			}
			in[name] = kept
		}
	})
}
