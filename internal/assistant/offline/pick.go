package offline

import "errors"

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
