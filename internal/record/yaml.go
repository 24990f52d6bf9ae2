package record

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// node is a value of the file with its line. Anchors, aliases and tags are refused: what a line says does
// not depend on another line.
type node struct {
	line  int
	kind  kindOfNode
	text  string // of a scalar
	items []*node
	pairs []pair
}

type pair struct{ key, value *node }

type kindOfNode string

const (
	nothingNode kindOfNode = "nothing"
	textNode    kindOfNode = "text"
	numberNode  kindOfNode = "a number"
	booleanNode kindOfNode = "true or false"
	listNode    kindOfNode = "a list"
	mappingNode kindOfNode = "a mapping"
	otherNode   kindOfNode = "something else"
)

// readYAML gives the file's only document; nil where there is none.
func readYAML(content []byte, problems *Problems) *node {
	file, err := parser.ParseBytes(content, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		problems.say(yamlError(err))
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) == 0 {
		problems.say(1, "the file is empty; it has to say assistant, sources and entities")
		return nil
	}
	if len(bodies) > 1 {
		problems.say(lineOf(bodies[1]), "one document is enough; take the second one out")
		return nil
	}
	return convert(bodies[0], problems)
}

// yamlError gives line and sentence of what the parser says.
func yamlError(err error) (line int, format string, args any) {
	line = 1
	var positioned yaml.Error
	text := err.Error()
	if errors.As(err, &positioned) {
		text = positioned.GetMessage()
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	}
	text, _, _ = strings.Cut(text, "\n")
	return line, "this is not YAML: %s", text
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

func convert(from ast.Node, problems *Problems) *node {
	n := &node{line: lineOf(from)}
	switch v := from.(type) {
	case *ast.NullNode:
		n.kind = nothingNode
	case *ast.StringNode:
		n.kind, n.text = textNode, v.Value
	case *ast.LiteralNode:
		n.kind, n.text = textNode, v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		n.kind, n.text = numberNode, from.GetToken().Value
	case *ast.BoolNode:
		n.kind, n.text = booleanNode, fmt.Sprint(v.Value)
	case *ast.SequenceNode:
		n.kind = listNode
		for _, item := range v.Values {
			n.items = append(n.items, convert(item, problems))
		}
	case *ast.MappingNode:
		n.kind = mappingNode
		for _, p := range v.Values {
			n.add(p, problems)
		}
	case *ast.MappingValueNode:
		n.kind = mappingNode
		n.add(v, problems)
	default:
		n.kind = otherNode
		problems.say(n.line, "anchors, aliases, tags and special numbers have no place here; write the value out")
	}
	return n
}

// add takes a pair over; a key that was there before is refused with its first line.
func (n *node) add(p *ast.MappingValueNode, problems *Problems) {
	key := convert(p.Key, problems)
	if len(n.pairs) == 0 {
		n.line = key.line
	}
	for _, earlier := range n.pairs {
		if earlier.key.text == key.text {
			problems.say(key.line, "%q is said twice; the first time is line %d", key.text, earlier.key.line)
			return
		}
	}
	n.pairs = append(n.pairs, pair{key: key, value: convert(p.Value, problems)})
}
