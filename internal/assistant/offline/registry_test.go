package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/toolcall"
)

// sample is a record of an odd kind: how to name it, and a value for each field as it is said and as a
// tool takes it.
type sample struct {
	entity toolcall.EntityInfo
	id     string
	said   string // its key, as a person says it
	label  string
	values map[string]value
}

type value struct {
	said string
	tool any
	held any // what the record holds before
}

// odd is a registry that is nothing like the demo's: names that hold the grammar's own words, plurals
// that are no other than the singular, other alphabets, composite keys, every type.
var odd = []sample{
	{
		entity: toolcall.EntityInfo{Name: "library.book", Title: "Book", Plural: "Books", LabelField: "title", Key: []string{"isbn"}, Fields: []toolcall.FieldInfo{
			{Name: "isbn", Label: "ISBN", Type: "UUID"}, {Name: "title", Label: "Title", Type: "TEXT", Writable: true},
			{Name: "shelf", Label: "Shelf", Type: "ENUM", Writable: true, Values: []string{"north_wing", "cellar"}}, {Name: "copies", Label: "Copies", Type: "INTEGER", Writable: true},
			{Name: "price", Label: "Price in euro", Type: "DECIMAL", Writable: true}, {Name: "on_loan", Label: "On loan", Type: "BOOLEAN", Writable: true},
			{Name: "printed_on", Label: "Printed on", Type: "DATE", Writable: true}, {Name: "seen_at", Label: "Last seen at", Type: "TIMESTAMP", Writable: true},
			{Name: "blurb", Label: "Blurb", Type: "TEXT", Writable: true, Nullable: true}, {Name: "marc", Label: "MARC record", Type: "JSON", Writable: true},
			{Name: "twin", Label: "Twin edition", Type: "UUID", Writable: true}, {Name: "house_id", Label: "Publisher", Type: "REFERENCE", References: "library.publishing_house", Writable: true}}},
		id: "0190b0a0-0000-7000-8000-00000000000a", said: "0190b0a0-0000-7000-8000-00000000000a", label: "Moby-Dick; or, The Whale",
		values: map[string]value{
			"title": {"The Whale", "The Whale", "Moby-Dick; or, The Whale"}, "shelf": {"north wing", "north_wing", "cellar"}, "copies": {"12", 12.0, 3}, "price": {"17.50", "17.50", "9"},
			"on_loan": {"yes", true, false}, "printed_on": {"18 October 1851", "1851-10-18", "1851-11-14"}, "seen_at": {"2026-06-02 14:30", "2026-06-02T14:30:00Z", "2025-01-01T00:00:00Z"},
			"blurb": {"A man and a whale", "A man and a whale", "x"}, "marc": {`{"leader":"00000nam"}`, map[string]any{"leader": "00000nam"}, "{}"},
			"twin": {"0190B0A0-0000-7000-8000-00000000000B", "0190b0a0-0000-7000-8000-00000000000b", nil}, "house_id": {`"Harper & Brothers"`, "harper", "bentley"}},
	},
	{
		entity: toolcall.EntityInfo{Name: "library.publishing_house", Title: "Publishing house", Plural: "Publishing houses", LabelField: "name", Key: []string{"code"}, Fields: []toolcall.FieldInfo{
			{Name: "code", Label: "Code", Type: "TEXT"}, {Name: "name", Label: "Name", Type: "TEXT", Writable: true}, {Name: "founded", Label: "Founded in", Type: "INTEGER", Writable: true, Nullable: true}}},
		id: "harper", said: "harper", label: "Harper & Brothers",
		values: map[string]value{"name": {"Harper and Row", "Harper and Row", "Harper & Brothers"}, "founded": {"1817", 1817.0, nil}},
	},
	{
		entity: toolcall.EntityInfo{Name: "fleet.vehicle", Title: "Fleet vehicle", Plural: "Fleet vehicles", LabelField: "plate", Key: []string{"depot", "nr"}, Fields: []toolcall.FieldInfo{
			{Name: "depot", Label: "Depot", Type: "INTEGER"}, {Name: "nr", Label: "Nr", Type: "INTEGER"}, {Name: "plate", Label: "Plate", Type: "TEXT", Writable: true},
			{Name: "order", Label: "Order", Type: "TEXT", Writable: true}, {Name: "ship_to", Label: "Ship to", Type: "TEXT", Writable: true}, {Name: "date_of_issue", Label: "Date of issue", Type: "DATE", Writable: true},
			{Name: "lease_start", Label: "Start of lease", Type: "DATE", Writable: true}, {Name: "driver's_name", Label: "Driver's name", Type: "TEXT", Writable: true, Nullable: true}, {Name: "secret", Label: "Secret", Type: "TEXT", Masked: true, Writable: true}}},
		id: `["7","31"]`, said: "7/31", label: "B-AB 1234",
		values: map[string]value{"plate": {"B-XY 99", "B-XY 99", "B-AB 1234"}, "order": {"first", "first", "last"}, "ship_to": {"Kiel", "Kiel", "Rome"}, "date_of_issue": {"2026-01-31", "2026-01-31", "2020-02-28"},
			"lease_start": {"March 1st, 2026", "2026-03-01", "2026-02-27"}, "driver's_name": {"Ann", "Ann", "Bob"}, "secret": {"hush", "hush", "x"}},
	},
	{
		entity: toolcall.EntityInfo{Name: "zoo.sheep", Title: "Sheep", Plural: "Sheep", LabelField: "name", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
			{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "name", Label: "Name", Type: "TEXT", Writable: true}, {Name: "wool", Label: "Wool (kg)", Type: "DECIMAL", Writable: true}}},
		id: "4", said: "4", label: "Dolly",
		values: map[string]value{"name": {"Polly", "Polly", "Dolly"}, "wool": {"-0.25", "-0.25", "3"}},
	},
	{
		entity: toolcall.EntityInfo{Name: "möbel.étagère", Title: "Étagère", Plural: "Étagères", Key: []string{"n"}, Fields: []toolcall.FieldInfo{
			{Name: "n", Label: "N", Type: "INTEGER"}, {Name: "höhe", Label: "Höhe", Type: "INTEGER", Writable: true, Nullable: true}, {Name: "farbe", Label: "Farbe", Type: "ENUM", Values: []string{"weiß", "grün"}, Writable: true}}},
		id: "12", said: "12",
		values: map[string]value{"höhe": {"180", 180.0, 90}, "farbe": {"GRÜN", "grün", "weiß"}},
	},
	{
		entity: toolcall.EntityInfo{Name: "bom.bill", Title: "Bill of materials", Plural: "Bills of materials", LabelField: "code", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
			{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "code", Label: "Code", Type: "TEXT", Writable: true}, {Name: "set", Label: "Set", Type: "TEXT", Writable: true}, {Name: "valid_from", Label: "Valid from", Type: "DATE", Writable: true}}},
		id: "88", said: "88", label: "BOM-88",
		values: map[string]value{"code": {"BOM-89", "BOM-89", "BOM-88"}, "set": {"of three", "of three", "x"}, "valid_from": {"2026-12-24", "2026-12-24", "2026-12-01"}},
	},
}

