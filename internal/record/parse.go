package record

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// document is countersign.yaml as it is written, before it meets the database.
type document struct {
	assistant Assistant
	keepDays  int
	sources   []*sourceSpec
	entities  []*entitySpec
	actions   []*actionSpec
}

type sourceSpec struct {
	Source
	line    int
	readAs  word
	writeAs word
}

var providers = []string{"offline", "openai", "anthropic"}

// parse reads the file strictly. It says everything that is wrong with it by itself, and goes on where it can.
func parse(content []byte, problems *Problems) *document {
	root := readYAML(content, problems)
	if root == nil {
		return &document{}
	}
	m := mappingOf(root, "the file", problems, "assistant", "approval_retention_days", "sources", "entities", "actions")
	d := &document{assistant: parseAssistant(m)}
	d.keepDays = m.keepDays(d.assistant)
	for _, key := range []string{"sources", "entities"} {
		if !m.has(key) && root.kind == mappingNode {
			problems.say(m.line, "the file says no %s", key)
		}
	}
	for _, p := range entries(m, "sources") {
		d.sources = append(d.sources, parseSource(p, problems))
	}
	for _, p := range entries(m, "entities") {
		d.entities = append(d.entities, parseEntity(p, problems))
	}
	for _, p := range entries(m, "actions") {
		d.actions = append(d.actions, parseAction(p, problems))
	}
	d.check(problems)
	return d
}

// entries are the pairs under a key whose keys are names the operator gives.
func entries(m mapping, key string) []pair {
	n, ok := m.values[key]
	if !ok {
		return nil
	}
	if n.kind != mappingNode {
		m.problems.say(n.line, "%s: %s has to be a mapping from names, not %s", m.what, key, n.kind)
	}
	return n.pairs
}

func parseAssistant(m mapping) Assistant {
	n, ok := m.values["assistant"]
	if !ok {
		return Assistant{RejectedWithin: defaultRejectedWithin, ProposalsPerTurn: defaultProposalsPerTurn}
	}
	a := mappingOf(n, "assistant", m.problems, "enabled", "provider", "rejected_within", "proposals_per_turn")
	assistant := Assistant{Enabled: a.flag("enabled", true), Provider: a.choice("provider", providers...), RejectedWithin: a.rejectedWithin(), ProposalsPerTurn: defaultProposalsPerTurn}
	if a.has("proposals_per_turn") {
		assistant.ProposalsPerTurn = a.count("proposals_per_turn", maxProposalsPerTurn)
	}
	return assistant
}

// maxKeepDays is a hundred years.
const maxKeepDays = 36525

// keepDays reads for how long proposals are kept: what was rejected has to be there for as long as it counts.
func (m mapping) keepDays(a Assistant) int {
	const key = "approval_retention_days"
	if !m.has(key) {
		return 0
	}
	days := m.count(key, maxKeepDays)
	if days > 0 && time.Duration(days)*24*time.Hour < a.RejectedWithin {
		m.problems.say(m.word(key).line, "%s: %s is shorter than assistant.rejected_within, %s: what was rejected would be forgotten", m.what, key, a.RejectedWithin)
	}
	return days
}

const defaultProposalsPerTurn, maxProposalsPerTurn = 5, 100

const defaultRejectedWithin, maxRejectedWithin = 30 * time.Minute, 30 * 24 * time.Hour

// rejectedWithin reads for how long an agent may not propose again what a person rejected; 0s for not at all.
func (m mapping) rejectedWithin() time.Duration {
	if !m.has("rejected_within") {
		return defaultRejectedWithin
	}
	w := m.word("rejected_within")
	d, err := time.ParseDuration(w.text)
	if err != nil || d < 0 || d > maxRejectedWithin {
		m.problems.say(w.line, "%s: rejected_within has to be between 0s and %dh, e.g. 30m, not %q", m.what, int(maxRejectedWithin.Hours()), w.text)
	}
	return d
}

var (
	plainName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	entityName  = regexp.MustCompile(`^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$`)
	settingName = regexp.MustCompile(`^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)+$`)
)

