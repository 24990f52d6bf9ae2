package offline

import "slices"

// lookup shows one record, or one field of it.
type lookup struct {
	ways []way // with the field that is asked for, or none
}

// listing shows the records of a kind that pass every condition.
type listing struct {
	nouns      catalogue
	conditions []condition
	count      bool
}

// condition is a part of a question that narrows it: a field and its value, or a value alone.
type condition struct {
	field, value phrase
	label        bool // the field is the one records are known by
	not          bool
}

var (
	asking = phrases("show me", "show us", "show", "list", "list all", "find", "find me", "get", "get me", "display", "search for", "search", "give me", "tell me about", "tell me", "look up", "open",
		"describe", "view", "see", "which", "what is", "what 's", "what are", "what", "who is", "who are", "who", "how many", "are there", "is there", "do we have", "do you have", "have we", "there are", "details of", "details about")
	lists    = phrases("a list of", "the list of", "list of", "all of the", "all of", "the names of")
	being    = words("that which who are is being were was currently still now there do does we you exist")
	callings = words("called named titled")
	where    = words("with whose where having has have had in at for by of from")
)

const askShape = "show <record>, list <records>, or list <records> with <field> <value>"

func readQuestion(c catalogue, p phrase) command {
	rest := p.withoutPrefix(asking)
	if rest.len() == p.len() {
		return nil
	}
	count := p.starts("how", "many")
	rest = rest.withoutPrefix(lists).withoutFirst(slices.Concat(all, words("me"), articles)...).plain()
	if rest.empty() {
		return puzzled{askShape}
	}
	if list := c.readListing(rest, count || p.starts("which") || p.starts("list")); list != nil {
		list.count = count
		return list
	}
	return c.readLookup(rest)
}

// readLookup reads a question about one record. Many words that name neither a kind nor a field are no
// record's label, unless they are quoted.
func (c catalogue) readLookup(p phrase) command {
	ways := c.targets(p, prepositions)
	for _, ref := range c.references(p) {
		switch {
		case ref.text == "":
		case ref.kind:
			ways = append(ways, way{ref, nil, 7})
		case p.len() <= 3:
			ways = append(ways, way{ref, nil, 1})
		}
	}
	if len(ways) == 0 {
		ways = c.unknown(p, phrase{})
	}
	if len(ways) == 0 {
		return puzzled{askShape}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return b.score - a.score })
	return lookup{ways[:min(len(ways), mostWays)]}
}

// readListing reads a question about the records of a kind; nil where it is about one record. open says
// that the question begins as one about several does.
func (c catalogue) readListing(p phrase, open bool) *listing {
	for at := 0; at < min(p.len(), longTarget); at++ {
		m, ok := c.mentionAt(p.from(at))
		if !ok {
			continue
		}
		before, after := p.to(at).plain(), p.from(at+m.length).plain()
		several := open || m.plural || c.same(m) && !single(after)
		narrowed := after.empty() || slices.Contains(slices.Concat(being, where, callings), after.word(0))
		if !narrowed || !several && !before.empty() || !several && !after.empty() {
			return nil
		}
		return &listing{nouns: m.nouns, conditions: m.nouns.conditions(before, after)}
	}
	return nil
}

// same tells whether the kind is called the same when there are many.
func (c catalogue) same(m mention) bool {
	return slices.ContainsFunc(m.nouns, func(n *noun) bool { return sameWords(n.Title, n.Plural) })
}

// conditions reads "released" before the records and "that are released and have priority 3" after.
func (c catalogue) conditions(before, after phrase) []condition {
	var list []condition
	if !before.empty() {
		list = append(list, c.condition(before))
	}
	for !after.empty() {
		var part phrase
		part, after = after.upToAnd()
		if one := c.condition(part.plain()); !one.value.empty() {
			list = append(list, one)
		}
	}
	return list
}

func (p phrase) upToAnd() (part, rest phrase) {
	if at := p.index(0, "and", ","); at >= 0 {
		return p.to(at), p.from(at + 1)
	}
	return p, phrase{source: p.source}
}

// condition reads one part; one without a value says nothing.
func (c catalogue) condition(p phrase) condition {
	p = p.withoutFirst(slices.Concat(being, where, articles)...).plain()
	var not bool
	if p.word(0) == "not" {
		not, p = true, p.from(1)
	}
	if called := p.withoutFirst(callings...); called.len() < p.len() {
		return condition{value: called.plain(), label: true, not: not}
	}
	for _, atLeast := range []int{wholeMatch, partMatch} {
		if name := c.fieldAt(p, atLeast); name > 0 && name < p.len() {
			return condition{field: p.to(name), value: p.from(name).plain().withoutLink(), not: not}
		}
	}
	return condition{value: p, not: not}
}
