package record

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInputRefusesWhatTheColumnDoesNotTake(t *testing.T) {
	const moment = "from the year 1000 to 9999"
	for _, test := range []struct {
		name   string
		column column
		says   string
		values []string
	}{
		{"smallint", column{kind: int2Kind}, "takes a whole number from -32768 to 32767",
			[]string{`32768`, `-32769`, `12.5`, `"12.5"`, `1e2`, `"abc"`, `""`, `" 1"`, `"1 "`, `true`, `[]`, `{}`, `"0x10"`, `"1_000"`, `"+1"`, `"١"`}},
		{"integer", column{kind: int4Kind}, "takes a whole number from -2147483648 to 2147483647", []string{`2147483648`, `-2147483649`, `0.1`, `99999999999999999999`}},
		{"bigint", column{kind: int8Kind}, "takes a whole number from -9223372036854775808 to 9223372036854775807", []string{`9223372036854775808`, `"-9223372036854775809"`, `1.5`, `1E400`}},
		{"numeric", column{kind: numericKind}, "takes a number of at most 1000 digits", []string{`"NaN"`, `"Infinity"`, `"-inf"`, `"1,5"`, `"1."`, `".5"`, `""`, `1e1001`, `1e-1001`, `1e99999`, `"` + strings.Repeat("9", 1001) + `"`, `false`}},
		{"numeric(5,2)", column{kind: numericKind, precision: 5, scale: 2}, "takes a number with at most 3 digits before the decimal point", []string{`1000`, `-1000.5`, `1e3`, `"9999"`, `0.0001e7`, `"NaN"`}},
		{"real", column{kind: float4Kind}, "takes a number of ordinary size", []string{`1e39`, `"NaN"`, `1e-60`, `"Infinity"`}},
		{"double precision", column{kind: float8Kind}, "takes a number of ordinary size", []string{`1e309`, `1e-400`, `"x"`}},
		{"boolean", column{kind: booleanKind}, "takes true or false", []string{`"true"`, `1`, `0`, `"t"`}},
		{"date", column{kind: dateKind}, "takes a date such as 2026-05-31, " + moment, []string{`"2026-02-30"`, `"31.05.2026"`, `"infinity"`, `"-infinity"`, `"today"`, `"0001-01-01"`, `"10000-01-01"`, `"2026-05-31T00:00:00Z"`, `20260531`, `""`, `"2026-5-1"`}},
		{"timestamptz", column{kind: timestamptzKind}, "takes a time with its zone such as 2026-05-31T10:00:00Z, " + moment,
			[]string{`"2026-05-31"`, `"2026-05-31T10:00:00"`, `"2026-05-31 10:00:00Z"`, `"infinity"`, `"now"`, `"0001-01-01T00:00:00Z"`, `"294276-12-31T00:00:00Z"`, `"2026-05-31T24:00:00Z"`, `"9999-12-31T23:59:59-12:00"`, `1748685600`}},
		{"timestamp", column{kind: timestampKind}, "takes a time without a zone such as 2026-05-31T10:00:00, " + moment, []string{`"2026-05-31T10:00:00Z"`, `"2026-05-31T10:00:00+02:00"`, `"2026-05-31"`}},
		{"uuid", column{kind: uuidKind}, "takes a UUID such as 0190f3a0-7c1e-7bde-8b60-3f2f7a1f9a10", []string{`"0190f3a07c1e7bde8b603f2f7a1f9a10"`, `"{0190f3a0-7c1e-7bde-8b60-3f2f7a1f9a10}"`, `"x"`, `1`}},
		{"enum", column{kind: enumKind, labels: []string{"planned", "released"}}, "takes one of planned, released", []string{`"Planned"`, `"done"`, `""`, `0`}},
		{"varchar(3)", column{kind: textKind, maxLength: 3}, "takes text of at most 3 characters", []string{`"abcd"`, `"abc "`, `"éééé"`, `1`, `true`, `{}`}},
		{"text", column{kind: textKind}, "takes text", []string{`1`, `["a"]`, `{"a":1}`, `truth`, `"a" "b"`}},
		{"text that is none", column{kind: textKind}, "takes valid Unicode text without NUL characters", []string{`"a\u0000b"`, "\"a\x00b\"", "\"\xff\"", `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud83d\\ude00"`}},
		{"jsonb", column{kind: jsonbKind}, "takes JSON, nested at most 100 deep", []string{`{`, `{"a":}`, strings.Repeat("[", 101) + strings.Repeat("]", 101), `NaN`}},
		{"jsonb that is none", column{kind: jsonbKind}, "takes valid Unicode text without NUL characters", []string{`{"a":"\u0000"}`, `{"\ud800":1}`}},
		{"integer[]", column{kind: int4Kind, list: true}, "takes a list of values, each of which takes a whole number from -2147483648 to 2147483647", []string{`1`, `"{1}"`, `[1.5]`, `["x"]`, `[[1],[2,3]]`, `[1,[2]]`, `[[]]`, `[[1],null]`, `[[[[[[[1]]]]]]]`, `{"0":1}`}},
		{"varchar(3)[]", column{kind: textKind, maxLength: 3, list: true}, "takes a list of values, each of which takes text of at most 3 characters", []string{`["abcd"]`, `[1]`, `"abc"`}},
		{"NOT NULL", column{kind: textKind, notNull: true}, "has to have a value; it cannot be null", []string{`null`, ` null `}},
	} {
		for _, value := range test.values {
			text, err := test.column.input(json.RawMessage(value))
			if err == nil {
				t.Errorf("%s takes %s as %q", test.name, value, *text)
			} else if err.Error() != test.says {
				t.Errorf("%s: %s: %s", test.name, value, err)
			}
		}
	}
}

