package actions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

type decimalKind struct{ positive bool }

var (
	anyDecimal      = regexp.MustCompile(fmt.Sprintf(`^-?(0|[1-9][0-9]{0,%d})(\.[0-9]{1,%d})?$`, wholeDigits-1, decimalDigits))
	positiveDecimal = regexp.MustCompile(fmt.Sprintf(`^([1-9][0-9]{0,%d}(\.[0-9]{1,%d})?|0\.(%s))$`, wholeDigits-1, decimalDigits, notAllZero(decimalDigits)))

	tooLarge = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(wholeDigits), nil))
	finest   = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalDigits), nil))
)

// notAllZero matches up to so many digits of which one is not 0.
func notAllZero(most int) string {
	var forms []string
	for zeros := range most {
		forms = append(forms, fmt.Sprintf("0{%d}[1-9][0-9]{0,%d}", zeros, most-zeros-1))
	}
	return strings.Join(forms, "|")
}

func (k decimalKind) pattern() *regexp.Regexp {
	if k.positive {
		return positiveDecimal
	}
	return anyDecimal
}

func (k decimalKind) read(raw json.RawMessage, path string) (any, error) {
	n, ok := jsonNumber(raw)
	if text, isText := jsonText(raw); isText && k.pattern().MatchString(text) {
		n, ok = new(big.Rat).SetString(text)
	}
	if !ok || !k.takes(n) {
		what := "a number"
		if k.positive {
			what = "a number above 0"
		}
		return nil, invalid(path, "%q takes %s, with at most %d digits before the point and %d after it.", path, what, wholeDigits, decimalDigits)
	}
	return Decimal{n}, nil
}

func (k decimalKind) takes(n *big.Rat) bool {
	if k.positive && n.Sign() <= 0 {
		return false
	}
	return new(big.Rat).Abs(n).Cmp(tooLarge) < 0 && new(big.Rat).Quo(n, finest).IsInt()
}

func (k decimalKind) schema() map[string]any {
	s := map[string]any{"type": []string{"number", "string"}, "exclusiveMaximum": json.Number(tooLarge.RatString()), "multipleOf": json.Number(finest.FloatString(decimalDigits)),
		"exclusiveMinimum": json.Number("-" + tooLarge.RatString()), "pattern": k.pattern().String()}
	if k.positive {
		s["exclusiveMinimum"] = 0
	}
	return s
}

func (k decimalKind) describe(i *Input) {
	i.Type = "number"
	if k.positive {
		i.Limits = "above 0"
	}
}

// jsonNumber reads a JSON number exactly. One whose exponent is out of all proportion is none.
func jsonNumber(raw json.RawMessage) (*big.Rat, bool) {
	text := string(bytes.TrimSpace(raw))
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') || len(text) > 64 {
		return nil, false
	}
	if _, exponent, has := strings.Cut(strings.ToLower(text), "e"); has {
		if e, err := strconv.Atoi(exponent); err != nil || e < -40 || e > 40 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}
