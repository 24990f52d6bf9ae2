package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/identity"
)

// Draft is a change as it would be written: the record as it is, and the values as its columns would keep them.
type Draft struct {
	Record *Record // nil for a create
	To     map[string]Value
	// Changed are the given fields whose value would be another, in the registry's order; of a create all.
	// A masked field always is among them: to compare would tell its value to whoever guesses it.
	Changed []string
	// Labels name what the new values of references point at, FromLabels what the old ones do.
	Labels     map[string]string
	FromLabels map[string]string
}

// Draft reads the record and its version, casts the proposed values to their columns' types and compares,
// all in one statement as the person; nothing is written. The error is an *InputError where a value is not
// one that its column takes, else as for Get. salt is that of the version.
func (r *Registry) Draft(ctx context.Context, tx pgx.Tx, as identity.Actor, c Change, salt []byte) (*Draft, error) {
	e := c.Entity
	given, err := c.accept()
	if err != nil {
		return nil, err
	}
	d := drafting{selection: e.reading(as, salt), given: given, fresh: c.Operation == Create}
	q := &query{}
	if d.fresh && len(given) == 0 {
		return &Draft{To: map[string]Value{}, Labels: map[string]string{}, FromLabels: map[string]string{}}, nil
	}
	q.add("SELECT ")
	if !d.fresh {
		parts, ok := e.readKey(c.Key)
		if !ok {
			return nil, ErrGone
		}
		d.add(q)
		d.compare(q, nil)
		q.add(" FROM ", e.table, " AS t")
		e.where(q, parts)
	} else {
		d.compare(q, nil)
	}
	rows, err := readAs(ctx, tx, as, e, q.statement())
	if err != nil {
		return nil, draftError(e, given, err)
	}
	one, err := single(e, rows)
	if err != nil {
		return nil, err
	}
	return d.read(one)
}

// given is a proposed value, checked: the text to cast; nil for NULL.
type given struct {
	field *Field
	text  *string
}

type drafting struct {
	selection
	given []given
	fresh bool // there is no record yet
}

// compare adds, for each given value, what the column would keep, whether it differs, and what it refers to.
// The values are parameters, or stand in columns.
func (d drafting) compare(q *query, columns []string) {
	comma := ", "
	if d.fresh {
		comma = ""
	}
	for i, g := range d.given {
		c := g.field.column
		cast := c.cast(q.valueOf(g, columns, i))
		q.add(comma, c.text(c.normalised(cast)))
		comma = ", "
		if !d.fresh {
			q.add(", (", c.differs("t", cast), ")::text")
		}
		if slices.Contains(d.references, g.field) {
			q.add(", ", g.field.labelOf(q, cast))
		}
	}
}

// valueOf is where a value stands: in a column, or as a parameter.
func (q *query) valueOf(g given, columns []string, i int) string {
	if columns != nil {
		return columns[i]
	}
	return q.param(g.text)
}

// normalised is how a value of json is kept for a card, which is jsonb; other types are as they are.
func (c *column) normalised(cast string) string {
	if c.kind == jsonKind && !c.list {
		return cast + "::jsonb"
	}
	return cast
}

func (d drafting) read(r row) (*Draft, error) {
	draft := &Draft{To: map[string]Value{}, Labels: map[string]string{}, FromLabels: map[string]string{}}
	if !d.fresh {
		var err error
		if draft.Record, r, err = d.selection.read(r); err != nil {
			return nil, err
		}
		draft.FromLabels = draft.Record.Labels
	}
	for _, g := range d.given {
		draft.To[g.field.Name], r = g.field.column.output(r[0]), r[1:]
		differs := true
		if !d.fresh {
			differs, r = text(r[0]) == "true", r[1:]
		}
		if differs || g.field.Masked {
			draft.Changed = append(draft.Changed, g.field.Name)
		}
		if slices.Contains(d.references, g.field) {
			draft.Labels[g.field.Name], r = text(r[0]), r[1:]
		}
	}
	return draft, nil
}

// draftError makes an *InputError of what a cast refused. PostgreSQL's text may repeat the value, so it is
// left to the log.
func draftError(e *Entity, given []given, err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	isDomain := refused.DataTypeName != "" && strings.HasPrefix(refused.Code, "23")
	if !isDomain && !strings.HasPrefix(refused.Code, "22") {
		return err
	}
	for _, g := range given {
		if len(given) == 1 || isDomain && g.field.column.isDomain(refused.SchemaName, refused.DataTypeName) {
			return refusedValue(g.field, refused)
		}
	}
	return invalid("", "One of the values is not one that its field of %s takes.", e.Name)
}

func refusedValue(f *Field, refused *pgconn.PgError) *InputError {
	if refused.ConstraintName != "" {
		return invalid(f.Name, "%q takes only what the check %q of its type allows.", f.Name, refused.ConstraintName)
	}
	return invalid(f.Name, "%s", fmt.Sprintf("%q %s, and this value does not fit.", f.Name, f.column.limit()))
}