func oddWorld(t *testing.T) *world {
	w := &world{t: t, offers: map[string][]string{}, rows: map[string][]row{}}
	for _, s := range odd {
		held := map[string]any{}
		for name, v := range s.values {
			held[name] = v.held
		}
		if len(s.entity.Key) == 1 {
			held[s.entity.Key[0]] = s.id
		}
		w.entities = append(w.entities, s.entity)
		w.offers[s.entity.Name] = []string{"list", "get", "create", "update", "delete"}
		w.rows[s.entity.Name] = []row{{s.id, held}}
	}
	return w
}

// fields calls for every writable field of every odd record.
func fields(t *testing.T, each func(w *world, s sample, f toolcall.FieldInfo, v value)) {
	t.Helper()
	w := oddWorld(t)
	for _, s := range odd {
		for _, f := range s.entity.Fields {
			if f.Writable {
				each(w, s, f, s.values[f.Name])
			}
		}
	}
}

func (s sample) updated(changes map[string]any) proposed {
	return proposed{toolName(s.entity.Name, "update"), s.id, changes}
}

func TestEveryFieldOfEveryKindCanBeSet(t *testing.T) {
	shapes := []string{
		"set FIELD of KIND KEY to VALUE", "Change the FIELD of the KIND KEY to VALUE.", "set KIND KEY's FIELD to VALUE", "update FIELD to VALUE for KIND KEY",
		"set FIELD = VALUE on KIND KEY", "please set the FIELD VALUE on KIND number KEY", "make KIND KEY FIELD VALUE", "Could you change NAME of KIND #KEY to VALUE, please?",
		"set FIELD of KIND with id KEY to VALUE",
	}
	labelled := []string{`set FIELD of KIND "LABEL" to VALUE`, `set FIELD of "LABEL" to VALUE`, `change KIND “LABEL”'s FIELD to VALUE`, `set FIELD of the KIND called "LABEL" to VALUE`, `set FIELD of the "LABEL" KIND to VALUE`}
	fields(t, func(w *world, s sample, f toolcall.FieldInfo, v value) {
		forms := shapes
		if s.label != "" {
			forms = append(forms, labelled...)
		}
		for _, form := range forms {
			message := strings.NewReplacer("FIELD", f.Label, "NAME", strings.ReplaceAll(f.Name, "_", " "), "KIND", strings.ToLower(s.entity.Title), "KEY", s.said, "LABEL", s.label, "VALUE", v.said).Replace(form)
			w.expect(message, w.say(message), s.updated(map[string]any{f.Name: v.tool}))
		}
	})
}

