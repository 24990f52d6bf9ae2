package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/record"
)

const everyType = `
	CREATE TYPE shop."Mood ""!""" AS ENUM ('fine', 'so, so', 'with "quotes"', 'NULL');
	CREATE DOMAIN shop.code AS varchar(5) CHECK (VALUE <> 'never');
	CREATE DOMAIN shop.short AS shop.code;
	CREATE DOMAIN shop.tags AS text[] CHECK (cardinality(VALUE) < 4);
	CREATE TABLE shop.things (
		id int PRIMARY KEY, i2 int2, i4 int4, i8 int8, n numeric, n103 numeric(10,3), n2 numeric(5,-2), f4 float4, f8 float8, b boolean,
		t text, v varchar(5), c char(5), d date, ts timestamp, tz timestamptz, tz0 timestamptz(0), u uuid, m shop."Mood ""!""",
		j json, jb jsonb, dom shop.short, ti text[], i8s int8[], ns numeric(6,2)[], ms shop."Mood ""!"""[], tzs timestamptz[], bs boolean[], jbs jsonb[], js json[], vs varchar(3)[], tags shop.tags,
		by bytea, iv interval, mo money, r int4range, tm time, ip inet, x xml, rs int4range[]);
	INSERT INTO shop.things (id) VALUES (1);`

func everyTypeRegistry() string {
	var b strings.Builder
	b.WriteString("\n  shop.thing:\n    table: shop.things\n    operations: [list, get, create, update, delete]\n    fields:\n      id:\n")
	for name := range strings.FieldsSeq("i2 i4 i8 n n103 n2 f4 f8 b t v c d ts tz tz0 u m j jb dom ti i8s ns ms tzs bs jbs js vs tags") {
		b.WriteString("      " + name + ": {writable: true}\n")
	}
	for name := range strings.FieldsSeq("by iv mo r tm ip x rs") {
		b.WriteString("      " + name + ":\n")
	}
	return b.String()
}

