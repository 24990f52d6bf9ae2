package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	integer = regexp.MustCompile(`^[+-]?\d{1,40}$`)
	decimal = regexp.MustCompile(`^[+-]?\d{1,40}(\.\d{1,40})?$`)
	uuid    = regexp.MustCompile(`^(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`)
	moment  = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?) ?(Z|[+-]\d{2}:\d{2})?)?$`)
	null    = json.RawMessage("null")
	truths  = map[string]bool{"true": true, "yes": true, "on": true, "false": false, "no": false, "off": false}
)

// isNumber tells whether a word is a number, as in "#31".
func isNumber(word string) bool { return integer.MatchString(strings.TrimPrefix(word, "#")) }

// value reads what a field is to become. A field that may hold nothing takes "nothing", "null" and
// "empty" as no value; in quotes they are words.
func (f field) value(said phrase) (json.RawMessage, error) {
	text := said.text()
	if f.Nullable && !said.quoted() && slices.Contains(words("nothing null empty blank"), strings.ToLower(text)) {
		return null, nil
	}
	switch f.Type {
	case "INTEGER":
		return f.number(text, integer, "a whole number")
	case "DECIMAL":
		return f.number(text, decimal, "a number, with a point before its decimals and no other separators")
	case "BOOLEAN":
		return f.boolean(text)
	case "DATE":
		return f.date(text)
	case "TIMESTAMP":
		return f.timestamp(text)
	case "UUID":
		return f.matching(strings.ToLower(text), uuid, "a UUID")
	case "ENUM":
		return f.choice(text)
	case "JSON":
		return f.json(text)
	}
	return f.words(said)
}

func (f field) refused(text, want string) error {
	return troubleError(f.name() + " needs " + want + ", and " + quote(text) + " is none.")
}

func (f field) name() string {
	if f.Label != "" {
		return f.Label
	}
	return f.Name
}

// number takes digits as they are. A small whole number is a JSON number; what a float could not hold
// is text, so that no digit is lost.
func (f field) number(text string, shape *regexp.Regexp, want string) (json.RawMessage, error) {
	if i := slices.Index(numerals, strings.ToLower(text)); i >= 0 {
		text = strconv.Itoa(i)
	}
	if !shape.MatchString(text) {
		return nil, f.refused(text, want)
	}
	if small, err := strconv.ParseInt(text, 10, 32); err == nil && f.Type == "INTEGER" {
		return json.Marshal(small)
	}
	return json.Marshal(strings.TrimPrefix(text, "+"))
}

func (f field) boolean(text string) (json.RawMessage, error) {
	truth, ok := truths[strings.ToLower(text)]
	if !ok {
		return nil, f.refused(text, "yes or no")
	}
	return json.Marshal(truth)
}

func (f field) date(text string) (json.RawMessage, error) {
	day, err := parseDate(text)
	if err != nil {
		return nil, troubleError(f.name() + " needs a date: " + err.Error())
	}
	return json.Marshal(day)
}

// timestamp takes a time with its zone; one without is in UTC, and the card says which moment it is.
func (f field) timestamp(text string) (json.RawMessage, error) {
	m := moment.FindStringSubmatch(text)
	if m == nil {
		return nil, f.refused(text, "a time like 2026-06-02 14:30")
	}
	clock, zone := m[2], m[3]
	switch len(clock) {
	case 0:
		clock = "00:00:00"
	case len("14:30"):
		clock += ":00"
	}
	if zone == "" {
		zone = "Z"
	}
	return json.Marshal(m[1] + "T" + clock + zone)
}

func (f field) matching(text string, shape *regexp.Regexp, want string) (json.RawMessage, error) {
	if !shape.MatchString(text) {
		return nil, f.refused(text, want)
	}
	return json.Marshal(text)
}

func (f field) choice(text string) (json.RawMessage, error) {
	for _, value := range f.Values {
		if value == text || sameWords(value, text) {
			return json.Marshal(value)
		}
	}
	return nil, troubleError(f.name() + " is one of " + strings.Join(f.Values, ", ") + "; " + quote(text) + " is none of them.")
}

func sameWords(a, b string) bool {
	clean := func(s string) string { return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(s)) }
	return clean(a) == clean(b)
}

func (f field) json(text string) (json.RawMessage, error) {
	if !json.Valid([]byte(text)) {
		return nil, f.refused(text, "JSON")
	}
	return json.RawMessage(text), nil
}

// words takes a text as it stands. Where it may be more than the value, it asks for quotes rather than
// guess.
func (f field) words(said phrase) (json.RawMessage, error) {
	if !said.quoted() && said.unsure() {
		return nil, troubleError("I am not sure where the " + f.name() + " ends. Put it in quotes, and give every other request a line of its own.")
	}
	return json.Marshal(said.text())
}

// unsure tells whether an unquoted text may go on with something else: a quotation mark in it, the end
// of a sentence, or a further request.
func (p phrase) unsure() bool {
	for i, t := range p.tokens {
		if t.quoted || strings.ContainsAny(t.text, `"“”„«»`) {
			return true
		}
		if i == 0 || i == p.len()-1 {
			continue
		}
		if t.stop() || (t.word == "and" || t.word == "then") && slices.Contains(orders, p.word(i+1)) {
			return true
		}
	}
	return false
}

// orders are the words that ask for something to be done.
var orders = words("rename call set change make update edit clear empty push move postpone delay shift bring pull advance reschedule create add delete remove drop list show then also confirm apply")
