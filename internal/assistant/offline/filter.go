package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

// filter finds the records for which all conditions hold. said names the conditions as they were
// understood.
func (t *turn) filter(n *noun, conditions []condition) (result *toolcall.Result, said []string, err error) {
	return t.narrowed(n, conditions, map[string]json.RawMessage{})
}

// narrowed is filter that gives the fields and values it found, in where.
func (t *turn) narrowed(n *noun, conditions []condition, where map[string]json.RawMessage) (result *toolcall.Result, said []string, err error) {
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
