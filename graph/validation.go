package graph

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// validation is the usual set of rules and one of ours. None of them suggests a name of the schema in place
// of an unknown one; the library's own switch leaves that to three of them.
func validation() *rules.Rules {
	r := rules.NewDefaultRules()
	for hinting, silent := range map[string]core.Rule{
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRule.Name: rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.RemoveRule(hinting)
		r.AddRule(silent.Name, silent.RuleFunc)
	}
	r.AddRule("NumbersArriveAsWritten", numbersArriveAsWritten)
	return r
}

// exact is how many digits a number with a fraction keeps where it stands in the query itself: the library
// reads it as a float64. In variables it keeps them all.
const exact = 15

func numbersArriveAsWritten(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind == ast.FloatValue && digits(v.Raw) > exact {
			addError(core.Message("%s has more than %d digits: send it as text, or in a variable.", v.Raw, exact), core.At(v.Position))
		}
	})
}

// digits counts a number's digits between its first and its last that is not 0.
func digits(number string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	return len(strings.Trim(strings.Replace(mantissa, ".", "", 1), "0"))
}
