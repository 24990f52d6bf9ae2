package offline

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

// act is a custom action as the grammar uses it: what names its record, and the input that is said.
type act struct {
	tool  string
	names string
	input toolcall.InputInfo
	of    field // what the input becomes
	other *toolcall.InputInfo
}

// actWith finds an action that names its record and has an input that fits.
func (n *noun) actWith(fits func(toolcall.InputInfo) bool) *act {
	for _, tool := range n.actions {
		names := slices.IndexFunc(tool.Inputs, func(i toolcall.InputInfo) bool { return i.Names })
		at := slices.IndexFunc(tool.Inputs, fits)
		if names < 0 || at < 0 {
			continue
		}
		a := &act{tool: tool.Name, names: tool.Inputs[names].Name, input: tool.Inputs[at]}
		a.of, _ = n.named(a.input.Of)
		if other := slices.IndexFunc(tool.Inputs, n.pointing); other >= 0 {
			a.other = &tool.Inputs[other]
		}
		return a
	}
	return nil
}

// pointing tells whether an input says which other record this one is to point at.
func (n *noun) pointing(i toolcall.InputInfo) bool {
	f, ok := n.named(i.Of)
	return ok && f.Type == "REFERENCE" && i.Type == "text"
}

// mover is an action that moves a record to another day: the one its start says, before any other.
func (n *noun) mover() *act {
	if starts := n.actWith(func(i toolcall.InputInfo) bool { return n.isDay(i) && strings.Contains(i.Of+i.Name, "start") }); starts != nil {
		return starts
	}
	return n.actWith(n.isDay)
}

func (n *noun) isDay(i toolcall.InputInfo) bool {
	f, ok := n.named(i.Of)
	return ok && i.Type == "date" && f.Type == "DATE"
}

// moverOf is the action to move a record by, where the sentence leaves the field open, or says one that only
// an action changes; nil where an update does.
func (n *noun) moverOf(w way) *act {
	if len(w.set) == 0 {
		return n.mover()
	}
	f, how := n.field(w.set[0].field)
	if how == noMatch || f.Writable && n.offers("update") {
		return nil
	}
	return n.actWith(func(i toolcall.InputInfo) bool { return n.isDay(i) && i.Of == f.Name })
}

// by moves the record with an action: to a day, or where the action takes one, to another record.
func (s shift) by(t *turn, a act, found record) (string, error) {
	input := map[string]any{a.names: found.called()}
	day, err := s.day(found, a.of)
	switch {
	case err != nil && a.other != nil && !s.to.empty():
		input[a.other.Name] = s.to.text()
	case err != nil:
		return "", err
	default:
		input[a.input.Name] = day
	}
	return t.proposeBy(a.tool, input)
}

// called is how an action is told which record is meant: as people call it, where they do.
func (r record) called() string {
	if r.noun.LabelField == "" || r.label == "" {
		return r.id
	}
	return r.label
}

// inner finds the number that an object takes before anything else.
func inner(i toolcall.InputInfo) (toolcall.InputInfo, bool) {
	at := slices.IndexFunc(i.Inputs, func(in toolcall.InputInfo) bool { return in.Required && in.Type == "number" })
	if at < 0 {
		return toolcall.InputInfo{}, false
	}
	return i.Inputs[at], true
}
