package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Bounds of the patterns of a workspace: every text that is redacted is searched for each.
const (
	maxPatterns = 50
	maxSamples  = 20
	maxSample   = 1000
)

// Pattern is what is to be redacted in a workspace beside what always is.
type Pattern struct {
	Workspace  string // its slug
	Name       string // what is shown in the place of what matches
	Expression string // RE2
	// Matches are texts in which it has to find something, Leaves those in which it must not.
	Matches, Leaves []string
	// By is the e-mail address of whose wish it is; may be left out.
	By string
}

// Samples is what is stored of what a pattern was tried on.
type samples struct {
	Matches []string `json:"matches"`
	Leaves  []string `json:"leaves"`
}

var queries = sqlc.New()

// AddPattern saves a pattern that does on its samples what it is to do. It holds for the next call, on every
// server. What is refused is said in a sentence.
func AddPattern(ctx context.Context, db sqlc.DBTX, p Pattern) error {
	if err := p.check(); err != nil {
		return err
	}
	if n, err := queries.CountPatterns(ctx, db, p.Workspace); err != nil || n >= maxPatterns {
		return errors.Join(err, tooMany(n))
	}
	tried, err := json.Marshal(samples{slices.Concat([]string{}, p.Matches), slices.Concat([]string{}, p.Leaves)})
	if err != nil {
		return err
	}
	params := sqlc.InsertPatternParams{Slug: p.Workspace, ID: uuid.Must(uuid.NewV7()), Name: p.Name, Pattern: p.Expression, Samples: tried}
	if p.By != "" {
		params.CreatedBy = &p.By
	}
	n, err := queries.InsertPattern(ctx, db, params)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.ConstraintName == "redaction_patterns_name" {
		return fmt.Errorf("there is a pattern %q in %s already: remove it first, or choose another name", p.Name, p.Workspace)
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("there is no workspace %.80q", p.Workspace)
	}
	return err
}

func tooMany(n int64) error {
	if n < maxPatterns {
		return nil
	}
	return fmt.Errorf("a workspace has at most %d patterns: join some with |", maxPatterns)
}

// RemovePattern ends a pattern, by its name.
func RemovePattern(ctx context.Context, db sqlc.DBTX, workspace, name string) error {
	n, err := queries.DeletePattern(ctx, db, sqlc.DeletePatternParams{Slug: workspace, Name: name})
	if err == nil && n == 0 {
		err = fmt.Errorf("there is no pattern %.80q in %.80q: `countersign pattern list` prints those there are", name, workspace)
	}
	return err
}

// Patterns are those there are, in one workspace or, where none is named, in all.
func Patterns(ctx context.Context, db sqlc.DBTX, workspace string) ([]*sqlc.ListPatternsRow, error) {
	if workspace == "" {
		return queries.ListPatterns(ctx, db, nil)
	}
	return queries.ListPatterns(ctx, db, &workspace)
}

// check compiles a pattern and tries it.
func (p Pattern) check() error {
	if err := readable(p.Expression); err != nil {
		return err
	}
	compiled, err := redact.Compile([]redact.Named{{Name: p.Name, Expression: p.Expression}})
	if err != nil {
		return err
	}
	if err := tooWide(p.Expression); err != nil {
		return err
	}
	switch {
	case len(p.Matches) == 0:
		return errors.New("give a sample that it has to find something in, so that it is seen to work")
	case len(p.Matches)+len(p.Leaves) > maxSamples:
		return fmt.Errorf("there are more than %d samples", maxSamples)
	}
	return p.try(compiled)
}

// try holds the samples against it as it will be applied: after what is always redacted.
func (p Pattern) try(compiled *redact.Patterns) error {
	for i, sample := range slices.Concat(p.Matches, p.Leaves) {
		always, shown := redact.Text(sample), compiled.Text(sample)
		switch {
		case len(sample) > maxSample:
			return fmt.Errorf("a sample is longer than %d bytes", maxSample)
		case i < len(p.Matches) && shown == always:
			return fmt.Errorf("it finds nothing in the sample %q", sample)
		case i >= len(p.Matches) && shown != always:
			return fmt.Errorf("it would change %q, which it is to leave: %q", sample, shown)
		}
	}
	return nil
}
