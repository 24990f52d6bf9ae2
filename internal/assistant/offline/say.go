package offline

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// clip shortens a text to a number of characters, on one line.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// quote sets apart what a person or a record says from what the assistant says.
func quote(text string) string { return `"` + clip(text, 80) + `"` }

// full ends a text as a sentence.
func full(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// plain writes a title as a word of a sentence: "Production order" becomes "production order", "PLC" stays.
func plain(title string) string {
	first, size := utf8.DecodeRuneInString(title)
	next, _ := utf8.DecodeRuneInString(title[size:])
	if unicode.IsUpper(next) {
		return title
	}
	return string(unicode.ToLower(first)) + title[size:]
}

// capital begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// enumerate joins words as a sentence does: a, b and c.
func enumerate(items []string, last string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " " + last + " " + items[len(items)-1]
}

// show prints a stored value.
func show(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return clip(text, 60)
	}
	switch string(raw) {
	case "null", "":
		return "nothing"
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return clip(string(raw), 60)
}
