package card

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Warning says that a text holds characters that could make it read as something it is not.
type Warning string

// The warnings of the contract.
const (
	BidiControl      Warning = "BIDI_CONTROL"
	Invisible        Warning = "INVISIBLE"
	ControlCharacter Warning = "CONTROL_CHARACTER"
	MixedScript      Warning = "MIXED_SCRIPT"
	Confusable       Warning = "CONFUSABLE"
	UnusualSpace     Warning = "UNUSUAL_SPACE"
)

// Segment is a piece of a text: either Text as it is, or a Mark that stands for a character one would
// not see, with a Title that names it.
type Segment struct {
	Text  string
	Mark  string
	Title string
}

var named = map[rune]string{
	'\u0000': "NUL", '\u00a0': "NBSP", '\u00ad': "SHY", '\u061c': "ALM", '\u200b': "ZWSP", '\u200c': "ZWNJ", '\u200d': "ZWJ",
	'\u200e': "LRM", '\u200f': "RLM", '\u2028': "LSEP", '\u2029': "PSEP", '\u202a': "LRE", '\u202b': "RLE", '\u202c': "PDF",
	'\u202d': "LRO", '\u202e': "RLO", '\u2060': "WJ", '\u2066': "LRI", '\u2067': "RLI", '\u2068': "FSI", '\u2069': "PDI",
	'\u202f': "NNBSP", '\u3000': "IDSP", '\ufeff': "BOM", '\r': "CR",
}

// hazard tells what is wrong with a character; "" for one that shows as what it is. A line break and a
// tab are what they look like.
func hazard(r rune) Warning {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return ""
	case unicode.Is(unicode.Bidi_Control, r):
		return BidiControl
	case unicode.IsControl(r) || r == unicode.ReplacementChar:
		return ControlCharacter
	case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r):
		return Invisible
	case unicode.Is(unicode.Z, r):
		return UnusualSpace
	case !unicode.IsPrint(r):
		return Invisible
	}
	return ""
}

func markOf(r rune) Segment {
	code := fmt.Sprintf("U+%04X", r)
	if name, ok := named[r]; ok {
		return Segment{Mark: name, Title: name + " " + code}
	}
	return Segment{Mark: code, Title: code}
}

// Mark splits a text so that every hidden, bidirectional or control character, every unusual space, and
// every space at either end is a mark of its own. Nothing is left out: the texts and marks in order are
// the whole text.
func Mark(s string) []Segment {
	var list []Segment
	plain := 0
	body := strings.TrimLeft(s, " ")
	start := len(s) - len(body)
	end := start + len(strings.TrimRight(body, " "))
	for i, r := range s {
		edge := r == ' ' && (i < start || i >= end)
		if hazard(r) == "" && !edge {
			continue
		}
		list = appendText(list, s[plain:i])
		if edge {
			list = append(list, Segment{Mark: "␠", Title: "space"})
		} else {
			list = append(list, markOf(r))
		}
		plain = i + runeLength(s[i:], r)
	}
	return appendText(list, s[plain:])
}

func runeLength(s string, r rune) int {
	if r == unicode.ReplacementChar && !strings.HasPrefix(s, string(r)) {
		return 1 // a byte that is no UTF-8
	}
	return len(string(r))
}

func appendText(list []Segment, text string) []Segment {
	if text == "" {
		return list
	}
	return append(list, Segment{Text: text})
}

// Visible is the text on one piece of paper: marks in brackets.
func Visible(s string) string {
	var b strings.Builder
	for _, part := range Mark(s) {
		switch {
		case part.Mark == "␠":
			b.WriteString(part.Mark)
		case part.Mark != "":
			b.WriteString("[" + part.Mark + "]")
		default:
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// Warnings lists what a text holds that could mislead, each once, in the contract's order.
func Warnings(s string) []Warning {
	found := map[Warning]bool{}
	for _, r := range s {
		if w := hazard(r); w != "" {
			found[w] = true
		}
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		found[MixedScript] = found[MixedScript] || mixesScripts(word)
		found[Confusable] = found[Confusable] || looksLatin(word)
	}
	order := []Warning{BidiControl, Invisible, ControlCharacter, MixedScript, Confusable, UnusualSpace}
	return slices.DeleteFunc(order, func(w Warning) bool { return !found[w] })
}

// mixesScripts: letters of Latin, Greek and Cyrillic in one word, which no language does.
func mixesScripts(word string) bool {
	seen := map[*unicode.RangeTable]bool{}
	for _, r := range word {
		for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee} {
			if unicode.Is(script, r) {
				seen[script] = true
			}
		}
	}
	return len(seen) > 1
}

// Letters that print like a Latin one, from Unicode's confusables (UTS #39).
const latinLookalikes = "АВЕЅІЈКМНОРСТХҮԌԚԜаеорсухѕіјһԁԛԝӏҽѵΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲϳνՕօսոհᎪᎳᏟ"

// looksLatin: a word made of lookalikes alone, one that holds one beside Latin letters, or one with
// letters that are styled forms of others (fullwidth, mathematical).
func looksLatin(word string) bool {
	alike, latin, letters := 0, 0, 0
	for _, r := range word {
		if unicode.IsMark(r) {
			continue
		}
		letters++
		switch {
		case strings.ContainsRune(latinLookalikes, r):
			alike++
		case unicode.Is(unicode.Latin, r) || r < 0x80:
			latin++
		}
		if plain := norm.NFKC.String(string(r)); plain != norm.NFC.String(string(r)) && isASCIILetters(plain) {
			return true
		}
	}
	return alike > 0 && (alike == letters && letters > 1 || latin > 0)
}

func isASCIILetters(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