func TestEveryTypeGoesThereAndBackExactly(t *testing.T) {
	w := workshop(t, everyType, everyTypeRegistry())
	for _, test := range []struct{ field, in, out string }{
		{"i2", `-32768`, `-32768`}, {"i2", `"7"`, `7`}, {"i2", `7.00`, `7`},
		{"i4", `2147483647`, `2147483647`}, {"i4", `"-2147483648"`, `-2147483648`}, {"i4", `"007"`, `7`},
		{"i8", `9007199254740993`, `"9007199254740993"`}, {"i8", `"9223372036854775807"`, `"9223372036854775807"`}, {"i8", `-9223372036854775808`, `"-9223372036854775808"`},
		{"n", `100.000`, `"100.000"`}, {"n", `"12345678901234567890.12"`, `"12345678901234567890.12"`}, {"n", `0.30000000000000004`, `"0.30000000000000004"`}, {"n", `1e3`, `"1000"`}, {"n", `-0.0`, `"0.0"`}, {"n", `1E-3`, `"0.001"`},
		{"n103", `100`, `"100.000"`}, {"n103", `"1.2346"`, `"1.235"`}, {"n103", `9999999.999`, `"9999999.999"`}, {"n2", `12345`, `"12300"`},
		{"f4", `1.1`, `1.1`}, {"f8", `0.1`, `0.1`}, {"f8", `1e300`, `1e+300`}, {"f8", `5.76`, `5.76`}, {"f8", `-0.0`, `-0`},
		{"b", `true`, `true`}, {"b", `false`, `false`},
		{"t", `""`, `""`}, {"t", `"  "`, `"  "`}, {"t", `"<a href='x'>&\\\"\n\t😀é\u0301\u202e"`, ``}, {"t", `"NULL"`, `"NULL"`}, {"t", `"\u00e9"`, `"é"`}, {"t", `"\ud83d\ude00"`, `"😀"`},
		{"v", `"ééééé"`, `"ééééé"`}, {"c", `"ab"`, `"ab"`},
		{"d", `"2026-05-31"`, `"2026-05-31"`}, {"d", `"2024-02-29"`, `"2024-02-29"`}, {"d", `"1000-01-01"`, `"1000-01-01"`}, {"d", `"9999-12-31"`, `"9999-12-31"`},
		{"ts", `"2026-05-31T10:00:00"`, `"2026-05-31T10:00:00"`}, {"ts", `"2026-05-31T10:00:00.123456"`, `"2026-05-31T10:00:00.123456"`},
		{"tz", `"2026-05-31T10:00:00Z"`, `"2026-05-31T10:00:00Z"`}, {"tz", `"2026-05-31T10:00:00.120+02:00"`, `"2026-05-31T08:00:00.12Z"`}, {"tz0", `"2026-05-31T23:59:59.6Z"`, `"2026-06-01T00:00:00Z"`},
		{"u", `"0190F3A0-7C1E-7BDE-8B60-3F2F7A1F9A10"`, `"0190f3a0-7c1e-7bde-8b60-3f2f7a1f9a10"`},
		{"m", `"so, so"`, `"so, so"`}, {"m", `"with \"quotes\""`, `"with \"quotes\""`}, {"m", `"NULL"`, `"NULL"`},
		{"j", `{"b":1,  "a":[1.10]}`, `{"a": [1.10], "b": 1}`}, {"jb", `{"b":1,"a":null}`, `{"a": null, "b": 1}`}, {"jb", `"text"`, `"text"`}, {"jb", `0`, `0`}, {"jb", `[]`, `[]`}, {"jb", `""`, `""`},
		{"dom", `"abcde"`, `"abcde"`},
		{"ti", `["a","b,c","d\"e\\f","NULL",null,"","{x}"]`, `["a","b,c","d\"e\\f","NULL",null,"","{x}"]`}, {"ti", `[]`, `[]`}, {"ti", `[["a","b"],["c",null]]`, `[["a","b"],["c",null]]`},
		{"i8s", `[9007199254740993,"2",null]`, `["9007199254740993","2",null]`}, {"ns", `[1,"2.5",3.14159]`, `["1.00","2.50","3.14"]`}, {"ms", `["fine","so, so"]`, `["fine","so, so"]`},
		{"tzs", `["2026-05-31T10:00:00+02:00"]`, `["2026-05-31T08:00:00Z"]`}, {"bs", `[true,false,null]`, `[true,false,null]`}, {"jbs", `[{"a":[1,2]},[1],"x",3]`, `[{"a": [1, 2]},[1],"x",3]`}, {"js", `[{"b":1, "a":2}]`, `[{"b":1, "a":2}]`}, {"vs", `["abc","é"]`, `["abc","é"]`}, {"tags", `["x"]`, `["x"]`},
		{"t", `null`, `NULL`}, {"jb", `null`, `NULL`}, {"ti", `null`, `NULL`},
	} {
		want := test.out
		if want == "" {
			want = test.in
		}
		t.Run(test.field+" "+test.in, func(t *testing.T) { w.thereAndBack(t, test.field, test.in, want) })
	}
}

func (w *world) thereAndBack(t *testing.T, field, in, want string) {
	d := w.mustDraft(t, "shop.thing", record.Update, "1", `{"`+field+`":`+in+`}`)
	got, err := w.write(t, "shop.thing", record.Update, "1", `{"`+field+`":`+in+`}`)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := w.entity(t, "shop.thing").Field(field)
	if f.Name == "t" && strings.Contains(in, "href") {
		want = printed(d.To[field]) // spelled with other escapes
	}
	for when, value := range map[string]record.Value{"drafted": d.To[field], "written": got.Values[field], "read": w.mustGet(t, "shop.thing", "1").Values[field]} {
		if printed(value) != want {
			t.Errorf("%s %s is %s, not %s", field, when, printed(value), want)
		}
		if !f.Same(value, d.To[field]) {
			t.Errorf("%s %s is another than drafted", field, when)
		}
	}
	if again := w.mustDraft(t, "shop.thing", record.Update, "1", `{"`+field+`":`+in+`}`); again.Changed != nil {
		t.Errorf("the same value changes %v", again.Changed)
	}
	if page, err := w.list(t, "shop.thing", `{"`+field+`":`+in+`}`, 1, ""); err != nil || len(page.Records) != 1 {
		t.Errorf("the record is not found by its value: %v", err)
	}
}

