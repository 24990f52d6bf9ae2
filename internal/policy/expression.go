package policy

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/redact"
)

// readable refuses what is no RE2 expression, and says where it is not.
func readable(expression string) error {
	if expression == "" {
		return errors.New("the pattern is empty")
	}
	if len(expression) > redact.MaxExpression {
		return fmt.Errorf("the pattern is longer than %d bytes", redact.MaxExpression)
	}
	_, err := regexp.Compile(expression)
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		return fmt.Errorf("the pattern cannot be read at character %d: %w (RE2 has no lookaround and no backreferences)", position(expression, bad), bad)
	}
	return err
}

// position is the place of the first character that is wrong, counted from 1.
func position(expression string, bad *syntax.Error) int {
	at := strings.Index(expression, bad.Expr)
	switch bad.Code {
	case syntax.ErrMissingParen:
		at = unclosed(expression)
	case syntax.ErrUnexpectedParen:
		at = strings.LastIndexByte(expression, ')')
	case syntax.ErrTrailingBackslash:
		at = len(expression) - 1
	}
	return utf8.RuneCountInString(expression[:max(at, 0)]) + 1
}

// unclosed is where the parenthesis opens that nothing closes.
func unclosed(expression string) int {
	var open []int
	class := false
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '(' && !class:
			open = append(open, i)
		case c == ')' && !class && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// prose are ordinary sentences. A pattern that takes most of them away would take everything.
var prose = []string{"Please move the delivery to the next week, the customer has asked for it", "yes", "Größe und Farbe wie bestellt", "the order was put on hold by the planner"}

// tooWide refuses what matches the empty text, and what leaves little of ordinary ones.
func tooWide(expression string) error {
	e := regexp.MustCompile(expression)
	for _, text := range append([]string{"", "a", "7", " ", "-"}, prose...) {
		for _, at := range e.FindAllStringIndex(text, -1) {
			if at[0] == at[1] {
				return errors.New("the pattern matches the empty text: it would be found everywhere")
			}
		}
	}
	gone, all := 0, 0
	for _, text := range prose {
		all += len(text)
		for _, at := range e.FindAllStringIndex(text, -1) {
			gone += at[1] - at[0]
		}
	}
	if 3*gone > all {
		return errors.New("the pattern matches ordinary text: it would leave nothing to read")
	}
	return nil
}
