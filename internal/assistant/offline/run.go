package offline

import (
	"encoding/json"
	"errors"
)

// pick tries the readings of a sentence, and takes the first whose record there is.
func (t *turn) pick(targets []reference, operation string) (record, int, error) {
	var first error
	for i, ref := range targets {
		if ref.kind {
			able, err := ref.nouns.may(operation)
			if err != nil {
				return record{}, 0, err
			}
			ref.nouns = able
		}
		if ref.text == "" {
			continue
		}
		found, err := t.one(ref)
		if gone := missingError(""); errors.As(err, &gone) {
			if first == nil {
				first = troubleError(gone)
			}
			continue
		}
		if err == nil && !found.noun.offers(operation) {
			_, err = catalogue{found.noun}.may(operation)
		}
		return found, i, err
	}
	if first == nil {
		first = troubleError("Which record? Name it by its number or its name.")
	}
	return record{}, 0, first
}

func targets(ways []way) []reference {
	list := make([]reference, len(ways))
	for i, w := range ways {
		list[i] = w.target
	}
	return list
}

func (c change) run(t *turn) (string, error) {
	found, which, err := t.pick(targets(c.ways), "update")
	if err != nil {
		return "", err
	}
	changes, err := t.changes(found.noun, c.ways[which].set)
	if err != nil {
		return "", err
	}
	return t.propose(found.noun, "update", map[string]any{"id": found.id, "changes": changes})
}

func (c creation) run(t *turn) (string, error) {
	able, err := c.nouns.may("create")
	if err != nil {
		return "", err
	}
	if len(able) > 1 {
		return "", troubleError("Do you mean a new " + enumerate(titles(able), "or") + "? Please say it in full.")
	}
	n := able[0]
	if len(c.set) == 0 {
		return "", troubleError("What is it to hold? For example: create a " + plain(n.Title) + " " + n.initialExample() + ".")
	}
	changes, err := t.changes(n, c.set)
	if err != nil {
		return "", err
	}
	return t.propose(n, "create", map[string]any{"changes": changes})
}

func (d deletion) run(t *turn) (string, error) {
	found, _, err := t.pick(d.targets, "delete")
	if err != nil {
		return "", err
	}
	return t.propose(found.noun, "delete", map[string]any{"id": found.id})
}

// changes turns what was said into the fields and values of a tool's input.
func (t *turn) changes(n *noun, set []assignment) (map[string]json.RawMessage, error) {
	changes := map[string]json.RawMessage{}
	for _, a := range set {
		f, err := n.writable(a)
		if err != nil {
			return nil, err
		}
		if changes[f.Name], err = t.value(f, a); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// writable finds the field that is meant; trouble where there is none or it may not be changed.
func (n *noun) writable(a assignment) (field, error) {
	f, how := n.field(a.field)
	if a.label {
		var ok bool
		if f, ok = n.named(n.LabelField); !ok {
			return f, troubleError(capital(plain(n.Plural)) + " have no name to change. Say which field: " + n.choices() + ".")
		}
	} else if how == noMatch {
		return f, troubleError(capital(plain(n.Plural)) + " have no field " + quote(a.field.bare()) + ". I may propose changes to " + n.choices() + ".")
	}
	if !f.Writable {
		return f, troubleError("I may not propose changes to " + f.name() + " of " + plain(n.Plural) + ", only to " + n.choices() + ".")
	}
	return f, nil
}

func (n *noun) choices() string {
	var names []string
	for _, f := range n.fields {
		if f.Writable {
			names = append(names, f.name())
		}
	}
	if len(names) == 0 {
		return "none of their fields"
	}
	return enumerate(names, "and")
}

// value reads a field's value; that of a reference may be a label, which is looked up.
func (t *turn) value(f field, a assignment) (json.RawMessage, error) {
	if a.nothing {
		if !f.Nullable {
			return nil, troubleError(f.name() + " cannot be empty.")
		}
		return null, nil
	}
	if f.Type != "REFERENCE" {
		return f.value(a.value)
	}
	return t.pointer(f, a.value)
}

// pointer gives the key of the record that a reference is to point at.
func (t *turn) pointer(f field, said phrase) (json.RawMessage, error) {
	aim := t.catalogue.named(f.References)
	text := said.text()
	if f.Nullable && !said.quoted() && (text == "nothing" || text == "null" || text == "empty") {
		return null, nil
	}
	if aim == nil {
		return json.Marshal(text)
	}
	var refs []reference
	for _, ref := range (catalogue{aim}).references(said) {
		ref.nouns, ref.kind = catalogue{aim}, true
		refs = append(refs, ref)
	}
	found, _, err := t.pick(refs, reading)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found.id)
}

// bulk is a sentence about several records at once.
type bulk struct{}

func (bulk) run(*turn) (string, error) {
	return "", troubleError("Changing several records at once is not offered to me. Name one record per sentence; I take up to " + itoa(mostProposals) + " in one message.")
}
