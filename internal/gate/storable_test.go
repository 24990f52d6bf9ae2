package gate

import (
	"encoding/json"
	"testing"
)

func TestStorable(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:          `{"a":1}`,
		`"é"`:              `"é"`,
		`"\u00e9"`:         `"\u00e9"`,
		`"\ud83d\ude00"`:   `"\ud83d\ude00"`,
		`{"a":"\u0000"}`:   `"{\"a\":\"\\u0000\"}"`,
		`"\ud83d"`:         `"\"\\ud83d\""`,
		`["\ude00\ud83d"]`: `"[\"\\ude00\\ud83d\"]"`,
	} {
		if got := string(storable(json.RawMessage(in))); got != want {
			t.Errorf("%s is stored as %s, want %s", in, got, want)
		}
	}
}
