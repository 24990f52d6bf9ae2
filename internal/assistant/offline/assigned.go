package offline

import "encoding/json"

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
