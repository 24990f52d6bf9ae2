package offline

import (
	"slices"
	"strings"
)

// byLabel looks a label up as it was written, and then in other letters.
func (t *turn) byLabel(ref reference) ([]record, error) {
	for _, spelling := range spellings(ref.text, ref.quoted) {
		var found []record
		for _, n := range ref.nouns {
			hits, err := t.labelled(n, spelling, ref.kind)
			if err != nil {
				return nil, err
			}
			found = append(found, hits...)
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

func (t *turn) labelled(n *noun, label string, sure bool) ([]record, error) {
	f, ok := n.named(n.LabelField)
	if !ok || f.Masked || !n.offers("list") || f.Type != "TEXT" && f.Type != "ENUM" && !isNumber(label) {
		return nil, nil
	}
	result, err := t.use(n, "list", map[string]any{"where": map[string]string{f.Name: label}, "first": 6})
	switch {
	case err != nil:
		return nil, err
	case result.OK:
		return n.records(result.Rows), nil
	case sure && result.Code != "INVALID_INPUT":
		return nil, troubleError(result.Message)
	}
	return nil, nil
}

func spellings(text string, exact bool) []string {
	list := []string{text}
	if exact {
		return list
	}
	for _, other := range []string{strings.ToUpper(text), strings.ToLower(text), capital(strings.ToLower(text))} {
		if !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}
