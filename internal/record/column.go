package record

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// column is a column of a host's table as the catalog has it.
type column struct {
	name string
	// kind is that of the type under all domains; of the elements where the column holds a list.
	kind kind
	list bool
	// typeName is what a value is cast to, with its modifier, e.g. numeric(10,3) or core.mood.
	typeName  string
	domain    string // its name where the type is a domain
	notNull   bool
	hasValue  bool   // a default, an identity or a generated value
	readOnly  string // why nobody can write it, or empty
	maxLength int    // in characters
	precision int    // of a numeric; 0 where it has none
	scale     int
	labels    []string // of an enum
}

// kind groups the types of PostgreSQL that are read, checked and compared alike.
type kind int

const (
	otherKind kind = iota // read as text, never written
	textKind
	int2Kind
	int4Kind
	int8Kind
	numericKind
	float4Kind
	float8Kind
	booleanKind
	dateKind
	timestampKind
	timestamptzKind
	uuidKind
	enumKind
	jsonKind
	jsonbKind
)

var kinds = map[string]kind{
	"text": textKind, "varchar": textKind, "bpchar": textKind,
	"int2": int2Kind, "int4": int4Kind, "int8": int8Kind, "numeric": numericKind,
	"float4": float4Kind, "float8": float8Kind, "bool": booleanKind,
	"date": dateKind, "timestamp": timestampKind, "timestamptz": timestamptzKind,
	"uuid": uuidKind, "json": jsonKind, "jsonb": jsonbKind,
}

// fieldType is how people and models see the column.
func (c *column) fieldType() Type {
	if c.list {
		return JSON
	}
	switch c.kind {
	case int2Kind, int4Kind, int8Kind:
		return Integer
	case numericKind, float4Kind, float8Kind:
		return Decimal
	case booleanKind:
		return Boolean
	case dateKind:
		return Date
	case timestampKind, timestamptzKind:
		return Timestamp
	case uuidKind:
		return UUID
	case enumKind:
		return Enum
	case jsonKind, jsonbKind:
		return JSON
	default:
		return Text
	}
}

// mayBeKey tells whether a key can be made of the column: its values have one spelling and an order.
func (c *column) mayBeKey() bool {
	switch c.kind {
	case otherKind, float4Kind, float8Kind, jsonKind, jsonbKind:
		return false
	default:
		return !c.list
	}
}

// quote makes an identifier of a name, whatever is in it.
func quote(name ...string) string { return pgx.Identifier(name).Sanitize() }

// of is the column in the row called t.
func (c *column) of(t string) string { return t + "." + quote(c.name) }

// cast turns a parameter that holds text into a value of the column's type.
func (c *column) cast(parameter string) string {
	return "CAST(" + parameter + "::text AS " + c.typeName + ")"
}

// text is an expression's value as text; of a list, a JSON array of the elements' texts.
func (c *column) text(expression string) string {
	if c.list {
		return "pg_catalog.array_to_json(" + expression + "::text[])::text"
	}
	return expression + "::text"
}

// differs is true where the column's value is another than the expression's: 100 and 100.000 are the same,
// and so are two spellings of one JSON, but not A and a, whatever the column's collation.
func (c *column) differs(row, expression string) string {
	a, b := c.of(row), expression
	switch {
	case c.list && c.kind == jsonKind:
		a, b = a+"::text[]", b+"::text[]"
	case c.list:
	case c.kind == jsonKind:
		a, b = a+"::jsonb", b+"::jsonb"
	case c.kind == textKind:
		a, b = a+`::text COLLATE "C"`, b+`::text COLLATE "C"`
	}
	return a + " IS DISTINCT FROM " + b
}

// equals is true where the column, of the row called t, has the parameter's value; an index on the column can serve it.
func (c *column) equals(parameter string) string {
	switch {
	case c.list && (c.kind == jsonKind || c.kind == otherKind):
		return c.of("t") + "::text[] = CAST(" + parameter + "::text AS text[])"
	case c.kind == otherKind:
		return c.of("t") + "::text = " + parameter + "::text"
	case c.kind == jsonKind && !c.list:
		return c.of("t") + "::jsonb = CAST(" + parameter + "::text AS jsonb)"
	}
	return c.of("t") + " = " + c.cast(parameter)
}

// isDomain tells whether a PostgreSQL error about the type schema.name is about this column.
func (c *column) isDomain(schema, name string) bool {
	return c.domain != "" && (c.domain == schema+"."+name || strings.HasSuffix(c.domain, "."+name) && schema == "")
}
