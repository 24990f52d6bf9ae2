package gate

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// refusalOf says what PostgreSQL's refusal of a write means, by its SQLSTATE: the table of the design.
// false: it is no refusal of the change (a lock not had, a connection lost, time run out), and the
// proposal stays as it was. Its texts, which may hold values, go nowhere.
func refusalOf(err error, writes []record.Write) (failure, bool) {
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) {
		return failure{}, false
	}
	switch {
	case pg.Code == "42501":
		return refusedAs[unpermitted], true
	case pg.Code == "428C9" || class(pg, "22"):
		return failure{code: sqlc.FailureCodeInvalidValue, message: "The database refused a value" + of(field(pg, writes)) + ".", field: field(pg, writes)}, true
	case class(pg, "23"):
		return failure{code: sqlc.FailureCodeConstraintViolation, message: constraintMessages[pg.Code] + of(field(pg, writes)) + ".", field: field(pg, writes)}, true
	case broken(pg):
		return failure{}, false
	case pg.Code == "42P01" || pg.Code == "42703":
		return failure{code: sqlc.FailureCodeSourceRefused, message: "The table behind this record is not as the configuration has it. Tell the operator."}, true
	}
	return failure{code: sqlc.FailureCodeSourceRefused, message: "A rule of the database refused this change."}, true
}

// broken: not a word about the change, so the decision is undone and may be tried again.
func broken(pg *pgconn.PgError) bool {
	switch pg.Code {
	case "40001", "40P01", "55P03", "57014":
		return true
	}
	return class(pg, "08") || class(pg, "53") || class(pg, "57P0")
}

func class(pg *pgconn.PgError, prefix string) bool { return strings.HasPrefix(pg.Code, prefix) }

var constraintMessages = map[string]string{
	"23502": "The database needs a value",
	"23503": "Another record depends on this one, or the one it refers to is not there",
	"23505": "There is another record with this value",
	"23514": "A rule of the database refused this value",
	"23P01": "It would overlap another record",
	"23000": "A rule of the database refused this change",
	"23001": "Another record depends on this one",
}

// field finds the field a refusal is about: the one that PostgreSQL names, of those that a constraint is about
// the one that is given, or the only one that is.
func field(pg *pgconn.PgError, writes []record.Write) string {
	if len(writes) == 0 {
		return ""
	}
	for _, w := range writes[1:] {
		if w.Entity != writes[0].Entity || len(w.Values) != len(writes[0].Values) {
			return ""
		}
	}
	given := slices.Collect(maps.Keys(writes[0].Values))
	blamed := writes[0].Entity.Blamed(pg)
	if among := slices.DeleteFunc(slices.Clone(blamed), func(name string) bool { return !slices.Contains(given, name) }); len(among) == 1 {
		return among[0]
	}
	switch {
	case len(blamed) == 1:
		return blamed[0]
	case pg.Code != "23503" && len(given) == 1:
		return given[0]
	}
	return ""
}

func of(field string) string {
	if field == "" {
		return ""
	}
	return " (" + field + ")"
}

func sqlstate(err error) string {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
