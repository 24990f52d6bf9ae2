package offline

import (
	"encoding/json"
	"strings"
)

func (s shift) run(t *turn) (string, error) {
	if s.unclear {
		return "", troubleError("Do you mean earlier or later? Please say the whole sentence again with one of the two words.")
	}
	found, which, err := t.pick(targets(s.ways), moving)
	if err != nil {
		return "", err
	}
	if act := found.noun.moverOf(s.ways[which]); act != nil {
		return s.by(t, *act, found)
	}
	f, err := found.noun.dateOf(s.ways[which])
	if err != nil {
		return "", err
	}
	day, err := s.day(found, f)
	if err != nil {
		return "", err
	}
	return t.propose(found.noun, "update", map[string]any{"id": found.id, "changes": map[string]json.RawMessage{f.Name: day}})
}

// dateOf finds the date that is meant: the one that was said, else the first that says it is a start,
// else the first there is.
func (n *noun) dateOf(w way) (field, error) {
	if len(w.set) > 0 {
		f, err := n.writable(w.set[0])
		if err == nil && f.Type != "DATE" {
			err = troubleError(f.name() + " is not a date.")
		}
		return f, err
	}
	var dates []field
	for _, f := range n.fields {
		if f.Type == "DATE" && f.Writable {
			if strings.Contains(strings.ToLower(f.Name+" "+f.Label), "start") {
				return f, nil
			}
			dates = append(dates, f)
		}
	}
	if len(dates) == 0 {
		return field{}, troubleError(capital(plain(n.Plural)) + " have no date that I may propose to change.")
	}
	return dates[0], nil
}

// day is the date to move to, counted from the record's own where a number of days was said.
func (s shift) day(found record, f field) (json.RawMessage, error) {
	if !s.to.empty() {
		return f.value(s.to)
	}
	if found.row == nil {
		return nil, troubleError("I may not look up " + found.String() + ", so I cannot count days from its " + f.name() + ". Say the date it is to be.")
	}
	var now string
	if raw := found.row.Values[f.Name]; json.Unmarshal(raw, &now) != nil || now == "" {
		return nil, troubleError(capital(found.String()) + " has no " + f.name() + " that I can see.")
	}
	day, ok := daysAfter(now, s.days)
	if !ok {
		return nil, troubleError(f.name() + " of " + found.String() + " is " + quote(now) + ", and I cannot count from there.")
	}
	return json.Marshal(day)
}
