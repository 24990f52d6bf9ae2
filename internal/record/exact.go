package record

import (
	"encoding/json"
	"math/big"
	"time"
)

// Text is the value of a field as text, without JSON's quotes; empty where there is none.
func (r *Record) Text(field string) string {
	v := r.Values[field]
	var text string
	if v.Null || json.Unmarshal(v.JSON, &text) != nil {
		return string(v.JSON)
	}
	return text
}

// Number is the value of a numeric field, exactly; false where there is none.
func (r *Record) Number(field string) (*big.Rat, bool) {
	text := r.Text(field)
	if text == "" || r.Values[field].Null {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// Day is the value of a date; false where there is none, or one beyond the calendar, such as infinity.
func (r *Record) Day(field string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, r.Text(field))
	return day, err == nil
}

// TextValue writes a text as values of records are written.
func TextValue(text string) json.RawMessage { return jsonString(text) }

// DayValue writes a date.
func DayValue(day time.Time) json.RawMessage { return jsonString(day.Format(time.DateOnly)) }

// NumberValue writes a number with all its decimals; one that has no end has forty.
func NumberValue(n *big.Rat) json.RawMessage { return jsonString(Decimals(n)) }

// Decimals spells a number with all its decimals; one that has no end has forty.
func Decimals(n *big.Rat) string {
	digits, ends := n.FloatPrec()
	if !ends {
		digits = 40
	}
	return n.FloatString(digits)
}
