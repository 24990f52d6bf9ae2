package offline

import (
	"encoding/json"
	"slices"
	"strings"
)

// guess is a field that a word of a question may be about, and the value it would then have. Sure: the
// word can mean nothing else in that field.
type guess struct {
	field field
	value json.RawMessage
	sure  bool
}

// mostGuesses is how many fields are looked through for one word.
const mostGuesses = 12

func (t *turn) guesses(n *noun, c condition) ([]guess, error) {
	f, how := n.field(c.field)
	switch {
	case c.label && n.LabelField != "":
		f, _ = n.named(n.LabelField)
		return f.spelled(c.value), nil
	case c.field.empty():
		return t.anywhere(n, c.value), nil
	case how == noMatch || f.Masked:
		return nil, troubleError(capital(plain(n.Plural)) + " have no field " + quote(c.field.bare()) + " that I can look through.")
	}
	value, err := t.value(f, assignment{value: c.value})
	return []guess{{f, value, true}}, err
}

// anywhere looks for the fields a word alone may be about: a yes-or-no field of that name, an enum with
// that value, then any text and any reference.
func (t *turn) anywhere(n *noun, said phrase) []guess {
	var sure, likely, maybe, pointed []guess
	for _, f := range n.fields {
		switch {
		case f.Masked:
		case f.Type == "BOOLEAN" && f.called(said):
			sure = append(sure, guess{f, json.RawMessage("true"), true})
		case f.Type == "ENUM":
			if value, err := f.value(said); err == nil {
				sure = append(sure, guess{f, value, false})
			}
		case f.Type == "TEXT" && f.isState():
			likely = append(likely, f.spelled(said)...)
		case f.Type == "TEXT":
			maybe = append(maybe, f.spelled(said)...)
		case f.Type == "REFERENCE":
			if value, err := t.pointer(f, said); err == nil {
				pointed = append(pointed, guess{f, value, false})
			}
		}
	}
	list := slices.Concat(sure, pointed, likely, maybe)
	return list[:min(len(list), mostGuesses)]
}

func (f field) called(said phrase) bool {
	text := said.normal()
	return len(text) > 0 && slices.ContainsFunc(f.names, func(name []string) bool {
		return slices.Equal(name, text) || slices.Equal(name, append([]string{"is"}, text...))
	})
}

// isState tells whether a text is likely to hold one of a few words.
func (f field) isState() bool {
	name := strings.ToLower(f.Name + " " + f.Label)
	return slices.ContainsFunc(words("status state stage kind type category class group level"), func(w string) bool { return strings.Contains(name, w) })
}

func (f field) spelled(said phrase) []guess {
	var list []guess
	for _, text := range slices.Compact([]string{said.text(), strings.ToLower(said.text())}) {
		if raw, err := json.Marshal(text); err == nil {
			list = append(list, guess{f, raw, false})
		}
	}
	return list
}
