package card_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/card"
)

func value(s string) *card.Value {
	b, _ := json.Marshal(s)
	return &card.Value{JSON: b}
}

func TestWhatLooksAlikeIsPrintedApart(t *testing.T) {
	same := []*card.Value{
		{Null: true}, value(""), value("   "), value("null"), value("\u200b"), value(" a"), value("a"), value("a "), value("a\u00a0"),
		{JSON: json.RawMessage(`"x"`), Masked: true}, value("0"), value("[]"),
	}
	seen := map[string]int{}
	for i, v := range same {
		shown := card.Show(v, card.Text)
		if other, ok := seen[string(shown.Kind)+shown.Text]; ok {
			t.Errorf("values %d and %d both print %q", other, i, shown.Text)
		}
		seen[string(shown.Kind)+shown.Text] = i
	}
}

func TestSQLNullIsNotJSONNull(t *testing.T) {
	sql, js := card.Show(&card.Value{Null: true}, card.JSON), card.Show(&card.Value{JSON: json.RawMessage("null")}, card.JSON)
	if sql.Text == js.Text || sql.Kind == js.Kind {
		t.Fatalf("SQL NULL prints %q (%s), JSON null %q (%s)", sql.Text, sql.Kind, js.Text, js.Kind)
	}
}

func TestValuesByType(t *testing.T) {
	for _, c := range []struct {
		kind       card.FieldType
		json, want string
	}{
		{card.Text, `"reviewer"`, "reviewer"},
		{card.Date, `"2026-05-31"`, "Sun 2026-05-31"},
		{card.Date, `"infinity"`, "infinity"},
		{card.Timestamp, `"2026-06-02T10:00:00.123456+02:00"`, "Tue 2026-06-02 08:00:00.123456 UTC"},
		{card.Integer, `3`, "3"},
		{card.Integer, `"9007199254740993"`, "9007199254740993"},
		{card.Decimal, `"12345678901234567890.120"`, "12345678901234567890.120"},
		{card.Boolean, `true`, "true"},
		{card.JSON, `{"a": [1, null]}`, `{"a":[1,null]}`},
		{card.JSON, `""`, `""`},
	} {
		if got := card.Show(&card.Value{JSON: json.RawMessage(c.json)}, c.kind).Text; got != c.want {
			t.Errorf("%s %s prints %q, want %q", c.kind, c.json, got, c.want)
		}
	}
	if got := card.Show(&card.Value{JSON: json.RawMessage("4"), Label: "editor"}, card.Reference).Text; got != "editor (4)" {
		t.Errorf("a reference prints %q", got)
	}
}

func TestAMaskedValueIsNowhere(t *testing.T) {
	shown := card.Show(&card.Value{JSON: json.RawMessage(`"secret"`), Masked: true}, card.Text)
	if b, _ := json.Marshal(shown); strings.Contains(string(b), "secret") {
		t.Fatalf("masked, and yet %s", b)
	}
}

func TestALongTextIsCutButKeptWhole(t *testing.T) {
	long := strings.Repeat("ä", 10_000) + "!"
	shown := card.Show(value(long), card.Text)
	if n := utf8.RuneCountInString(shown.Text); n > card.MaxText || !shown.Truncated {
		t.Errorf("%d characters, truncated %v", n, shown.Truncated)
	}
	whole := ""
	for _, s := range shown.Segments {
		whole += s.Text
	}
	if whole != long {
		t.Error("the segments are not the whole text")
	}
}

func TestWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"plain ASCII, ä and 日本":    "",
		"line\nbreak\tand tab":     "",
		"a\u202eb":                 "BIDI_CONTROL",
		"a\u200bb":                 "INVISIBLE",
		"a\U000E0041b":             "INVISIBLE",
		"a\u00adb":                 "INVISIBLE",
		"a\x00b":                   "CONTROL_CHARACTER",
		"a\x1b[31mb":               "CONTROL_CHARACTER",
		"a\u00a0b":                 "UNUSUAL_SPACE",
		"p\u0430ypal":              "MIXED_SCRIPT CONFUSABLE",
		"\u0440\u0430\u0443":       "CONFUSABLE",
		"привет":                   "",
		"ｆｕｌｌ":                     "CONFUSABLE",
		"\u202e\u200b\x07 а\u00a0": "BIDI_CONTROL INVISIBLE CONTROL_CHARACTER UNUSUAL_SPACE",
	} {
		var got []string
		for _, w := range card.Warnings(text) {
			got = append(got, string(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q warns %v, want %q", text, got, want)
		}
	}
}

func FuzzMarkLosesNothing(f *testing.F) {
	for _, s := range []string{"", " a ", "a\u202eb", "\xff", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest := s
		for _, part := range card.Mark(s) {
			if part.Mark == "" {
				if !strings.HasPrefix(rest, part.Text) {
					t.Fatalf("%q: %q is out of place", s, part.Text)
				}
				rest = rest[len(part.Text):]
				continue
			}
			_, n := utf8.DecodeRuneInString(rest)
			rest = rest[n:]
		}
		if rest != "" {
			t.Fatalf("%q: %q is left out", s, rest)
		}
		for _, r := range card.Visible(s) {
			if r == '\u202e' || r == '\u200b' || r == 0 {
				t.Fatalf("%q shows %U", s, r)
			}
		}
	})
}

func TestDelta(t *testing.T) {
	for _, c := range []struct {
		kind           card.FieldType
		from, to, want string
	}{
		{card.Date, `"2026-05-31"`, `"2026-06-02"`, "2 days later"},
		{card.Date, `"2026-06-01"`, `"2026-05-31"`, "1 day earlier"},
		{card.Decimal, `"100"`, `"120"`, "+20 (+20 %)"},
		{card.Decimal, `"0.10"`, `"0.05"`, "−0.05 (−50 %)"},
		{card.Integer, `0`, `3`, "+3"},
		{card.Integer, `3`, `4`, "+1 (+33.3 %)"},
		{card.Text, `"1"`, `"2"`, ""},
	} {
		got := card.Delta(card.Change{Type: c.kind, From: &card.Value{JSON: json.RawMessage(c.from)}, To: &card.Value{JSON: json.RawMessage(c.to)}})
		if got != c.want {
			t.Errorf("%s %s → %s: %q, want %q", c.kind, c.from, c.to, got, c.want)
		}
	}
}
