package offline

import "github.com/countersign/countersign/internal/toolcall"

// record is a record that was found. row is nil where it could not be read first.
type record struct {
	noun  *noun
	id    string
	label string
	row   *toolcall.Row
}

func (r record) String() string {
	if r.label == "" || r.label == r.id {
		return plain(r.noun.Title) + " " + r.id
	}
	return plain(r.noun.Title) + " " + quote(r.label)
}

// numbered names a record so that nothing else goes by the same name.
func (r record) numbered() string {
	if r.label == "" || r.label == r.id {
		return r.String()
	}
	return plain(r.noun.Title) + " " + r.id + " (" + quote(r.label) + ")"
}

// one finds the one record that is meant. It never chooses between several.
func (t *turn) one(ref reference) (record, error) {
	found, err := t.all(ref)
	switch {
	case err != nil:
		return record{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && ref.kind:
		return record{}, missingError("I found no " + enumerate(titles(ref.nouns), "or") + " " + quote(ref.text) + " that you may see.")
	case len(found) == 0:
		return record{}, missingError("I found nothing called " + quote(ref.text) + ".")
	}
	names := make([]string, 0, len(found))
	for _, r := range found[:min(len(found), 6)] {
		names = append(names, r.numbered())
	}
	return record{}, troubleError("More than one record goes by " + quote(ref.text) + ": " + enumerate(names, "and") +
		". Please send the whole request again with the number of the one you mean; I do not remember earlier messages.")
}

// missingError is the trouble of a record that is not there, where another reading may find one.
type missingError string

func (m missingError) Error() string { return string(m) }

// all finds the records that go by a key or a label, by key first where it looks like one.
func (t *turn) all(ref reference) ([]record, error) {
	if !ref.kind && !ref.quoted && isNumber(ref.text) {
		return nil, troubleError("Which kind of record is " + quote(ref.text) + "? Say for example " + quote(t.catalogue.example()+" "+ref.text) + ".")
	}
	memo := ref.text
	for _, n := range ref.nouns {
		memo += "\x00" + n.Name
	}
	if found, ok := t.found[memo]; ok {
		return found, nil
	}
	found, err := t.search(ref)
	if err == nil {
		t.found[memo] = found
	}
	return found, err
}

func (t *turn) search(ref reference) ([]record, error) {
	var found []record
	for _, n := range ref.nouns {
		if !n.keyLike(ref) {
			continue
		}
		hit, err := t.byKey(n, n.key(ref.text), ref.kind)
		if err != nil {
			return nil, err
		}
		found = append(found, hit...)
	}
	if len(found) > 0 {
		return found, nil
	}
	return t.byLabel(ref)
}

func (n *noun) records(rows []toolcall.Row) []record {
	list := make([]record, len(rows))
	for i := range rows {
		list[i] = record{noun: n, id: rows[i].RecordID, label: rows[i].Label, row: &rows[i]}
	}
	return list
}

func titles(nouns catalogue) []string {
	list := make([]string, len(nouns))
	for i, n := range nouns {
		list[i] = plain(n.Title)
	}
	return list
}