func TestTypesThatAreOnlyRead(t *testing.T) {
	w := workshop(t, everyType+`UPDATE shop.things SET by = '\x00ff', iv = '1 day 02:00', mo = '12.30', r = '[1,5)', tm = '10:00', ip = '10.0.0.1', x = '<a/>', rs = '{"[1,5)"}',
		f8 = 'NaN', d = 'infinity', tz = '-infinity', ts = '0044-03-15 10:00:00 BC', n = 'NaN', jb = 'null', j = 'null', t = E'\u2028<&>'`, everyTypeRegistry())
	got := w.mustGet(t, "shop.thing", "1")
	for field, want := range map[string]string{
		"by": `"\\x00ff"`, "iv": `"1 day 02:00:00"`, "mo": `"$12.30"`, "r": `"[1,5)"`, "tm": `"10:00:00"`, "ip": `"10.0.0.1/32"`, "x": `"<a/>"`, "rs": `["[1,5)"]`,
		"f8": `"NaN"`, "d": `"infinity"`, "tz": `"-infinity"`, "ts": `"0044-03-15 10:00:00 BC"`, "n": `"NaN"`, "jb": `null`, "j": `null`, "i4": `NULL`, "t": `"\u2028<&>"`,
	} {
		if printed(got.Values[field]) != want {
			t.Errorf("%s is %s, not %s", field, printed(got.Values[field]), want)
		}
	}
	_, err := w.draft(t, "shop.thing", record.Update, "1", `{"by":"x"}`)
	if refusal(t, err).Code != record.FieldNotWritable {
		t.Error(err)
	}
	for field, value := range map[string]string{"by": `"\\x00ff"`, "r": `"[1,5)"`, "rs": `["[1,5)"]`, "ip": `"10.0.0.1/32"`} {
		if page, err := w.list(t, "shop.thing", `{"`+field+`":`+value+`}`, 1, ""); err != nil || len(page.Records) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestNullJSONNullAndEmptyAreApart(t *testing.T) {
	w := workshop(t, everyType+`INSERT INTO shop.things (id, jb) VALUES (2, 'null'), (3, '""'), (4, '[]'), (5, '0'), (6, '" "')`, everyTypeRegistry())
	seen := map[string]string{}
	for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
		value := printed(w.mustGet(t, "shop.thing", key).Values["jb"])
		if other, taken := seen[value]; taken {
			t.Errorf("%s and %s are both %s", key, other, value)
		}
		seen[value] = key
	}
	write := w.prepare(t, "shop.thing", record.Update, "1", `{"jb":[]}`)
	write.Values["jb"] = record.Value{JSON: []byte("null")}
	if got, err := w.apply(t, write); err != nil || printed(got.Values["jb"]) != "null" {
		t.Errorf("JSON null is written as %s, %v", printed(got.Values["jb"]), err)
	}
}

func TestFieldsTellWhatTheyTake(t *testing.T) {
	w := workshop(t, everyType, everyTypeRegistry())
	e := w.entity(t, "shop.thing")
	for name, want := range map[string]record.Type{
		"i2": record.Integer, "i8": record.Integer, "n": record.Decimal, "f8": record.Decimal, "b": record.Boolean, "t": record.Text, "d": record.Date,
		"ts": record.Timestamp, "tz": record.Timestamp, "u": record.UUID, "m": record.Enum, "j": record.JSON, "ti": record.JSON, "dom": record.Text, "by": record.Text,
	} {
		if f, _ := e.Field(name); f.Type != want {
			t.Errorf("%s is %s, not %s", name, f.Type, want)
		}
	}
	mood, _ := e.Field("m")
	if !slices.Equal(mood.Values, []string{"fine", "so, so", `with "quotes"`, "NULL"}) {
		t.Errorf("%q", mood.Values)
	}
	for name, want := range map[string]int{"v": 5, "dom": 5, "c": 5, "t": 0, "vs": 0} {
		if f, _ := e.Field(name); f.MaxLength != want || !f.Nullable {
			t.Errorf("%s: at most %d characters, nullable %t", name, f.MaxLength, f.Nullable)
		}
	}
}
