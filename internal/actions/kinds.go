package actions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Day is a date that an action is given, from the year 1000 to 2999.
type Day struct{ time.Time }

// Decimal is a number that an action is given, kept exactly: at most twelve digits before the point and six
// after it. It comes as a JSON number or as a text, since numbers of records travel as texts.
type Decimal struct{ exact *big.Rat }

// Exact is its value, which the caller leaves as it is.
func (d Decimal) Exact() *big.Rat { return d.exact }

const wholeDigits, decimalDigits = 12, 6

func kindOf(t reflect.Type, tag reflect.StructTag) kind {
	switch {
	case t == reflect.TypeFor[Day]():
		return dayKind{}
	case t == reflect.TypeFor[Decimal]():
		return decimalKind{positive: tag.Get("positive") == "true"}
	case t.Kind() == reflect.String && t.Name() == "string":
		return textKind{max: bound(tag, "max", 200)}
	case t == reflect.TypeFor[int]():
		return wholeKind{min: bound(tag, "min", 0), max: bound(tag, "max", 1_000_000)}
	case t == reflect.TypeFor[bool]():
		return flagKind{}
	case t.Kind() == reflect.Struct:
		return objectKind{shapeOfType(t)}
	}
	return nil
}

func bound(tag reflect.StructTag, name string, missing int) int {
	n, err := strconv.Atoi(tag.Get(name))
	if err != nil {
		return missing
	}
	return n
}

type dayKind struct{}

var day = regexp.MustCompile(`^[12][0-9]{3}-[0-9]{2}-[0-9]{2}$`)

func (dayKind) read(raw json.RawMessage, path string) (any, error) {
	text, ok := jsonText(raw)
	parsed, err := time.Parse(time.DateOnly, text)
	if !ok || err != nil || !day.MatchString(text) {
		return nil, invalid(path, "%q takes a date, e.g. 2026-06-02.", path)
	}
	return Day{parsed}, nil
}

func (dayKind) schema() map[string]any {
	return map[string]any{"type": "string", "format": "date", "pattern": day.String()}
}

func (dayKind) describe(i *Input) { i.Type = "date" }

type textKind struct{ max int }

func (k textKind) read(raw json.RawMessage, path string) (any, error) {
	text, ok := jsonText(raw)
	if n := utf8.RuneCountInString(text); !ok || n < 1 || n > k.max || strings.ContainsRune(text, 0) {
		return nil, invalid(path, "%q takes a text of 1 to %d characters.", path, k.max)
	}
	return text, nil
}

func (k textKind) schema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1, "maxLength": k.max, "pattern": `^[^\x00]*$`}
}

func (k textKind) describe(i *Input) {
	i.Type, i.Limits = "text", fmt.Sprintf("at most %d characters", k.max)
}

type wholeKind struct{ min, max int }

func (k wholeKind) read(raw json.RawMessage, path string) (any, error) {
	n, ok := jsonNumber(raw)
	if !ok || !n.IsInt() || n.Cmp(big.NewRat(int64(k.min), 1)) < 0 || n.Cmp(big.NewRat(int64(k.max), 1)) > 0 {
		return nil, invalid(path, "%q takes a whole number from %d to %d.", path, k.min, k.max)
	}
	return int(n.Num().Int64()), nil
}

func (k wholeKind) schema() map[string]any {
	return map[string]any{"type": "integer", "minimum": k.min, "maximum": k.max}
}

func (k wholeKind) describe(i *Input) {
	i.Type, i.Limits = "whole number", fmt.Sprintf("from %d to %d", k.min, k.max)
}

type flagKind struct{}

func (flagKind) read(raw json.RawMessage, path string) (any, error) {
	switch string(bytes.TrimSpace(raw)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, invalid(path, "%q takes true or false.", path)
}

func (flagKind) schema() map[string]any { return map[string]any{"type": "boolean"} }

func (flagKind) describe(i *Input) { i.Type = "yes or no" }

type objectKind struct{ *shape }

func (k objectKind) read(raw json.RawMessage, path string) (any, error) {
	var inside map[string]json.RawMessage
	if json.Unmarshal(raw, &inside) != nil || inside == nil {
		return nil, invalid(path, "%q takes a JSON object with %s.", path, strings.Join(k.names(), ", "))
	}
	value, err := k.fill(inside, path+".")
	return value.Interface(), err
}

func (k objectKind) describe(i *Input) { i.Type, i.Inputs = "object", k.inputs() }

func jsonText(raw json.RawMessage) (string, bool) {
	var text *string
	if !utf8.Valid(raw) || json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}
