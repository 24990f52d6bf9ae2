package record

import (
	"slices"
	"strings"
	"time"
)

// entitySpec is an entity as the file describes it.
type entitySpec struct {
	name       string
	line       int
	source     word
	table      word
	key        []word
	label      word
	title      string
	plural     string
	fields     []*fieldSpec
	operations map[Operation]*operationSpec
	locked     []lockSpec
	lifetime   time.Duration
	bulkCap    int
	confirm    Confirm
	confirmAt  int
	rows       string
	url        word
	cites      bool
	rehearse   bool

	previewOnly bool
	opened      bool // an action writes it
}

// lockSpec is a condition under which a record is not offered for change.
type lockSpec struct {
	column word
	values []word
}

const (
	defaultLifetime = 30 * time.Minute
	defaultBulkCap  = 200
	maxBulkCap      = MaxSet
	maxLifetime     = 30 * 24 * time.Hour
	maxEntityName   = 52 // so that the names of its tools keep to 64
)

var entityKeys = []string{"source", "table", "key", "label", "title", "plural", "fields", "operations", "roles", "approval", "locked", "lifetime", "bulk_cap", "confirm", "rows", "url", "cites", "rehearse", "preview_only"}

func parseEntity(p pair, problems *Problems) *entitySpec {
	e := &entitySpec{name: p.key.text, line: p.key.line}
	if !entityName.MatchString(e.name) || len(e.name) > maxEntityName {
		problems.say(e.line, "%q has to be module.entity in small letters, digits and _, e.g. core.role, of at most %d characters", e.name, maxEntityName)
	}
	m := mappingOf(p.value, e.name, problems, entityKeys...)
	m.line = e.line
	e.source, e.table, e.key, e.label, e.url = m.word("source"), m.must("table", "core.roles"), m.words("key"), m.word("label"), m.word("url")
	e.parseTitles(m)
	e.parseOperations(m)
	e.parseFields(m)
	e.parseLocked(m)
	e.parseTerms(m)
	return e
}

func (e *entitySpec) parseTitles(m mapping) {
	_, name, _ := strings.Cut(e.name, ".")
	e.title = humanise(name)
	if m.has("title") {
		e.title = m.word("title").text
	}
	e.plural = plural(e.title)
	if m.has("plural") {
		e.plural = m.word("plural").text
	}
}

// humanise makes a label of a name: order_number becomes Order number.
func humanise(name string) string {
	words := strings.Fields(strings.ReplaceAll(name, "_", " "))
	for i, w := range words {
		if w == "id" || w == "url" {
			words[i] = strings.ToUpper(w)
		}
	}
	s := strings.Join(words, " ")
	if s == "" {
		return name
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func plural(title string) string {
	before, ends := strings.CutSuffix(title, "y")
	if ends && !strings.ContainsAny(before[max(0, len(before)-1):], "aeiou") {
		return before + "ies"
	}
	if strings.HasSuffix(title, "s") {
		return title + "es"
	}
	return title + "s"
}

func (e *entitySpec) parseLocked(m mapping) {
	for _, p := range entries(m, "locked") {
		lock := lockSpec{column: word{text: p.key.text, line: p.key.line}}
		inner := mapping{line: p.key.line, what: e.name + ": locked", values: map[string]*node{p.key.text: p.value}, problems: m.problems}
		lock.values = inner.words(p.key.text)
		e.locked = append(e.locked, lock)
	}
}

// parseTerms reads how long a proposal waits, how much one may change, who confirms it.
func (e *entitySpec) parseTerms(m mapping) {
	e.lifetime, e.bulkCap = m.lifetime(defaultLifetime, maxLifetime, "30m"), defaultBulkCap
	if m.has("bulk_cap") {
		e.bulkCap = m.count("bulk_cap", maxBulkCap)
		if _, offered := e.operations[BulkUpdate]; !offered {
			m.problems.say(m.at("bulk_cap"), "%s: bulk_cap means nothing without the operation bulk_update", e.name)
		}
	}
	e.confirm = Confirm(m.choice("confirm", string(ConfirmOwner), string(ConfirmWorkspace)))
	e.confirmAt = m.at("confirm")
	e.rows = m.choice("rows", "person", "workspace")
	e.cites = m.flag("cites", true)
	e.rehearse = m.flag("rehearse", true)
	e.previewOnly = m.flag("preview_only", false)
	if e.previewOnly && !slices.ContainsFunc(Operations, func(op Operation) bool { return op.Writes() && e.operations[op] != nil }) {
		m.problems.say(m.at("preview_only"), "%s: preview_only means nothing without a write among its operations", e.name)
	}
}
