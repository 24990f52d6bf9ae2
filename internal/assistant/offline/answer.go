package offline

import (
	"strings"

	"github.com/countersign/countersign/internal/toolcall"
)

// pageSize is how many records an answer shows.
const pageSize = 20

// glance is how many fields a record of a list shows.
const glance = 4

func (l *listing) run(t *turn) (string, error) {
	able, err := l.nouns.may("list")
	if err != nil {
		return "", err
	}
	if len(able) > 1 {
		return "", troubleError("Do you mean " + enumerate(plurals(able), "or") + "? Please say it in full.")
	}
	n := able[0]
	result, said, err := t.filter(n, l.conditions)
	if err != nil {
		return "", err
	}
	return n.table(result, said), nil
}

func (n *noun) table(result *toolcall.Result, said []string) string {
	with := ""
	if len(said) > 0 {
		with = " with " + enumerate(said, "and")
	}
	if len(result.Rows) == 0 {
		return "There are no " + plain(n.Plural) + with + " that you may see."
	}
	head := itoa(len(result.Rows)) + " " + plain(n.Plural) + with + ":"
	switch {
	case result.Next != "":
		head = "The first " + head
	case len(result.Rows) == 1:
		head = "1 " + plain(n.Title) + with + ":"
	}
	lines := []string{head}
	for _, row := range result.Rows {
		lines = append(lines, "- "+n.line(row))
	}
	if result.Next != "" {
		lines = append(lines, "There are more; narrow the question to see them.")
	}
	return strings.Join(lines, "\n")
}

// line shows a record of a list: its label, its key and its first fields.
func (n *noun) line(row toolcall.Row) string {
	text := row.RecordID
	if row.Label != "" && row.Label != row.RecordID {
		text = clip(row.Label, 80) + " (" + row.RecordID + ")"
	}
	var fields []string
	for _, f := range n.fields {
		raw, ok := row.Values[f.Name]
		if ok && !n.identifies(f) && string(raw) != "null" && len(fields) < glance {
			fields = append(fields, f.name()+" "+show(raw))
		}
	}
	if len(fields) == 0 {
		return text
	}
	return text + ": " + strings.Join(fields, ", ")
}

// identifies tells whether a field is what records are known by.
func (n *noun) identifies(f field) bool {
	return f.Name == n.LabelField || len(n.Key) == 1 && f.Name == n.Key[0]
}

func (l lookup) run(t *turn) (string, error) {
	found, which, err := t.pick(targets(l.ways), reading)
	switch {
	case err != nil:
		return "", err
	case found.row == nil:
		return "", troubleError("I may not look up " + plain(found.noun.Plural) + " for you here.")
	case len(l.ways[which].set) > 0:
		return found.answer(l.ways[which].set[0].field)
	}
	return found.describe(), nil
}

func (r record) answer(asked phrase) (string, error) {
	f, how := r.noun.field(asked)
	raw, ok := r.row.Values[f.Name]
	if how == noMatch || !ok || f.Masked {
		return "", troubleError(capital(r.String()) + " has no field " + quote(asked.bare()) + " that I can see.")
	}
	return f.name() + " of " + r.String() + " is " + full(show(raw)), nil
}

func (r record) describe() string {
	lines := []string{capital(r.numbered()) + ":"}
	for _, f := range r.noun.fields {
		switch raw, ok := r.row.Values[f.Name]; {
		case f.Masked:
			lines = append(lines, "- "+f.name()+": not shown to me")
		case ok:
			lines = append(lines, "- "+f.name()+": "+show(raw))
		}
	}
	return strings.Join(lines, "\n")
}

func plurals(nouns catalogue) []string {
	list := make([]string, len(nouns))
	for i, n := range nouns {
		list[i] = plain(n.Plural)
	}
	return list
}
