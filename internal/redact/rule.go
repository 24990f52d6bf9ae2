package redact

import (
	"regexp"
	"strings"
)

// rule finds one kind of secret. hints, where there are any, are texts in lower case of which one is in
// whatever it can find.
type rule struct {
	kind  string
	hints []string
	// next finds the first of them: what to replace. From where end is the search goes on.
	next func(s string) (start, end int, ok bool)
}

// mayBeIn tells whether the rule can find something in a text, given in lower case.
func (r rule) mayBeIn(low string) bool {
	if len(r.hints) == 0 {
		return true
	}
	for _, hint := range r.hints {
		if strings.Contains(low, hint) {
			return true
		}
	}
	return false
}

// budget bounds the bytes that a rule may look at in one text, since one search can go to the end of the text
// and find little. Where it is spent, the rest is taken for what was looked for.
const budget = 32 * limit

// replace replaces what the rule finds.
func (r rule) replace(s string) string {
	var out strings.Builder
	for spent := 0; s != ""; {
		start, end, ok := r.next(s)
		if !ok {
			break
		}
		if spent += len(s); spent > budget {
			start, end = 0, len(s)
		}
		out.WriteString(s[:start])
		out.WriteString(marker(r.kind))
		s = s[end:]
	}
	if out.Len() == 0 {
		return s
	}
	out.WriteString(s)
	return out.String()
}

// expression is a rule by an expression. Of what that matches all is replaced, or the group named secret alone
// where one took part.
func expression(kind string, e *regexp.Regexp, hints ...string) rule {
	groups := []int{}
	for i, name := range e.SubexpNames() {
		if name == "secret" {
			groups = append(groups, i)
		}
	}
	return rule{kind: kind, hints: hints, next: func(s string) (int, int, bool) {
		at := e.FindStringSubmatchIndex(s)
		if at == nil {
			return 0, 0, false
		}
		for _, g := range groups {
			if at[2*g] >= 0 && at[2*g] < at[2*g+1] {
				return at[2*g], at[2*g+1], true
			}
		}
		return at[0], at[1], at[0] < at[1] // nothing at all is found for ever
	}}
}
