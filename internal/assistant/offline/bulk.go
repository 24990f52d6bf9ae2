package offline

import "encoding/json"

// bulk changes fields of all records of a kind that meet conditions. Its ways are the readings of the sentence;
// none where it wants something that is done to one record at a time.
type bulk struct{ ways []way }

const bulkUpdate = "bulk_update"

func (b bulk) run(t *turn) (string, error) {
	for _, w := range b.ways {
		if able := w.target.nouns.offering(bulkUpdate); w.target.kind && len(able) > 0 {
			return w.ofAll(t, able)
		}
	}
	return "", troubleError("Changing several records at once is not offered to me. Name one record per sentence; I take up to " + itoa(mostProposals) + " in one message.")
}

// ofAll proposes one change of all that meet the conditions.
func (w way) ofAll(t *turn, able catalogue) (string, error) {
	if len(able) > 1 {
		return "", troubleError("Do you mean " + enumerate(plurals(able), "or") + "? Please say it in full.")
	}
	n := able[0]
	changes, err := t.changes(n, w.set)
	if err != nil {
		return "", err
	}
	where := map[string]json.RawMessage{}
	found, said, err := t.narrowed(n, w.target.nouns.conditions(phrase{}, w.target.beside), where)
	switch {
	case err != nil:
		return "", err
	case len(where) == 0:
		return "", troubleError("Which " + plain(n.Plural) + "? I change several at once only by a field they have in common: with <field> <value>.")
	case len(found.Rows) == 0:
		return "", troubleError(n.table(found, said))
	}
	return t.propose(n, bulkUpdate, map[string]any{"where": where, "changes": changes})
}
