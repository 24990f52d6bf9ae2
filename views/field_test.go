package views_test

import (
	"testing"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/views"
)

// A moment that goes with its record is printed to the second; one that becomes another, as it is.
func TestTheFractionOfASecond(t *testing.T) {
	const exact, short = "Fri 2026-05-29 13:06:51.74978 UTC", "Fri 2026-05-29 13:06:51 UTC"
	at := text("2026-05-29T15:06:51.74978+02:00")
	for name, one := range map[string]struct {
		from, to      *card.Value
		prints, names string
	}{
		"deleted":  {at, nil, short, exact},
		"changed":  {at, null(), exact, ""},
		"infinite": {text("infinity"), nil, "infinity", ""},
		"even":     {text("2026-05-29T13:06:51Z"), nil, short, ""},
		"none":     {null(), nil, "(null)", ""},
	} {
		side := views.FieldOf(card.Change{Field: "made_at", Label: "Made", Type: card.Timestamp, From: one.from, To: one.to}).Before
		if got := side.Runs[0].Segments[0].Text; got != one.prints || side.Exact != one.names {
			t.Errorf("%s: it prints %q of %q", name, got, side.Exact)
		}
	}
}