func TestInputTakesNumbersDigitByDigit(t *testing.T) {
	for _, test := range []struct {
		column    column
		raw, want string
	}{
		{column{kind: int8Kind}, `9007199254740993`, "9007199254740993"},
		{column{kind: int8Kind}, `"9007199254740993"`, "9007199254740993"},
		{column{kind: int4Kind}, `12.000`, "12"},
		{column{kind: int4Kind}, `-0`, "0"},
		{column{kind: numericKind}, `12345678901234567890.12`, "12345678901234567890.12"},
		{column{kind: numericKind}, `100.000`, "100.000"},
		{column{kind: numericKind}, `0.1`, "0.1"},
		{column{kind: numericKind, precision: 5, scale: 2}, `999.999e0`, "999.999e0"},
		{column{kind: numericKind, precision: 5, scale: 2}, `0.00012345e6`, "0.00012345e6"},
		{column{kind: textKind, list: true}, `["a\"b","c\\d",null]`, `{"a\"b","c\\d",NULL}`},
		{column{kind: int4Kind, list: true}, `[[1,2],[3,4]]`, `{{"1","2"},{"3","4"}}`},
		{column{kind: jsonbKind, list: true}, `[[1],{"a":"b"}]`, `{"[1]","{\"a\":\"b\"}"}`},
	} {
		text, err := test.column.input(json.RawMessage(test.raw))
		if err != nil || *text != test.want {
			t.Errorf("%s is read as %v, %v", test.raw, text, err)
		}
	}
}

func TestSame(t *testing.T) {
	number, document, words := &Field{column: &column{kind: float8Kind}}, &Field{column: &column{kind: jsonbKind}}, &Field{column: &column{kind: textKind}}
	for _, test := range []struct {
		field *Field
		a, b  string
		same  bool
	}{
		{number, `1e+20`, `100000000000000000000`, true}, {number, `1.5`, `1.50`, true}, {number, `-0`, `0`, true}, {number, `1e-7`, `0.0000001`, true}, {number, `1.1`, `1.10000001`, false},
		{document, `{"b":1,"a":[1.0]}`, `{"a": [1], "b": 1}`, true}, {document, `"1"`, `1`, false}, {document, `null`, `null`, true}, {document, `[1,2]`, `[2,1]`, false},
		{words, `"\u00e9"`, `"é"`, true}, {words, `"a"`, `"A"`, false}, {words, `"1.0"`, `"1"`, false},
	} {
		if got := test.field.Same(Value{JSON: json.RawMessage(test.a)}, Value{JSON: json.RawMessage(test.b)}); got != test.same {
			t.Errorf("%s and %s: %t", test.a, test.b, got)
		}
	}
	if document.Same(Value{Null: true}, Value{JSON: json.RawMessage(`null`)}) || !document.Same(Value{Null: true}, Value{Null: true}) {
		t.Error("NULL is JSON null")
	}
}

// Whatever is accepted is valid text, and stays within the column's limit.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{`null`, `"a"`, `"\ud83d\ude00"`, `12.5`, `[1,[2]]`, `{"a":"\u0000"}`, `"2026-05-31"`, `1e5`, `"\\u0000"`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for k := textKind; k <= jsonbKind; k++ {
			for _, list := range []bool{false, true} {
				c := column{kind: k, list: list, maxLength: 3, precision: 5, scale: 2, labels: []string{"a"}}
				text, err := c.input(raw)
				if err != nil || text == nil {
					continue
				}
				if !utf8.ValidString(*text) || strings.ContainsRune(*text, 0) {
					t.Errorf("kind %d, list %t: %q is read as %q", k, list, raw, *text)
				}
				if k == textKind && !list && utf8.RuneCountInString(*text) > 3 {
					t.Errorf("%q is longer than 3 characters", *text)
				}
			}
		}
	})
}

// Every key that is read is written back to one that reads alike.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"4", "04", "-1", `["1","a"]`, `["1","a",]`, `["1","\ud800"]`, `[1,"a"]`, "", "9223372036854775808", `["1","\u00e9"] `} {
		f.Add(seed)
	}
	single := &Entity{key: []*column{{kind: int8Kind}}}
	words := &Entity{key: []*column{{kind: textKind, maxLength: 20}}}
	composite := &Entity{key: []*column{{kind: int4Kind}, {kind: textKind}}}
	f.Fuzz(func(t *testing.T, key string) {
		for _, e := range []*Entity{single, words, composite} {
			parts, ok := e.readKey(key)
			if !ok {
				continue
			}
			again, ok := e.readKey(writeKey(parts))
			if !ok || strings.Join(again, "\n") != strings.Join(parts, "\n") {
				t.Errorf("%q is read as %q, and then as %q", key, parts, again)
			}
			if back, err := e.readCursor(writeCursor(key)); err != nil || strings.Join(back, "\n") != strings.Join(parts, "\n") {
				t.Errorf("the cursor of %q: %q, %v", key, back, err)
			}
		}
	})
}
