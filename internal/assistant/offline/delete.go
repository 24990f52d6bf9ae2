package offline

import "slices"

// deletion deletes one record.
type deletion struct{ targets []reference }

func readDeletion(c catalogue, p phrase) command {
	if !slices.Contains(words("delete remove drop erase destroy"), p.word(0)) {
		return nil
	}
	targets := c.references(p.from(1))
	switch {
	case len(targets) == 0:
		return puzzled{"delete <record>"}
	case targets[0].many:
		return bulk{}
	}
	return deletion{targets}
}

func (d deletion) run(t *turn) (string, error) {
	found, _, err := t.pick(d.targets, "delete")
	if err != nil {
		return "", err
	}
	return t.propose(found.noun, "delete", map[string]any{"id": found.id})
}
