package offline

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

func (bulk) run(*turn) (string, error) {
	return "", troubleError("Changing several records at once is not offered to me. Name one record per sentence; I take up to " + itoa(mostProposals) + " in one message.")
}
