package redact

import (
	"fmt"
	"regexp"
)

// maxName is how long the name of a pattern is at most.
const maxName = 40

// MaxExpression is how long the expression of a pattern is at most.
const MaxExpression = 1000

// Named is a pattern as an administrator gives it: what a marker is to say, and an RE2 expression.
type Named struct{ Name, Expression string }

// Patterns are what is looked for beside the built-in patterns. Nil has none.
type Patterns struct {
	rules []rule
	names map[string]bool
}

var naming = regexp.MustCompile(`^[\pL\pN][\pL\pN _-]*$`)

// Compile makes patterns of their expressions. An error names the pattern.
func Compile(list []Named) (*Patterns, error) {
	p := &Patterns{names: map[string]bool{}}
	for _, one := range list {
		found, err := regexp.Compile(one.Expression)
		switch {
		case err != nil:
			return nil, fmt.Errorf("pattern %q: %w", one.Name, err)
		case len(one.Expression) > MaxExpression:
			return nil, fmt.Errorf("pattern %q: longer than %d bytes", one.Name, MaxExpression)
		case len(one.Name) > maxName || !naming.MatchString(one.Name):
			return nil, fmt.Errorf("pattern %q: a name is of letters, digits, spaces, - and _, at most %d bytes", one.Name, maxName)
		}
		p.rules = append(p.rules, expression(one.Name, found))
		p.names[one.Name] = true
	}
	return p, nil
}

// knows tells whether a marker may say this.
func (p *Patterns) knows(kind string) bool {
	return kinds[kind] || p != nil && p.names[kind]
}
