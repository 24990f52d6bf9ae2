package toolcall

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/redact"
)

const defaultPage = 20

// read runs a reading tool as the person.
func (s *Service) read(ctx context.Context, who identity.Actor, t Tool, in input) (*Result, error) {
	result := &Result{OK: true}
	err := pgx.BeginTxFunc(ctx, s.agent, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if t.op == record.Get {
			one, err := s.registry.Get(ctx, tx, who, t.entity, *in.ID)
			if err == nil {
				result.Rows = []Row{rowOf(t.entity, one)}
			}
			return err
		}
		page, err := s.list(ctx, tx, who, t, in)
		if err == nil {
			result.Next = page.Next
			for _, one := range page.Records {
				result.Rows = append(result.Rows, rowOf(t.entity, one))
			}
		}
		return err
	})
	if refusal := gate.RefusalOf(err); refusal != nil {
		return nil, refusal
	} else if err != nil {
		return nil, &gate.Error{Code: gate.Unavailable, Message: "The records could not be read just now. Try again.", Cause: err}
	}
	return result, nil
}

func (s *Service) list(ctx context.Context, tx pgx.Tx, who identity.Actor, t Tool, in input) (*record.Page, error) {
	first, after := defaultPage, ""
	if in.First != nil {
		first = *in.First
	}
	if in.After != nil {
		after = *in.After
	}
	where := []record.Condition{}
	for _, f := range t.entity.Fields { // in the registry's order, so that one question is one statement
		if v, ok := in.Where[f.Name]; ok {
			where = append(where, record.Condition{Field: f.Name, Value: v})
			delete(in.Where, f.Name)
		}
	}
	for name, v := range in.Where { // unknown: refused there, in the words used for any unknown field
		where = append(where, record.Condition{Field: name, Value: v})
	}
	return s.registry.List(ctx, tx, who, t.entity, where, first, after)
}

// shown is a row without secrets. A number by which a record is known stays, whatever it looks like: nothing
// could be proposed for the record without it.
func (r Row) shown(p *redact.Patterns) Row {
	out := Row{Citation: Citation{Entity: r.Entity, RecordID: p.Key(r.RecordID), Label: p.Text(r.Label)}, Values: make(map[string]json.RawMessage, len(r.Values)), keys: r.keys}
	for name, v := range r.Values {
		if text := strings.Trim(string(v), `"`); !slices.Contains(r.keys, name) || p.Key(text) != text {
			v = p.Raw(v)
		}
		out.Values[name] = v
	}
	return out
}

func rowOf(e *record.Entity, r *record.Record) Row {
	return Row{Citation: Citation{Entity: e.Name, RecordID: r.Key, Label: r.Label}, Values: e.Exposed(r), keys: keysOf(e)}
}

// keysOf are the fields that say which record it is, or which other.
func keysOf(e *record.Entity) []string {
	keys := slices.Clone(e.Key)
	for _, f := range e.Fields {
		if f.References != "" {
			keys = append(keys, f.Name)
		}
	}
	return keys
}
