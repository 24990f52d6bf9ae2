package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

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

// byKey reads a record. Where there is no tool to read one its key is taken on trust: what is done with
// it says whether it is there.
func (t *turn) byKey(n *noun, key string, sure bool) ([]record, error) {
	operation, input := "get", map[string]any{"id": key}
	if !n.offers(operation) {
		f, exposed := n.named(n.Key[0])
		if !n.offers("list") || len(n.Key) > 1 || !exposed || f.Masked {
			return []record{{noun: n, id: key}}, nil
		}
		operation, input = "list", map[string]any{"where": map[string]string{f.Name: key}, "first": 1}
	}
	result, err := t.use(n, operation, input)
	switch {
	case err != nil:
		return nil, err
	case result.OK:
		return n.records(result.Rows), nil
	case sure && result.Code != "RECORD_GONE" && result.Code != "INVALID_INPUT":
		return nil, troubleError(result.Message)
	}
	return nil, nil
}

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

func (n *noun) records(rows []toolcall.Row) []record {
	list := make([]record, len(rows))
	for i := range rows {
		list[i] = record{noun: n, id: rows[i].RecordID, label: rows[i].Label, row: &rows[i]}
	}
	return list
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

// keyLike tells whether a text can be the key of a record of this kind. Without the kind only a UUID
// can: every table has a row 4.
func (n *noun) keyLike(ref reference) bool {
	if !ref.kind {
		return len(n.Key) == 1 && n.offers("get") && uuid.MatchString(ref.text)
	}
	if len(n.Key) != 1 {
		return n.key(ref.text) != ""
	}
	f, exposed := n.named(n.Key[0])
	switch {
	case !exposed || f.Type == "INTEGER" || f.Type == "DECIMAL" || f.Type == "REFERENCE":
		return isNumber(ref.text)
	case f.Type == "UUID":
		return uuid.MatchString(ref.text)
	}
	return (n.Key[0] != n.LabelField || !n.offers("list")) && !strings.ContainsAny(ref.text, " \t\n")
}

// key writes a key as tools take it: a composite one is a JSON array of strings, said as 7/10 or 7, 10.
func (n *noun) key(text string) string {
	if len(n.Key) == 1 {
		return text
	}
	var parts []string
	if json.Unmarshal([]byte(text), &parts) != nil {
		parts = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/, ", r) })
	}
	if len(parts) != len(n.Key) {
		return ""
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	return string(raw)
}

func titles(nouns catalogue) []string {
	list := make([]string, len(nouns))
	for i, n := range nouns {
		list[i] = plain(n.Title)
	}
	return list
}
