package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
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

// filter finds the records for which all conditions hold. said names the conditions as they were
// understood.
func (t *turn) filter(n *noun, conditions []condition) (result *toolcall.Result, said []string, err error) {
	where := map[string]json.RawMessage{}
	for _, c := range conditions {
		if err := c.plainly(); err != nil {
			return nil, nil, err
		}
		tried, err := t.guesses(n, c)
		if err != nil {
			return nil, nil, err
		}
		found, taken, err := t.narrow(n, where, tried, c)
		if err != nil {
			return nil, nil, err
		}
		result, said = found, append(said, taken.said(c))
	}
	if result == nil {
		result, err = t.list(n, where)
	}
	return result, said, err
}

func (g guess) said(c condition) string {
	if g.field.Type == "REFERENCE" {
		return g.field.name() + " " + quote(c.value.text())
	}
	return g.field.name() + " " + show(g.value)
}

func (t *turn) list(n *noun, where map[string]json.RawMessage) (*toolcall.Result, error) {
	input := map[string]any{"first": pageSize}
	if len(where) > 0 {
		input["where"] = where
	}
	result, err := t.use(n, "list", input)
	if err == nil && !result.OK {
		err = troubleError(result.Message)
	}
	return result, err
}

// narrow takes the first guess that finds something.
func (t *turn) narrow(n *noun, where map[string]json.RawMessage, tried []guess, c condition) (*toolcall.Result, guess, error) {
	var names []string
	for _, g := range tried {
		before, had := where[g.field.Name]
		where[g.field.Name] = g.value
		result, err := t.list(n, where)
		if err != nil || len(result.Rows) > 0 || g.sure {
			return result, g, err
		}
		delete(where, g.field.Name)
		if had {
			where[g.field.Name] = before
		}
		if !slices.Contains(names, g.field.name()) {
			names = append(names, g.field.name())
		}
	}
	if len(names) == 0 {
		return nil, guess{}, troubleError("I do not know what " + quote(c.value.text()) + " is of " + plain(n.Plural) + ". Say the field too, as in: with <field> " + c.value.text() + ".")
	}
	return nil, guess{}, troubleError("I found no " + plain(n.Plural) + " where " + enumerate(names, "or") + " is " + quote(c.value.text()) + ".")
}

// comparing are words of questions that tools cannot answer: they compare for equality alone.
var comparing = words("not over under above below more less greater fewer before after since until between than at > < >= <= != without except like containing starting")

func (c condition) plainly() error {
	if c.not || !c.value.quoted() && c.value.len() > 1 && slices.Contains(comparing, c.value.word(0)) {
		return troubleError("I can only look for equal values, not for " + quote(c.said()) + ".")
	}
	return nil
}

func (c condition) said() string {
	text := strings.TrimSpace(c.field.text() + " " + c.value.text())
	if c.not {
		return "not " + text
	}
	return text
}

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