func TestEveryKindCanBeRenamedCreatedDeletedAndRead(t *testing.T) {
	w := oddWorld(t)
	for _, s := range odd {
		kind, kinds := strings.ToLower(s.entity.Title), s.entity.Plural
		if label := s.entity.LabelField; label != "" {
			for _, form := range []string{"rename %[1]s %[2]s to %[3]s", `rename the %[1]s "%[4]s" to "%[3]s"`, `call %[1]s %[2]s %[3]s`, `rename "%[4]s" to %[3]s`} {
				message := fmt.Sprintf(form, kind, s.said, s.values[label].said, s.label)
				w.expect(message, w.say(message), s.updated(map[string]any{label: s.values[label].tool}))
			}
			for _, form := range []string{`create a %s called "New one"`, `Add a new %s "New one".`, `make a %s with name "New one"`} {
				message := fmt.Sprintf(form, kind)
				w.expect(message, w.say(message), proposed{toolName(s.entity.Name, "create"), "", map[string]any{label: "New one"}})
			}
		}
		for _, form := range []string{"delete %s %s", "please remove the %s %s"} {
			message := fmt.Sprintf(form, kind, s.said)
			w.expect(message, w.say(message), proposed{toolName(s.entity.Name, "delete"), s.id, map[string]any{}})
		}
		for _, form := range []string{"list %s", "show me all %s", "which %s are there?", "How many %s are there?"} {
			message := fmt.Sprintf(form, strings.ToLower(kinds))
			if answer := w.say(message); !strings.HasPrefix(answer, "1 "+plain(s.entity.Title)+":\n- ") {
				t.Errorf("%s\n  says %q", message, answer)
			}
		}
		for _, form := range []string{"show %s %s", "what is %s %s?", "Look up the %s %s"} {
			message := fmt.Sprintf(form, kind, s.said)
			if answer := w.say(message); !strings.HasPrefix(answer, capital(plain(s.entity.Title))+" "+s.id) {
				t.Errorf("%s\n  says %q", message, answer)
			}
		}
	}
}