var settingWords = []string{"workspace.slug", "workspace.id", "user.id", "user.email", "role"}

func parseSource(p pair, problems *Problems) *sourceSpec {
	what := fmt.Sprintf("source %q", p.key.text)
	if !plainName.MatchString(p.key.text) {
		problems.say(p.key.line, "%s has to be named in small letters, digits and _", what)
	}
	m := mappingOf(p.value, what, problems, "read_as", "write_as", "search_path", "settings")
	m.line = p.key.line
	s := &sourceSpec{line: p.key.line, readAs: m.must("read_as", "erp_read"), writeAs: m.word("write_as")}
	s.Source = Source{Name: p.key.text, ReadAs: s.readAs.text, WriteAs: s.writeAs.text, searchPath: `"$user", public`}
	if path := m.words("search_path"); path != nil {
		s.searchPath = searchPath(path)
	}
	for _, setting := range entries(m, "settings") {
		s.addSetting(setting, what, problems)
	}
	return s
}

func searchPath(schemas []word) string {
	quoted := make([]string, len(schemas))
	for i, s := range schemas {
		quoted[i] = quote(s.text)
	}
	return strings.Join(quoted, ", ")
}

// setting is one session setting of the host's and what it is set to for a person.
type setting struct {
	name  string
	value template
}

func (s *sourceSpec) addSetting(p pair, what string, problems *Problems) {
	name := p.key.text
	switch {
	case !settingName.MatchString(name):
		problems.say(p.key.line, "%s: settings: %q is not the name of a setting of the host's own, e.g. app.site", what, name)
	case strings.HasPrefix(name, "countersign."):
		problems.say(p.key.line, "%s: settings: %q belongs to countersign itself", what, name)
	}
	value := wordOf(p.value, what+": settings: "+name, problems)
	t, err := parseTemplate(value.text)
	if err != nil {
		problems.say(value.line, "%s: settings: %s: %v", what, name, err)
	}
	for _, word := range t.names() {
		if !slices.Contains(settingWords, word) {
			problems.say(value.line, "%s: settings: %s: there is no {%s}%s", what, name, word, didYouMean(word, settingWords))
		}
	}
	s.settings = append(s.settings, setting{name: name, value: t})
}

// check looks at what one part of the file says of another.
func (d *document) check(problems *Problems) {
	d.checkActions(problems)
	tools := map[string]*entitySpec{}
	for _, e := range d.entities {
		tool := strings.ReplaceAll(e.name, ".", "_")
		if other, taken := tools[tool]; taken {
			problems.say(e.line, "%s and %s would give their tools the same name, %s; rename one", e.name, other.name, tool)
		}
		tools[tool] = e
		d.checkSource(e, problems)
		d.checkReferences(e, problems)
	}
	for _, a := range d.actions {
		d.checkTools(a, tools, problems)
	}
}

func (d *document) checkSource(e *entitySpec, problems *Problems) {
	names := make([]string, len(d.sources))
	for i, s := range d.sources {
		names[i] = s.Name
	}
	if e.source.text == "" && len(d.sources) == 1 {
		e.source.text = names[0]
	}
	i := slices.Index(names, e.source.text)
	switch {
	case e.source.text == "" && len(d.sources) > 1:
		problems.say(e.line, "%s says no source; there are %s", e.name, strings.Join(names, ", "))
	case i < 0 && len(d.sources) > 0:
		problems.say(e.source.line, "%s: there is no source %q%s", e.name, e.source.text, didYouMean(e.source.text, names))
	case i >= 0 && d.sources[i].WriteAs == "" && e.writes():
		problems.say(e.line, "%s offers a write, but source %q has no write_as", e.name, e.source.text)
	}
}

func (d *document) checkReferences(e *entitySpec, problems *Problems) {
	names := d.entityNames()
	for _, f := range e.fields {
		if to := f.references; to.text != "" && !slices.Contains(names, to.text) {
			problems.say(to.line, "%s references %q, which is no entity of this file%s", f.what, to.text, didYouMean(to.text, names))
		}
	}
}
