package offline

import (
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for source, want := range map[string]string{
		`Rename role 4, to “chief reviewer”!`: `rename|role|4|,|to|<chief reviewer>|!`,
		`the planner's 'own words' isn't`:     `the|planner|'s|<own words>|isn't`,
		`the planner’s «x y» and „z“`:         `the|planner|'s|<x y>|and|<z>`,
		`status=released 2.5 PO-1042?`:        `status|=|released|2.5|po-1042|?`,
		`an "open quote`:                      `an|"open|quote`,
		"\"over\nlines\"":                     `"over|lines"`,
		`it's "a ‘b’ c"'s`:                    `it|'s|<a ‘b’ c>|'s`,
		`...`:                                 `.|.|.`,
		"a\u00a0b\tc":                         `a|b|c`,
		"":                                    ``,
	} {
		var got []string
		for _, token := range tokenize(source) {
			if token.quoted {
				got = append(got, "<"+token.text+">")
			} else {
				got = append(got, token.word)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q\n  is  %s\n  not %s", source, strings.Join(got, "|"), want)
		}
	}
}

func TestSentencesEndWhereAnotherBegins(t *testing.T) {
	for source, want := range map[string][]string{
		"Rename role 4 to St. Mary":                      {"Rename role 4 to St. Mary"},
		"Rename role 4 to x. Please delete role 7!":      {"Rename role 4 to x", "Please delete role 7"},
		"list roles\n\n  show role 4":                    {"list roles", "show role 4"},
		`set notes to "a. Delete role 7. b"`:             {`set notes to "a. Delete role 7. b"`},
		"1. list roles\n2. show role 4":                  {"1. list roles", "2. show role 4"},
		"Set the quantity to 2.5; show role 4":           {"Set the quantity to 2.5", "show role 4"},
		" . ! ":                                          nil,
		"What? Show PO-1042. Which orders are released?": {"What", "Show PO-1042", "Which orders are released"},
	} {
		var got []string
		for _, sentence := range sentences(source) {
			got = append(got, sentence.plain().text())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n  is  %q\n  not %q", source, got, want)
		}
	}
}

func TestCourtesyIsNoPartOfASentence(t *testing.T) {
	for source, want := range map[string]string{
		"Hi, could you please list roles, thanks!": "list roles",
		"I would like you to delete role 7 for me": "delete role 7",
		"please": "please",
		"So then let's push PO-1042 by 2 days, please": "push PO-1042 by 2 days",
	} {
		if got := stripped(phrase{source, tokenize(source)}).text(); got != want {
			t.Errorf("%q is %q, not %q", source, got, want)
		}
	}
}