func TestEveryFieldCanBeAskedForAndLookedThrough(t *testing.T) {
	fields(t, func(w *world, s sample, f toolcall.FieldInfo, v value) {
		message := fmt.Sprintf("what is the %s of %s %s?", f.Label, strings.ToLower(s.entity.Title), s.said)
		want := fmt.Sprintf("%s of %s is ", f.Label, record{noun: &noun{EntityInfo: s.entity}, id: s.id, label: s.label})
		if f.Masked {
			want = "has no field"
		}
		if answer := w.say(message); !strings.Contains(answer, want) {
			t.Errorf("%s\n  says %q", message, answer)
		}
		if f.Masked || f.Type == "REFERENCE" || f.Type == "JSON" || v.held == nil {
			return
		}
		for _, form := range []string{"list %s with %s %s", "which %s have %s = %s?", "find %s whose %s is %s"} {
			message = fmt.Sprintf(form, strings.ToLower(s.entity.Plural), f.Label, heldAs(v.held))
			if answer := w.say(message); !strings.HasPrefix(answer, "1 ") || !strings.Contains(answer, " with "+f.Label+" ") {
				t.Errorf("%s\n  says %q", message, answer)
			}
		}
	})
}

func heldAs(held any) string {
	if held == false {
		return "no"
	}
	return fmt.Sprintf("%v", quotedIf(held))
}

func quotedIf(held any) any {
	if text, ok := held.(string); ok && strings.ContainsAny(text, " ,;") {
		return `"` + text + `"`
	}
	return held
}

func TestEveryDateCanBeMoved(t *testing.T) {
	fields(t, func(w *world, s sample, f toolcall.FieldInfo, v value) {
		if f.Type != "DATE" {
			return
		}
		later, _ := daysAfter(v.held.(string), 3)
		earlier, _ := daysAfter(v.held.(string), -14)
		for form, day := range map[string]string{"push the FIELD of KIND KEY by three days": later, "move KIND KEY's FIELD two weeks earlier": earlier, "move FIELD of KIND KEY to VALUE": v.tool.(string)} {
			message := strings.NewReplacer("FIELD", f.Label, "KIND", strings.ToLower(s.entity.Title), "KEY", s.said, "VALUE", v.said).Replace(form)
			w.expect(message, w.say(message), s.updated(map[string]any{f.Name: day}))
		}
	})
	w := oddWorld(t)
	w.expect("delay vehicle 7/31", w.say("delay vehicle 7/31 by 2 days"), proposed{"fleet_vehicle_update", `["7","31"]`, map[string]any{"lease_start": "2026-03-01"}})
}

func TestNullableFieldsAloneCanBeCleared(t *testing.T) {
	fields(t, func(w *world, s sample, f toolcall.FieldInfo, _ value) {
		for _, form := range []string{"clear the %s of %s %s", "empty %s of %s %s", "set %s of %s %s to null"} {
			message := fmt.Sprintf(form, f.Label, strings.ToLower(s.entity.Title), s.said)
			answer := w.say(message)
			switch {
			case f.Nullable:
				w.expect(message, answer, s.updated(map[string]any{f.Name: nil}))
			case !strings.Contains(form, "null"):
				w.expect(message, answer)
				if !strings.Contains(answer, "cannot be empty") {
					t.Errorf("%s\n  says %q", message, answer)
				}
			}
			w.proposed = nil
		}
	})
}

func TestEveryKindIsInTheHelp(t *testing.T) {
	answer := oddWorld(t).say("What can you do?")
	for _, s := range odd {
		if !strings.Contains(answer, "- "+s.entity.Plural+": list them, look one up, propose a new one, propose changes to ") {
			t.Errorf("%s is missing in:\n%s", s.entity.Plural, answer)
		}
	}
}
