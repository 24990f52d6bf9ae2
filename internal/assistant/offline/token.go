package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a quoted text or a punctuation mark of a message. word is what the grammar compares:
// lower case, and empty for a quoted text, which is never a keyword. text is as written, its quotes off.
type token struct {
	text       string
	word       string
	quoted     bool
	newLine    bool
	start, end int
}

const marks = ".,;:!?"

var possessives = []string{"'s", "’s"}

// closing says which marks end a text that begins with the given one.
var closing = map[rune]string{'"': `"`, '“': `”"`, '„': `“”"`, '«': `»`, '\'': `'’`, '‘': `’'`}

// tokenize splits a message. A quote that is not closed on its line is a letter like any other.
func tokenize(source string) []token {
	var tokens []token
	newLine := true
	for at := 0; at < len(source); {
		r, size := utf8.DecodeRuneInString(source[at:])
		if unicode.IsSpace(r) {
			newLine = newLine || r == '\n'
			at += size
			continue
		}
		next := tokenAt(source, at)
		next.newLine, newLine = newLine, false
		tokens = append(tokens, next)
		at = next.end
	}
	return tokens
}

func tokenAt(source string, at int) token {
	if quoted, ok := quotedAt(source, at); ok && !possessiveAt(source, at) {
		return quoted
	}
	end := wordEnd(source, at)
	text := source[at:end]
	return token{text: text, word: strings.ToLower(strings.ReplaceAll(text, "’", "'")), start: at, end: end}
}

func quotedAt(source string, at int) (token, bool) {
	open, size := utf8.DecodeRuneInString(source[at:])
	ends, ok := closing[open]
	if !ok {
		return token{}, false
	}
	for i := at + size; i < len(source) && source[i] != '\n'; {
		r, width := utf8.DecodeRuneInString(source[i:])
		if strings.ContainsRune(ends, r) && (!strings.Contains(ends, "'") || boundary(source[i+width:])) {
			return token{text: source[at+size : i], quoted: true, start: at, end: i + width}, true
		}
		i += width
	}
	return token{}, false
}

// boundary tells whether a word could end here, so that the apostrophe of "planner's" does not end a
// quotation.
func boundary(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(r) || strings.ContainsRune(marks+")", r) || strings.HasPrefix(rest, "'s") || strings.HasPrefix(rest, "’s")
}

// possessiveAt tells whether an "'s" follows a word directly.
func possessiveAt(source string, at int) bool {
	return at > 0 && !unicode.IsSpace(rune(source[at-1])) && slices.ContainsFunc(possessives, func(p string) bool {
		return strings.HasPrefix(source[at:], p) && boundary(source[at+len(p):])
	})
}

// wordEnd finds where the word that begins at a place ends. Marks at its end, "=" and a possessive "'s"
// are words of their own.
func wordEnd(source string, at int) int {
	if possessiveAt(source, at) {
		return at + strings.IndexByte(source[at:], 's') + 1
	}
	if strings.IndexByte(marks+"=", source[at]) >= 0 {
		return at + 1
	}
	end := at + strings.IndexFunc(source[at:]+" ", func(r rune) bool { return unicode.IsSpace(r) || r == '=' })
	word := strings.TrimRight(source[at:end], marks)
	for _, possessive := range possessives {
		if owner := strings.TrimSuffix(word, possessive); owner != "" {
			word = owner
		}
	}
	return at + len(word)
}

// stop tells whether a token ends a sentence.
func (t token) stop() bool { return t.mark() && slices.Contains(words(". ; ! ?"), t.word) }

func (t token) mark() bool { return !t.quoted && len(t.word) == 1 && strings.Contains(marks, t.word) }
