package redact_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/internal/redact"
)

func TestAKeyThatIsANumberStays(t *testing.T) {
	p := compiled(t, redact.Named{Name: "orders", Expression: `PO-[0-9]+`})
	for key, want := range map[string]string{
		"4111111111111111": "4111111111111111", `["4111111111111111", "PO-1"]`: `["4111111111111111","(redacted: orders)"]`, `["4111111111111111", "x"]`: `["4111111111111111", "x"]`,
		"PO-1": "(redacted: orders)", "[PO-1": "[(redacted: orders)", "x 4111111111111111": "x (redacted: card number)", "": "",
	} {
		if got := p.Key(key); got != want {
			t.Errorf("%s is %s, not %s", key, got, want)
		}
	}
	for _, key := range []string{"again-1", "cst_0123456789", "cst_0123456780"} {
		if got := redact.Key(key); (got == key) != (key == "again-1") || got == redact.Key(key+"1") {
			t.Errorf("%s is %s", key, got)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"password": {"a": [1]}}`, `{"a": "4111111111111111", "4111111111111111": 2, "4111111111111112": 3}`, `[1e400, "\u0000", null]`, `nope`, `{"(redacted: IBAN)": 1, "DE89370400440532013000": 2, "(redacted: IBAN) 2": 3}`} {
		f.Add([]byte(seed))
	}
	p := compiled(f, redact.Named{Name: "orders", Expression: `PO-[0-9]+`})
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := p.JSON(raw).String()
		if !json.Valid([]byte(once)) {
			t.Errorf("%q is no JSON: %q", raw, once)
		}
		if twice := p.JSON([]byte(once)).String(); twice != once {
			t.Errorf("%q: once %s, twice %s", raw, once, twice)
		}
	})
}
