package record

import (
	"encoding/hex"
	"fmt"

	"github.com/countersign/countersign/internal/identity"
)

// Record is one record as a person sees it.
type Record struct {
	Key   string
	Label string // the key where the entity has no label, or an empty one
	// Version is the salted digest of the whole row, hidden columns too; empty without a salt.
	Version string
	// Values are of the exposed fields. Masked ones are among them: whoever shows them looks at Field.Masked.
	Values map[string]Value
	// Labels name the records that references point at, by field; empty where the person may not see them.
	Labels map[string]string
	// Locked is a sentence that says why the record is not offered for change, or empty.
	Locked string
}

// selection is what a statement gives of a record, in the order of its columns.
type selection struct {
	entity     *Entity
	references []*Field
	salt       []byte
	locks      bool
}

// reading selects all of a record that the person may see.
func (e *Entity) reading(as identity.Actor, salt []byte) selection {
	return selection{entity: e, references: e.referencesFor(string(as.Role())), salt: salt, locks: true}
}

// add writes the columns of a row called t.
func (s selection) add(q *query) {
	e := s.entity
	for i, c := range e.key {
		if i > 0 {
			q.add(", ")
		}
		q.add(c.text(c.of("t")))
	}
	q.add(", ", e.labelOf(q, "t"))
	for _, f := range e.Fields {
		q.add(", ", f.column.text(f.column.of("t")))
	}
	for _, f := range s.references {
		q.add(", ", f.labelOf(q, f.column.of("t")))
	}
	if s.locks {
		q.add(", ", e.lockOf(q))
	}
	if s.salt != nil {
		q.add(", ", s.version(q))
	}
}

// version is the digest of the whole row. The settings that its text depends on are pinned.
func (s selection) version(q *query) string {
	salt := q.arg(hex.EncodeToString(s.salt))
	return "pg_catalog.encode(pg_catalog.sha256(pg_catalog.decode(" + salt + ", 'hex') || pg_catalog.convert_to((t.*)::text, 'UTF8')), 'hex')"
}

// read makes a record of a row and gives what is left of the row.
func (s selection) read(r row) (*Record, row, error) {
	e := s.entity
	parts := make([]string, len(e.key))
	for i, c := range e.key {
		if r[i] == nil {
			return nil, nil, fmt.Errorf("%s has a record whose key is NULL", e.Name)
		}
		parts[i] = c.spelling(*r[i])
	}
	r = r[len(e.key):]
	record := &Record{Key: writeKey(parts), Label: text(r[0]), Values: map[string]Value{}, Labels: map[string]string{}}
	if record.Label == "" {
		record.Label = record.Key
	}
	r = r[1:]
	for i, f := range e.Fields {
		record.Values[f.Name] = f.column.output(r[i])
	}
	r = r[len(e.Fields):]
	for i, f := range s.references {
		record.Labels[f.Name] = text(r[i])
	}
	r = r[len(s.references):]
	if s.locks {
		record.Locked, r = e.locked(r[0], record), r[1:]
	}
	if s.salt != nil {
		record.Version, r = text(r[0]), r[1:]
	}
	return record, r, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
