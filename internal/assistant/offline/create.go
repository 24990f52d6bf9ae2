package offline

import "slices"

// creation makes a record of one kind.
type creation struct {
	nouns catalogue
	set   []assignment
}

var namings = phrases("with the name", "with name", "with the title", "with title", "whose name is")

const createShape = "create a <kind of record> called <name> with <field> <value>"

func readCreation(c catalogue, p phrase) command {
	verb := p.word(0)
	if verb == "make" && !slices.Contains(words("a an new another"), p.word(1)) || !slices.Contains(words("create add new make register insert"), verb) {
		return nil
	}
	rest := p.from(1).withoutFirst(words("a an the new another one")...)
	m, ok := c.mentionAt(rest)
	if !ok {
		return puzzled{createShape}
	}
	if m.plural && rest.index(0, all...) >= 0 {
		return bulk{}
	}
	set, ok := m.nouns.initial(rest.from(m.length))
	if !ok {
		return puzzled{createShape}
	}
	return creation{m.nouns, set}
}

// initial reads the name and the fields of a new record.
func (c catalogue) initial(p phrase) ([]assignment, bool) {
	p = p.plain()
	named := p.withoutPrefix(namings)
	if named.len() < p.len() && c.fieldAt(p.withoutFirst(separators...).withoutFirst(articles...), wholeMatch) == 0 {
		return c.nameFirst(named)
	}
	if p.empty() || slices.Contains(separators, p.word(0)) || c.fieldAt(p, wholeMatch) > 0 {
		return c.listed(p)
	}
	return c.nameFirst(p.withoutPrefix(pointers))
}

// nameFirst reads a name, and the fields after it.
func (c catalogue) nameFirst(p phrase) ([]assignment, bool) {
	name, rest := c.upToField(p.plain(), false)
	if name.plain().empty() {
		return nil, false
	}
	set, ok := c.listed(rest)
	return append([]assignment{{label: true, value: name.plain()}}, set...), ok
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
