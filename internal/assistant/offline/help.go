package offline

import (
	"slices"
	"strings"
)

// help says what was offered and which sentences this grammar knows.
type help struct{}

func (help) run(t *turn) (string, error) {
	if len(t.catalogue) == 0 {
		return "Nothing is offered to you here: I can neither look anything up nor propose a change.", nil
	}
	parts := []string{
		"I am the built-in offline assistant: a small grammar, not a language model, and I use no network. I look things up as you and propose changes; only you can confirm them, in the application. For you I may:",
		t.catalogue.table(),
		"Sentences I know:\n- " + strings.Join(t.catalogue.shapes(), "\n- "),
		"Put longer texts in quotes. I answer each message on its own and remember nothing.",
	}
	return strings.Join(parts, "\n\n"), nil
}

// table says, kind by kind, what the tools do.
func (c catalogue) table() string {
	var lines []string
	for _, n := range c {
		var can []string
		for _, operation := range n.order {
			can = append(can, n.does(operation))
		}
		can = append(can, n.acts()...)
		lines = append(lines, "- "+capital(plain(n.Plural))+": "+enumerate(can, "and"))
	}
	return strings.Join(lines, "\n")
}

func (n *noun) does(operation string) string {
	switch operation {
	case "list":
		return "list them"
	case "get":
		return "look one up"
	case "create":
		return "propose a new one"
	case "update":
		return "propose changes to " + n.choices()
	case "delete":
		return "propose to delete one"
	}
	return plain(n.tools[operation].Label)
}

// acts says what the custom actions do.
func (n *noun) acts() []string {
	list := make([]string, len(n.actions))
	for i, tool := range n.actions {
		list[i] = plain(tool.Label)
	}
	return list
}

// briefly says what can be done in a sentence or two.
func (c catalogue) briefly() string {
	if len(c) == 0 {
		return "Nothing is offered to you here."
	}
	what := "I can look up " + enumerate(plurals(c.offering(reading)), "and")
	if len(c.offering(reading)) == 0 {
		what = "I can look nothing up"
	}
	if changes := slices.DeleteFunc(slices.Clone(c), func(n *noun) bool {
		return !n.offers("create") && !n.offers("update") && !n.offers("delete") && !n.offers(acting)
	}); len(changes) > 0 {
		what += ", and propose changes to " + enumerate(plurals(changes), "and")
	}
	return what + `. Ask "What can you do?" for the sentences I know.`
}

// shapes are the forms of sentence for which there is a tool.
func (c catalogue) shapes() []string {
	var lines []string
	add := func(operation string, forms ...string) {
		if able := c.offering(operation); len(able) > 0 {
			for _, form := range forms {
				lines = append(lines, strings.NewReplacer("ONE", plain(able[0].Title), "MANY", plain(able[0].Plural)).Replace(form))
			}
		}
	}
	add("list", "list MANY", "which MANY have <field> <value>?")
	add(reading, "show ONE <number or name>", "what is the <field> of ONE <number or name>?")
	add("update", "rename ONE <number or name> to <new name>", "set <field> of ONE <number or name> to <value>", "clear <field> of ONE <number or name>")
	add(bulkUpdate, "set <field> to <value> on all MANY with <field> <value>")
	if dated := slices.IndexFunc(c, func(n *noun) bool { return n.mover() != nil || n.offers("update") && n.dated() }); dated >= 0 {
		lines = append(lines, "push "+plain(c[dated].Title)+" <number or name> by <number> days")
	}
	add(splitting, "split <number> off ONE <number or name>")
	add("create", "create a ONE called <name> with <field> <value>")
	add("delete", "delete ONE <number or name>")
	return lines
}

// dated tells whether records have a date that may be changed.
func (n *noun) dated() bool {
	_, err := n.dateOf(way{})
	return err == nil
}

// example is a kind of record to name in a question back.
func (c catalogue) example() string {
	if len(c) == 0 {
		return "record"
	}
	return plain(c[0].Title)
}

// initialExample shows how to say what a new record holds.
func (n *noun) initialExample() string {
	if f, ok := n.named(n.LabelField); ok && f.Writable {
		return "called <" + plain(f.name()) + ">"
	}
	for _, f := range n.fields {
		if f.Writable {
			return "with " + plain(f.name()) + " <value>"
		}
	}
	return "with <field> <value>"
}
