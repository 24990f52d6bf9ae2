package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

const order = `SELECT id FROM mrp.production_orders WHERE site = 'harbor-mill' AND order_number = 'PO-1042'`

// applies proposes one value for a field of PO-1042 and confirms it; it gives the value as it was shown, as
// the database printed it once applied, and what the card printed.
func (c *client) applies(t *testing.T, field string, value any) (shown, applied string, printed map[string]any) {
	t.Helper()
	key := c.w.sql(order)
	a := c.gql(`mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { ... on Proposal { id fingerprint summary { changes { field to { json text truncated } } } } ... on ProposalRefused { code message } } } }`,
		vars{"in": vars{"entity": "mrp.production_order", "operation": "UPDATE", "recordId": key, "changes": vars{field: value}}})
	a.want(vars{"proposeChange.result.summary.changes.0.field": field})
	printed, _ = a.at("proposeChange.result.summary.changes.0.to").(map[string]any)
	shown = plain(t, printed["json"])
	if stored := c.w.sql(`SELECT CASE jsonb_typeof(v) WHEN 'string' THEN v #>> '{}' ELSE v::text END FROM (SELECT changes #> '{0,to,json}' AS v FROM countersign.proposal_records ORDER BY proposal_id DESC LIMIT 1) s`); stored != shown {
		t.Errorf("%s: shown %.80q, stored %.80q", field, shown, stored)
	}
	done := c.confirm(a.text("proposeChange.result.id"), a.text("proposeChange.result.fingerprint"))
	done.want(vars{"confirmProposal.result.status": "APPLIED"})
	if outcome := plain(t, done.at("confirmProposal.result.outcome.record."+field)); outcome != shown {
		t.Errorf("%s: shown %.80q, outcome %.80q", field, shown, outcome)
	}
	return shown, c.w.sql(`SELECT ` + field + ` FROM mrp.production_orders WHERE id = ` + key), printed
}

// plain is a JSON text's content, or another value as it is written.
func plain(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	t.Fatalf("neither text nor number: %v", v)
	return ""
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	for _, c := range []struct {
		field string
		value any
		want  string
	}{
		{"quantity", json.Number("2147483648"), "2147483648"}, {"quantity", json.Number("9007199254740993"), "9007199254740993"}, {"quantity", "9007199254740995", "9007199254740995"},
		{"quantity", json.Number("0.1"), "0.1"}, {"quantity", json.Number("0.30000000000000004"), "0.30000000000000004"}, {"quantity", "0.3", "0.3"},
		{"quantity", "12345678901234567890.12", "12345678901234567890.12"}, {"quantity", json.Number("12345678901234567890.13"), "12345678901234567890.13"}, {"quantity", "100.10", "100.10"},
		{"quantity", "0.000000000000000000000000000001", "0.000000000000000000000000000001"}, {"quantity", json.Number("1e3"), "1000"}, {"priority", json.Number("9"), "9"},
	} {
		if shown, applied, printed := maria.applies(t, c.field, c.value); shown != c.want || applied != c.want || printed["text"] != c.want {
			t.Errorf("%v: shown %s, printed %v, applied %s, want %s", c.value, shown, printed["text"], applied, c.want)
		}
	}
	w.invariants()
}

func TestTextsKeepEveryCharacter(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	for name, text := range map[string]string{
		"accents": "é is not é", "emoji": "👩‍👩‍👧‍👦 🇮🇹", "right to left": "\u202eסדר\u202c של", "invisible": "a\u200bb\u00adc\ufeff", "lines": "one\r\ntwo\n\n\tthree\v", "spaces": "  both ends  ",
		"markup": `<script>alert("x")</script> & 'y' \ \\ \u0041 ${z} {{w}}`, "separators": "a\u2028b\u2029c", "control": "\x01\x1b[31m\x7f", "replacement": "\ufffd", "blank": " \t ", "beyond": "𝒳𓀀\U0010ffff",
		"10 kB": strings.Repeat("äöü ß漢字 ", 900), "200": strings.Repeat("x", 200), "201": strings.Repeat("y", 201), "null in words": "null", "JSON": `{"a": [1, "b"]}`,
	} {
		shown, applied, printed := maria.applies(t, "notes", text)
		if shown != text || applied != text {
			t.Errorf("%s: shown %.100q, applied %.100q, want %.100q", name, shown, applied, text)
		}
		excerpt, _ := printed["text"].(string)
		if long := utf8.RuneCountInString(text) > 200; utf8.RuneCountInString(excerpt) > 200 || long != (printed["truncated"] == true) {
			t.Errorf("%s: %d characters printed, truncated %v", name, utf8.RuneCountInString(excerpt), printed["truncated"])
		}
		if strings.ContainsAny(excerpt, "\u202e\u202c\u200b\ufeff\x1b\u2028") {
			t.Errorf("%s: hidden characters are printed: %q", name, excerpt)
		}
	}
	w.invariants()
}

// A number that stands in the query itself is refused where it would lose digits.
func TestANumberInTheQueryArrivesAsWritten(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	inline := func(number string) *answer {
		return maria.gql(`mutation { proposeChange(input: {entity: "mrp.production_order", operation: UPDATE, recordId: "`+w.sql(order)+`", changes: {quantity: `+number+`}}) { result { ... on Proposal { summary { changes { to { text } } } } } } }`, nil)
	}
	for written, want := range map[string]string{"0.1": "0.1", "12.50": "12.5", "123456789012.125": "123456789012.125", "9007199254740993": "9007199254740993", "1e3": "1000"} {
		inline(written).want(vars{"proposeChange.result.summary.changes.0.to.text": want})
	}
	for _, written := range []string{"12345678901234567890.12", "0.30000000000000004", "1.0000000000000000001", "12345678901234567890", "1e400"} {
		if a := inline(written); len(a.Errors) == 0 || a.Errors[0].Extensions["code"] != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s: %s", written, a.raw)
		}
	}
}

func TestAPageIsFromOneToAHundred(t *testing.T) {
	t.Parallel()
	w := start(t)
	maria := w.signIn("maria@harbor.example")
	maria.say("Rename role 4 to reviewer").want(nil)
	for _, list := range []string{
		`query($n: Int) { proposals(first: $n) { edges { cursor } } }`, `query($n: Int) { conversations(first: $n) { edges { cursor } } }`,
		`query($n: Int) { conversations { edges { node { messages(first: $n) { edges { cursor } } } } } }`, `query($n: Int) { conversations { edges { node { proposals(first: $n) { edges { cursor } } } } } }`,
		`query($n: Int) { proposals { edges { node { summary { records(first: $n) { edges { cursor } } } } } } }`, `query($n: Int) { proposals(last: $n) { edges { cursor } } }`,
	} {
		for _, n := range []int{0, -1, -2147483648, 101, 2147483647, 2147483648, -9007199254740993} {
			a := maria.gql(list, vars{"n": n})
			a.refused("INVALID_INPUT")
			if field, named := a.Errors[0].Extensions["field"], map[bool]string{true: "last", false: "first"}[strings.Contains(list, "last")]; field != named {
				t.Errorf("%d of %s: the error names %v", n, list, field)
			}
		}
		maria.gql(list, vars{"n": 100}).want(nil)
	}
}
