package record

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// binder finds what the file names in the catalog, and says what it does not find.
type binder struct {
	problems *Problems
	catalog  *catalog
	registry *Registry
}

func (b *binder) bind(d *document) {
	for _, s := range d.sources {
		b.bindSource(s)
	}
	for _, spec := range d.entities {
		r := b.relation(spec)
		if r == nil {
			continue
		}
		e := b.bindEntity(spec, r)
		b.registry.entities = append(b.registry.entities, e)
		b.registry.byName[e.Name] = e
	}
	b.bindActions(d)
}

func (b *binder) bindSource(s *sourceSpec) {
	for _, role := range []word{s.readAs, s.writeAs} {
		if role.text != "" && !slices.Contains(b.catalog.roles, role.text) {
			b.problems.say(role.line, "source %q: the database has no role %q%s", s.Name, role.text, didYouMean(role.text, b.catalog.roles))
		}
	}
	source := s.Source
	b.registry.sources = append(b.registry.sources, &source)
}

// ownSchema holds proposals and decisions, which no configuration offers.
const ownSchema = "countersign"

func (b *binder) relation(e *entitySpec) *relation {
	schema, name, ok := splitTable(e.table.text)
	if !ok {
		b.problems.say(e.table.line, "%s: table is written with its schema, e.g. core.roles, not %q%s", e.name, e.table.text, b.inSomeSchema(e.table.text))
		return nil
	}
	if schema == ownSchema {
		b.problems.say(e.table.line, "%s: %s is countersign's own, and no record of yours", e.name, e.table.text)
		return nil
	}
	r := b.catalog.relations[schema+"."+name]
	if r == nil {
		b.problems.say(e.table.line, "%s: the database has no table or view %s%s", e.name, e.table.text, didYouMean(schema+"."+name, b.tables()))
	}
	return r
}

// inSomeSchema finds the table that is meant by a name without its schema.
func (b *binder) inSomeSchema(name string) string {
	for _, table := range b.tables() {
		if strings.HasSuffix(table, "."+name) {
			return didYouMean(table, []string{table})
		}
	}
	return ""
}

func (b *binder) tables() []string {
	var list []string
	for name, r := range b.catalog.relations {
		if r.Schema != ownSchema {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	return list
}

func (b *binder) bindEntity(spec *entitySpec, r *relation) *Entity {
	e := &Entity{
		Name: spec.name, Title: spec.title, Plural: spec.plural, Lifetime: spec.lifetime, BulkCap: spec.bulkCap,
		Confirm: spec.confirm, Cites: spec.cites, Rehearses: spec.rehearse, PreviewOnly: spec.previewOnly, source: b.source(spec.source.text),
		oid: r.OID, table: quote(r.Schema, r.Name), view: r.isView(), columns: r.columns, relation: r, offers: map[Operation]offer{},
	}
	for op, o := range spec.operations {
		e.offers[op] = o.offer
	}
	b.bindKey(e, spec, r)
	for _, f := range spec.fields {
		b.bindField(e, f, spec)
	}
	b.bindLocks(e, spec)
	b.bindLabel(e, spec)
	b.bindURL(e, spec)
	b.checkOffers(e, spec, r)
	return e
}

func (b *binder) source(name string) *Source {
	for _, s := range b.registry.sources {
		if s.Name == name {
			return s
		}
	}
	return &Source{Name: name}
}

// column finds a column of the entity's table.
func (b *binder) column(e *Entity, w word, what string) *column {
	c := e.columns[w.text]
	if c == nil {
		names := make([]string, 0, len(e.columns))
		for name := range e.columns {
			names = append(names, name)
		}
		sort.Strings(names)
		b.problems.say(w.line, "%s: %s has no column %q%s", what, unquoted(e.table), w.text, didYouMean(w.text, names))
	}
	return c
}

func unquoted(table string) string { return strings.ReplaceAll(table, `"`, "") }

// bindKey takes the key that is said, or the primary key. Only of a view is it believed.
func (b *binder) bindKey(e *Entity, spec *entitySpec, r *relation) {
	key := spec.key
	if key == nil {
		for _, name := range r.primary {
			key = append(key, word{text: name, line: spec.table.line})
		}
	}
	if len(key) == 0 {
		kind := "table without a primary key"
		if r.isView() {
			kind = "view"
		}
		b.problems.say(spec.table.line, "%s: %s is a %s; say which columns are its key, e.g. key: id", e.Name, unquoted(e.table), kind)
		return
	}
	for _, w := range key {
		if c := b.column(e, w, e.Name+": key"); c != nil {
			b.addKey(e, c, w.line)
		}
	}
	if len(e.key) == len(key) && !r.isView() && !uniqueOn(r, e.Key) {
		b.problems.say(key[0].line, "%s: key: %s has no unique index on exactly (%s)%s", e.Name, unquoted(e.table), strings.Join(e.Key, ", "), primaryHint(r))
	}
}

func (b *binder) addKey(e *Entity, c *column, line int) {
	switch {
	case slices.Contains(e.Key, c.name):
		b.problems.say(line, "%s: key: %q is said twice", e.Name, c.name)
	case !c.mayBeKey():
		b.problems.say(line, "%s: key: column %q of type %s cannot be a key", e.Name, c.name, c.typeName)
	case !c.notNull && !e.view:
		b.problems.say(line, "%s: key: column %q may be NULL, so it cannot be a key", e.Name, c.name)
	}
	e.key, e.Key = append(e.key, c), append(e.Key, c.name)
}

func uniqueOn(r *relation, names []string) bool {
	return slices.ContainsFunc(r.uniques, func(unique []string) bool {
		return len(unique) == len(names) && !slices.ContainsFunc(unique, func(name string) bool { return !slices.Contains(names, name) })
	})
}

func primaryHint(r *relation) string {
	if len(r.primary) == 0 {
		return ""
	}
	return fmt.Sprintf("; its primary key is (%s)", strings.Join(r.primary, ", "))
}

// checkOffers looks at whether what is offered can be done with the table.
func (b *binder) checkOffers(e *Entity, spec *entitySpec, r *relation) {
	if spec.writes() && (r.Kind == "m" || r.Kind == "f") {
		b.problems.say(spec.line, "%s offers a write, but %s is a materialized view or a foreign table, where a change cannot be part of the decision", e.Name, unquoted(e.table))
	}
	for _, op := range []Operation{Create, Update, BulkUpdate} {
		if o := spec.operations[op]; o != nil && !slices.ContainsFunc(e.Fields, func(f *Field) bool { return f.Writable }) {
			b.problems.say(o.line, "%s offers %s, but no field is writable", e.Name, op)
		}
	}
	if r.RLS && e.Confirm == ConfirmWorkspace && spec.rows != "workspace" {
		b.problems.say(spec.confirmAt, "%s: confirm: WORKSPACE, but %s has row-level security; say rows: workspace if its policies look at nothing but the workspace, so that everybody in it sees the same rows", e.Name, unquoted(e.table))
	}
}
