package record

import (
	"strings"

	"github.com/countersign/countersign/internal/identity"
)

// become is what a transaction sets to read or write as a person: all of it local, in one statement.
type become struct {
	source *Source
	role   string
	// rehearses: it waits for little, and its counters are handed over afterwards
	rehearses bool
	values    []string // of the source's settings, in their order
}

// asPerson fills the source's settings for whoever acts.
func asPerson(source *Source, role string, as identity.Actor) become {
	words := map[string]string{
		"workspace.slug": as.Workspace().Slug,
		"workspace.id":   as.Workspace().ID.UUID().String(),
		"user.id":        as.User().ID.UUID().String(),
		"user.email":     as.User().Email,
		"role":           strings.ToUpper(string(as.Role())),
	}
	b := become{source: source, role: role}
	for _, s := range source.settings {
		b.values = append(b.values, s.value.fill(func(name string) string { return words[name] }))
	}
	return b
}

// pins are the settings that the text of a row depends on, and so its version.
var pins = [][2]string{
	{"TimeZone", "UTC"},
	{"DateStyle", "ISO, YMD"},
	{"IntervalStyle", "postgres"},
	{"extra_float_digits", "1"},
	{"bytea_output", "hex"},
	{"lc_monetary", "C"},
}

// pathKept is where the search path of our own statements waits while the host's is in force.
const pathKept = "countersign.search_path"

// enter becomes the person. The role comes last: what is set before needs no right of the host's.
func (b become) enter() statement {
	q := &query{}
	q.add("SELECT pg_catalog.set_config('" + pathKept + "', pg_catalog.current_setting('search_path'), true)")
	for _, pin := range pins {
		q.set(pin[0], pin[1])
	}
	for i, s := range b.source.settings {
		q.set(s.name, b.values[i])
	}
	if b.rehearses {
		q.set("lock_timeout", rehearsalLock)
		q.set("statement_timeout", rehearsalStatement)
		q.add(", ", handOver)
	}
	q.set("search_path", b.source.searchPath)
	q.set("role", b.role)
	return q.statement()
}

// leave becomes the login again and forgets the person; the pins stay until the transaction ends.
func (b become) leave() statement {
	q := &query{}
	q.add("SELECT pg_catalog.set_config('role', 'none', true), pg_catalog.set_config('search_path', pg_catalog.current_setting('" + pathKept + "'), true)")
	for _, s := range b.source.settings {
		q.set(s.name, "")
	}
	return q.statement()
}

func (q *query) set(name, value string) {
	q.add(", pg_catalog.set_config(" + q.arg(name) + ", " + q.arg(value) + ", true)")
}
