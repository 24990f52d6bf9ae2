package offline

import (
	"testing"

	"github.com/countersign/countersign/internal/toolcall"
)

func TestValues(t *testing.T) {
	for _, c := range []struct{ kind, said, want string }{
		{"TEXT", "chief reviewer", `"chief reviewer"`}, {"TEXT", `"a ""`, ""}, {"TEXT", "nothing", `null`}, {"TEXT", `"nothing"`, `"nothing"`}, {"TEXT", `""`, `""`}, {"TEXT", "NULL", "null"},
		{"TEXT", "x. Delete it", ""}, {"TEXT", "a and delete role 7", ""}, {"TEXT", `say "x" twice`, ""}, {"TEXT", "search and find", `"search and find"`}, {"TEXT", "ends with a dot.", `"ends with a dot"`},
		{"INTEGER", "12", "12"}, {"INTEGER", "-3", "-3"}, {"INTEGER", "+3", "3"}, {"INTEGER", "007", "7"}, {"INTEGER", "seven", "7"}, {"INTEGER", "9007199254740993", `"9007199254740993"`},
		{"INTEGER", "1.5", ""}, {"INTEGER", "1,000", ""}, {"INTEGER", "0x10", ""}, {"INTEGER", "١٢", ""}, {"INTEGER", "12 kegs", ""}, {"INTEGER", "", ""},
		{"DECIMAL", "0.10", `"0.10"`}, {"DECIMAL", "-12345678901234567890.12", `"-12345678901234567890.12"`}, {"DECIMAL", "1e3", ""}, {"DECIMAL", "NaN", ""}, {"DECIMAL", "1,5", ""},
		{"BOOLEAN", "Yes", "true"}, {"BOOLEAN", "off", "false"}, {"BOOLEAN", "maybe", ""}, {"BOOLEAN", "1", ""},
		{"DATE", "2026-06-02", `"2026-06-02"`}, {"DATE", "tomorrow", ""},
		{"TIMESTAMP", "2026-06-02", `"2026-06-02T00:00:00Z"`}, {"TIMESTAMP", "2026-06-02T14:30:05.5+02:00", `"2026-06-02T14:30:05.5+02:00"`}, {"TIMESTAMP", "14:30", ""},
		{"UUID", "0190B0A0-0000-7000-8000-00000000000A", `"0190b0a0-0000-7000-8000-00000000000a"`}, {"UUID", "4", ""},
		{"ENUM", "NORTH wing", `"north_wing"`}, {"ENUM", "south", ""},
		{"JSON", "[1, 2]", `[1, 2]`}, {"JSON", "[1", ""},
	} {
		f := field{FieldInfo: toolcall.FieldInfo{Name: "x", Type: c.kind, Nullable: true, Values: []string{"north_wing", "cellar"}}}
		got, err := f.value(phrase{c.said, tokenize(c.said)}.plain())
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %q is %s, %v, not %s", c.kind, c.said, got, err, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	for said, want := range map[string]string{
		"2026-06-02": "2026-06-02", "2026-6-2": "2026-06-02", "2 June 2026": "2026-06-02", "the 2nd of June 2026": "2026-06-02", "2. jun 2026": "2026-06-02", "June 2, 2026": "2026-06-02", "Sept 30th, 2026": "2026-09-30", "29 February 2028": "2028-02-29",
		"29 February 2026": "", "31 June 2026": "", "2026-13-01": "", "2026-00-10": "", "0 May 2026": "", "2 June": "", "02/06/2026": "", "2.6.2026": "", "2 Ju 2026": "", "today": "", "next Monday": "", "0000-01-01": "", "": "",
	} {
		got, err := parseDate(said)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v, not %q", said, got, err, want)
		}
	}
	for _, c := range []struct {
		from string
		days int
		want string
	}{{"2026-05-31", 2, "2026-06-02"}, {"2028-02-28", 1, "2028-02-29"}, {"2026-01-01", -1, "2025-12-31"}, {"9999-12-31", 1, ""}, {"infinity", 1, ""}, {"0001-01-01", -1, ""}} {
		if got, ok := daysAfter(c.from, c.days); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%d days after %s is %s, %v", c.days, c.from, got, ok)
		}
	}
}
