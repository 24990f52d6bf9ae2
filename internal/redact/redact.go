// Package redact takes secrets out of text: it is the only way into logs, rows of tool calls, errors, traces
// and what a model reads back. What it gives is a copy to look at, never a value to act on: no identity,
// fingerprint or write is made of it.
package redact

import (
	"strings"
	"unicode/utf8"
)

// Text is a text without what the built-in patterns find.
func Text(s string) string { return (*Patterns)(nil).Text(s) }

// limit is how many bytes of a text are kept at most; overlap is how much further a secret is looked for that
// begins before it.
const (
	limit   = 256 << 10
	overlap = 4 << 10
)

// Text is a text without what the built-in patterns and these find: each is replaced by a marker that says
// its kind, e.g. (redacted: card number). It is valid UTF-8, and redacting it again changes nothing. What is
// longer than 256 kB is cut.
func (p *Patterns) Text(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for range 8 { // what is left beside a marker may be one more
		next := p.pass(s)
		if next == s {
			return s
		}
		s = next
	}
	return marker(unsettled)
}

// pass replaces what is found between the markers that are there already, and cuts what is too long.
func (p *Patterns) pass(s string) string {
	s = clip(s, limit+overlap)
	low := strings.ToLower(s)
	for _, r := range builtIn {
		if r.mayBeIn(low) {
			s = p.between(s, r)
		}
	}
	if p != nil {
		for _, r := range p.rules {
			s = p.between(s, r)
		}
	}
	if len(s) <= limit {
		return s
	}
	return clip(s, limit-len(marker(tooLong))) + marker(tooLong)
}

// between applies a rule to what is no marker.
func (p *Patterns) between(s string, r rule) string {
	if !strings.Contains(s, opening) {
		return r.replace(s)
	}
	var out strings.Builder
	for s != "" {
		start, end := p.nextMarker(s)
		out.WriteString(r.replace(s[:start]))
		out.WriteString(s[start:end])
		s = s[end:]
	}
	return out.String()
}

// nextMarker finds the first marker of a kind that is known; the end of the text where there is none. Text
// that only looks like a marker hides nothing.
func (p *Patterns) nextMarker(s string) (start, end int) {
	for from := 0; ; {
		at := strings.Index(s[from:], opening)
		if at < 0 {
			return len(s), len(s)
		}
		start = from + at
		from = start + len(opening)
		window := s[from:min(len(s), from+maxName+1)]
		if length := strings.IndexByte(window, ')'); length > 0 && p.knows(window[:length]) {
			return start, from + length + 1
		}
	}
}

const (
	opening   = "(redacted: "
	tooLong   = "the rest"
	unsettled = "text"
)

func marker(kind string) string { return opening + kind + ")" }

// Marked tells whether a text holds a marker, and so is not what it stands for. A model that read it must not
// have it written.
func (p *Patterns) Marked(s string) bool {
	start, _ := p.nextMarker(s)
	return start < len(s)
}

// clip cuts a text to so many bytes at most, between two characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
