package redact

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error is the text of an error, for a log. Of what PostgreSQL says its SQLSTATE stays: its sentence, DETAIL,
// HINT and CONTEXT repeat values of records, of hidden columns too. Nor do the values stay that could not be
// encoded or parsed.
func Error(err error) string { return (*Patterns)(nil).Error(err) }

// Error does the same, and knows an administrator's patterns.
func (p *Patterns) Error(err error) string {
	if err == nil {
		return ""
	}
	text, refused := err.Error(), refusals(err)
	for _, pg := range refused {
		text = strings.ReplaceAll(text, pg.Error(), refusal(pg))
	}
	for _, pg := range refused {
		if repeats(text, pg) {
			text = refusal(pg)
		}
	}
	for _, q := range quoting {
		text = q.said.ReplaceAllString(text, q.left)
	}
	return p.Text(text)
}

func refusal(pg *pgconn.PgError) string { return "the database refused: SQLSTATE " + pg.Code }

// repeats tells whether a text still holds what PostgreSQL said, however it got there.
func repeats(text string, pg *pgconn.PgError) bool {
	for _, said := range []string{pg.Message, pg.Detail, pg.Hint, pg.Where, pg.InternalQuery} {
		if said != "" && strings.Contains(text, said) {
			return true
		}
	}
	return false
}

// refusals are what PostgreSQL said anywhere in an error.
func refusals(err error) []*pgconn.PgError {
	if pg, ok := err.(*pgconn.PgError); ok { //nolint:errorlint // each of the chain is looked at in turn
		return []*pgconn.PgError{pg}
	}
	if _, ok := err.(*pgconn.ConnectError); ok { //nolint:errorlint // the same; it says who could not connect, and no record is known yet
		return nil
	}
	var found []*pgconn.PgError
	switch wrapped := err.(type) { //nolint:errorlint // the same
	case interface{ Unwrap() error }:
		if inner := wrapped.Unwrap(); inner != nil {
			found = refusals(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapped.Unwrap() {
			if inner != nil {
				found = append(found, refusals(inner)...)
			}
		}
	}
	return found
}

// quoting are the ways in which the libraries repeat a value.
var quoting = []struct {
	said *regexp.Regexp
	left string
}{
	{regexp.MustCompile(`(?s)unable to encode .* into (\w+) format for`), "unable to encode a value into ${1} format for"},
	{regexp.MustCompile(`(parsing(?: time)?) "(?:[^"\\]|\\.)*"`), `${1} a value`},
	{regexp.MustCompile(`(as|cannot parse) "(?:[^"\\]|\\.)*"`), `${1} a value`},
	{regexp.MustCompile(`cannot unmarshal number [-+0-9.eE]+`), "cannot unmarshal number"},
}

// Panic says what a program panicked with, for a log: the sentence where it is the runtime's own, else its type
// alone, since it can hold anything. The stack tells the rest.
func Panic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return Text(err.Error())
	}
	if err, ok := value.(error); ok {
		if of := runtime.Error(nil); errors.As(err, &of) {
			return Text(of.Error())
		}
	}
	return fmt.Sprintf("a %T", value)
}
